// The times over the generations, one chart for each shape.

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Member, Population } from "../../protocol";
import type { Picked } from "./app";
import { TimingChart } from "./timingChart";
import { Mark } from "./mark";
import { inWords, timings, type Timing } from "./timings";
import { time } from "./words";

interface Props {
  population: Population;
  best: number | undefined;
  picked: Picked | undefined;
  pick: (member: Member) => void;
}

export function Charts({ population, best, picked, pick }: Props) {
  const all = useMemo(() => timings(population), [population]);
  if (all.length === 0) return null;
  const isForecast = population.forecast != null;
  const chosen = picked?.kind === "version" ? picked.number : population.experiments.find((row) => picked?.kind === "experiment" && row.id === picked.id)?.candidate ?? undefined;
  return (
    <section aria-labelledby="timings">
      <h2 id="timings">{isForecast ? "Forecast time" : "Time"} by generation</h2>
      <p class="lead">
        {isForecast ? "Forecast times with what nine of ten validated times lay within; nothing was timed on the device." : "Median times with their 95% intervals."} The stair is the best so far.
      </p>
      <p class="legend marks">
        <span><Mark standing="original" /> original</span><span><Mark standing="faster" /> faster than its parent</span><span><Mark standing="slower" /> slower</span><span><Mark standing="same" /> same</span><span><Mark standing="inconclusive" /> inconclusive</span>
      </p>
      <div class="charts">{all.map((timing) => <Chart key={timing.shape} timing={timing} isForecast={isForecast} best={best} chosen={chosen} pick={pick} />)}</div>
    </section>
  );
}

function Chart({ timing, isForecast, best, chosen, pick }: { timing: Timing; isForecast: boolean; best: number | undefined; chosen: number | undefined; pick: (member: Member) => void }) {
  const at = useRef<HTMLDivElement>(null);
  const chart = useRef<TimingChart>();
  const pickNow = useRef(pick);
  pickNow.current = pick;
  useEffect(() => {
    if (at.current === null) return undefined;
    const made = new TimingChart(at.current, isForecast, (member) => { pickNow.current(member); });
    chart.current = made;
    return () => { made.destroy(); };
  }, []);
  useEffect(() => { chart.current?.show(timing, best, chosen); }, [timing, best, chosen]);
  return (
    <figure>
      <figcaption>{timing.shape}{timing.above > 0 && <span class="soft"> · {timing.above} slower, at the upper edge</span>}</figcaption>
      <div class="chart" ref={at} role="img" aria-label={inWords(timing, isForecast, time)} />
    </figure>
  );
}
