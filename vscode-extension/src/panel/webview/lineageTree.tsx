// The lineage as a tree: each version below the one that it was made from.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Member, Population } from "../../protocol";
import type { Picked } from "./app";
import { indent, treeRows, type TreeRow } from "./lineage";
import { Mark } from "./mark";
import { outcomeWord, type OutcomeWord } from "./population";
import { moved, Scroller } from "./scroller";
import { useWidth } from "./width";
import { interval, plain, plural, ratio } from "./words";

const ROW = 26;

interface Props {
  population: Population;
  best: number | undefined;
  picked: Picked | undefined;
  pick: (member: Member, show: boolean) => void;
}

export function LineageTree({ population, best, picked, pick }: Props) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const [active, setActive] = useState<number>();
  const section = useRef<HTMLElement>(null);
  const width = useWidth(section);
  const rows = useMemo(() => treeRows(population.members, best, collapsed), [population, best, collapsed]);
  const step = indent(width, rows.reduce((deepest, row) => Math.max(deepest, row.level), 0));
  const number = picked?.kind === "version" ? picked.number : active;
  const at = rows.findIndex((row) => row.member.number === number);
  const toggle = (row: TreeRow, close: boolean): void => {
    const next = new Set(collapsed);
    if (close) next.add(row.member.number);
    else next.delete(row.member.number);
    setCollapsed(next);
  };
  const go = (index: number | undefined, show = false): void => {
    const row = index === undefined ? undefined : rows[index];
    if (row === undefined) return;
    setActive(row.member.number);
    pick(row.member, show);
  };
  const onKey = (event: KeyboardEvent, page: number): void => {
    const row = rows[at];
    if (row !== undefined && event.key === "ArrowLeft") {
      if (row.hasChildren && !row.isCollapsed) toggle(row, true);
      else go(rows.findIndex((other) => other.member.number === row.member.parent));
    } else if (row !== undefined && event.key === "ArrowRight") {
      if (row.isCollapsed) toggle(row, false);
      else if (row.hasChildren) go(at + 1);
    } else if (row !== undefined && (event.key === "Enter" || event.key === " ")) {
      go(at, true);
    } else {
      const to = moved(event.key, at < 0 ? undefined : at, rows.length, page);
      if (to === undefined) return;
      go(to);
    }
    event.preventDefault();
  };
  const word = outcomeWord(population);
  const draw = (index: number) => {
    const row = rows[index];
    if (row === undefined) return null;
    return <Row key={row.member.number} row={row} step={step} isPicked={index === at} isBest={row.member.number === best} isWinner={population.winner?.number === row.member.number} word={word} toggle={() => { toggle(row, !row.isCollapsed); }} pick={() => { go(index, true); }} />;
  };
  const versions = population.members.length - 1;
  return (
    <section ref={section} aria-labelledby="lineage">
      <h2 id="lineage">Lineage</h2>
      <p class="lead">{plural(Math.max(0, versions), "version")} of the original. Each ratio is {word === "forecast" ? "of forecast speeds, " : ""}against the version above{population.winner === null ? "" : "; the strong line leads to the winner"}. A click shows the diff.</p>
      <Scroller
        class="tree" count={rows.length} rowHeight={ROW} active={at < 0 ? undefined : at} row={draw} onKey={onKey}
        attributes={{ role: "tree", "aria-label": "Lineage", "aria-activedescendant": at < 0 ? undefined : `version-${rows[at]?.member.number ?? 0}` }}
      />
    </section>
  );
}

interface RowProps {
  row: TreeRow;
  step: number;
  isPicked: boolean;
  isBest: boolean;
  isWinner: boolean;
  word: OutcomeWord;
  toggle: () => void;
  pick: () => void;
}

function Row({ row, step, isPicked, isBest, isWinner, word, toggle, pick }: RowProps) {
  const { member, level } = row;
  const speed = member.speed;
  const figure = speed === null ? member.outcome : `${ratio(speed)} ${member.outcome}`;
  const spoken = [
    `version ${member.number}`,
    isWinner ? "winner" : "",
    member.standing === "original" ? "" : plain(member.title),
    speed === null ? member.outcome : `${word === "forecast" ? "forecast " : ""}${ratio(speed)} (${interval(speed)}) ${member.outcome}`,
    `generation ${member.generation}`,
    row.isCollapsed ? `${plural(row.descendants, "version")} hidden` : "",
  ];
  const x = level * step;
  return (
    <div
      id={`version-${member.number}`} class={`row ${isPicked ? "picked" : ""} ${row.isOnLine ? "line" : ""} ${isBest ? "best" : ""}`} style={{ height: ROW }}
      role="treeitem" aria-level={level + 1} aria-posinset={row.place} aria-setsize={row.siblings} aria-selected={isPicked}
      {...(row.hasChildren ? { "aria-expanded": !row.isCollapsed } : {})} aria-label={spoken.filter((part) => part !== "").join(", ")}
      title={`#${member.number}: ${plain(member.title)}${speed === null ? ` (${member.outcome})` : ` (${word === "forecast" ? "forecast " : ""}${ratio(speed)}, ${interval(speed)}, ${member.outcome})`}`} onClick={pick}
    >
      <svg class="rails" width={x + 30} height={ROW} aria-hidden="true">
        {row.rails.map((passes, index) => passes && <path key={index} d={`M${(index + 0.5) * step + 6} 0V${ROW}`} />)}
        {level > 0 && <path class={row.isOnLine ? "line" : ""} d={`M${(level - 0.5) * step + 6} 0V${ROW / 2}H${x + 8}`} />}
        {level > 0 && !row.isLast && <path d={`M${(level - 0.5) * step + 6} ${ROW / 2}V${ROW}`} />}
        {row.hasChildren && !row.isCollapsed && <path class={row.isOnLine && !isBest ? "line" : ""} d={`M${(level + 0.5) * step + 6} ${ROW / 2 + 7}V${ROW}`} />}
      </svg>
      <span class="node" style={{ left: x + 6 }}><Mark standing={member.standing} /></span>
      <span class="number">#{member.number}</span>
      <span class={`figure ${isBest ? "strong" : ""}`}>{figure}</span>
      <span class="what soft">{member.standing === "original" ? "" : plain(member.title)}</span>
      {isWinner && <span class="chip">winner</span>}
      {row.hasChildren && (
        <button class={`toggle ${row.isCollapsed ? "closed" : ""}`} tabIndex={-1} aria-hidden="true" title={row.isCollapsed ? "Show what was made from it" : "Hide what was made from it"} onClick={(event) => { event.stopPropagation(); toggle(); }}>
          {row.isCollapsed ? `+${row.descendants}` : "\u2212"}
        </button>
      )}
    </div>
  );
}
