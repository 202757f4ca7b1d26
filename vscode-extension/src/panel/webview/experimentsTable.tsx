// The table of experiments: hypothesis, predicted range against the gain that came of it, verdict and cost.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Experiment, Population } from "../../protocol";
import type { Picked } from "./app";
import { arranged, gain, gainScale, isWithin, place, type Column, type Filter, type GainScale, type Sorting } from "./experiments";
import { Mark } from "./mark";
import { outcomeHeading, outcomeWord } from "./population";
import { Prose } from "./prose";
import { moved, Scroller } from "./scroller";
import { useWidth } from "./width";
import { dollars, duration, interval, isBounded, percent, plain, plural, range, ratio, signed } from "./words";

/** Below this width a row has two lines. */
const NARROW = 620;
const ROW = 28;
const NARROW_ROW = 62;

interface Props {
  population: Population;
  picked: Picked | undefined;
  pick: (experiment: Experiment, show: boolean) => void;
}

export function ExperimentsTable({ population, picked, pick }: Props) {
  const [sorting, setSorting] = useState<Sorting>({ column: "generation", isDescending: false });
  const [filter, setFilter] = useState<Filter>({ text: "", onlyDecisive: false });
  const section = useRef<HTMLElement>(null);
  const isNarrow = useWidth(section) < NARROW;
  const rows = useMemo(() => arranged(population.experiments, sorting, filter), [population, sorting, filter]);
  const scale = useMemo(() => gainScale(population.experiments), [population]);
  const at = rows.findIndex((row) => (picked?.kind === "experiment" ? row.id === picked.id : picked?.kind === "version" && row.candidate === picked.number));
  const word = outcomeWord(population);
  const onKey = (event: KeyboardEvent, page: number): void => {
    if (event.target !== event.currentTarget) return;
    const row = rows[at];
    if (row !== undefined && (event.key === "Enter" || event.key === " ")) {
      pick(row, true);
    } else {
      const to = rows[moved(event.key, at < 0 ? undefined : at, rows.length, page) ?? -1];
      if (to === undefined) return;
      pick(to, false);
    }
    event.preventDefault();
  };
  const sort = (column: Column): void => {
    setSorting({ column, isDescending: sorting.column === column ? !sorting.isDescending : column === "gain" || column === "cost" || column === "predicted" });
  };
  const heading = (column: Column, text: string) => (
    <div role="columnheader" class={`cell ${column}`} aria-sort={sorting.column !== column ? "none" : sorting.isDescending ? "descending" : "ascending"}>
      <button onClick={() => { sort(column); }}>{text}<span aria-hidden="true">{sorting.column !== column ? "" : sorting.isDescending ? " ▾" : " ▴"}</span></button>
    </div>
  );
  const head = (
    <div class="head" role="row" aria-rowindex={1}>
      {heading("generation", "Gen.")}{heading("title", "Hypothesis")}{heading("predicted", "Predicted")}{heading("gain", outcomeHeading(word))}{heading("outcome", "Verdict")}{heading("cost", "Cost")}
    </div>
  );
  const draw = (index: number) => {
    const row = rows[index];
    return row === undefined ? null : <Row key={row.id} row={row} index={index} scale={scale} isNarrow={isNarrow} isPicked={index === at} pick={() => { pick(row, true); }} />;
  };
  return (
    <section ref={section} aria-labelledby="experiments">
      <h2 id="experiments">Experiments</h2>
      <p class="lead">{calibration(population)} <span class="legend" title="Speeds on a logarithmic scale; the line is the speed of the base"><span class="bar" aria-hidden="true" /> predicted <span class="dot" aria-hidden="true">●</span> {word}, inside <span class="dot outside" aria-hidden="true">◆</span> outside</span></p>
      <div class="tools">
        <input type="search" placeholder="Filter" aria-label="Filter experiments" value={filter.text} onInput={(event) => { setFilter({ ...filter, text: event.currentTarget.value }); }} />
        <label><input type="checkbox" checked={filter.onlyDecisive} onChange={(event) => { setFilter({ ...filter, onlyDecisive: event.currentTarget.checked }); }} /> without searches</label>
        <span class="soft" role="status">{rows.length === population.experiments.length ? plural(rows.length, "experiment") : `${rows.length} of ${plural(population.experiments.length, "experiment")}`}</span>
      </div>
      <Scroller
        class={`table ${isNarrow ? "narrow" : ""}`} count={rows.length} rowHeight={isNarrow ? NARROW_ROW : ROW} active={at < 0 ? undefined : at} row={draw} head={head} onKey={onKey}
        attributes={{ role: "grid", "aria-label": "Experiments", "aria-rowcount": rows.length + 1, "aria-colcount": 6, "aria-readonly": "true", "aria-activedescendant": at < 0 ? undefined : `experiment-${rows[at]?.id ?? 0}` }}
      />
    </section>
  );
}

/** How well predictions held, in the words of the report. */
function calibration(population: Population): string {
  const { measured, within, below, above, mean_miss_percent, failed } = population.calibration;
  const word = outcomeWord(population);
  const failures = failed > 0 ? ` ${failed} failed and ${failed === 1 ? "has" : "have"} no gain.` : "";
  if (measured === 0) return `No prediction could be held against ${{ forecast: "a forecast", measured: "a measurement", found: "anything" }[word]} yet.${failures}`;
  return `${Math.round((within / measured) * 100)}% of ${measured} ${word} gains lay inside their predicted range (${below} below, ${above} above); on average they missed it by ${mean_miss_percent.toFixed(1)} percentage points.${failures}`;
}

interface RowProps {
  row: Experiment;
  index: number;
  scale: GainScale;
  isNarrow: boolean;
  isPicked: boolean;
  pick: () => void;
}

function Row({ row, index, scale, isNarrow, isPicked, pick }: RowProps) {
  const reached = gain(row);
  const kind = row.kind === "full" ? "" : row.kind === "direct" ? "comparison" : row.kind;
  const cost = [duration(row.took_s), dollars(row.usd)].filter((part) => part !== "").join(", ");
  const said = row.speed === null ? "" : `${row.is_forecast ? "forecast " : ""}${ratio(row.speed)}, ${interval(row.speed)}`;
  return (
    <div id={`experiment-${row.id}`} class={`row ${isPicked ? "picked" : ""} ${row.repeats ? "repeats" : ""}`} style={{ height: isNarrow ? NARROW_ROW : ROW }} role="row" aria-rowindex={index + 2} aria-selected={isPicked} onClick={pick}>
      <div role="gridcell" class="cell generation">{row.generation === 0 ? "–" : row.generation}</div>
      <div role="gridcell" class="cell title" title={plain(row.title)}><span class="text"><Prose text={row.title} /></span>{kind !== "" && <span class="chip">{kind}</span>}{row.candidate !== null && row.candidate !== 0 && <span class="soft made">#{row.candidate}</span>}</div>
      <div role="gridcell" class="cell predicted">{row.predicted === null ? "" : range(row.predicted)}</div>
      <div role="gridcell" class="cell gain" title={said}>
        <Bar row={row} scale={scale} />
        <span class="value">{reached === undefined ? "" : <><span class="hidden">{row.is_forecast ? "forecast " : ""}</span>{signed(reached)}</>}</span>
      </div>
      <div role="gridcell" class="cell outcome"><Mark standing={row.standing} /> <span class="text" title={row.outcome}>{row.outcome}</span></div>
      <div role="gridcell" class="cell cost" title={row.tokens > 0 ? `${row.tokens.toLocaleString("en")} tokens` : undefined}>{cost}</div>
    </div>
  );
}

/** The predicted range as a bar, and what came of it as a mark on it. */
function Bar({ row, scale }: { row: Experiment; scale: GainScale }) {
  const reached = gain(row);
  const ends = row.speed === null ? [] : [row.speed.low, row.speed.high].map((end) => place(percent(isBounded(end) ? end : row.speed?.ratio ?? 1), scale));
  const within = isWithin(row);
  if (row.predicted === null && reached === undefined) return <svg class="bar" aria-hidden="true" />;
  const from = row.predicted === null ? 0 : place(row.predicted.min_percent, scale);
  const to = row.predicted === null ? 0 : place(row.predicted.max_percent, scale);
  return (
    <svg class="bar" aria-hidden="true">
      <line class="zero" x1={`${place(0, scale)}%`} x2={`${place(0, scale)}%`} y1="0" y2="100%" />
      {row.predicted !== null && <rect class="predicted" x={`${from}%`} width={`${Math.max(to - from, 0.8)}%`} y="4" height="8" rx="2" />}
      {ends.length === 2 && <line class="ends" x1={`${ends[0] ?? 0}%`} x2={`${ends[1] ?? 0}%`} y1="8" y2="8" />}
      {reached !== undefined && (
        <svg x={`${place(reached, scale)}%`} y="8" overflow="visible">
          {within === false ? <path class="reached outside" d="M-5 0L0 -5L5 0L0 5Z" /> : <circle class={`reached ${within === true ? "inside" : ""}`} r="3.5" />}
        </svg>
      )}
    </svg>
  );
}
