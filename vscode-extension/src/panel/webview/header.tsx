// The head of the page: what was worked on, how it stands, what came of it, and what can be done now.

import type { Action, PanelData } from "./messages";
import { Prose } from "./prose";
import { canHaveMore, canResume, stateWord } from "./population";
import { dollars, duration, provider } from "./words";
import type { Population, Run } from "../../protocol";

interface Props {
  data: PanelData;
  progress: string | null;
  act: (action: Action) => void;
  pickRun: (run: number) => void;
  openFile: () => void;
}

export function Header({ data, progress, act, pickRun, openFile }: Props) {
  const { population } = data;
  return (
    <header>
      <div class="heading">
        <h1><button class="link" title={`Open ${data.name}`} onClick={openFile}>{data.name}</button>{population?.kernel != null && <span class="soft"> · {population.kernel}</span>}</h1>
        {data.runs.length > 1 && population !== null && <RunPicker runs={data.runs} chosen={population.run} pick={pickRun} />}
      </div>
      {data.problem !== null && <p class="problem" role="alert">{data.problem}</p>}
      {population !== null && <Standing population={population} progress={progress} act={act} />}
    </header>
  );
}

function RunPicker({ runs, chosen, pick }: { runs: Run[]; chosen: number; pick: (run: number) => void }) {
  const label = (run: Run): string => `run ${run.run}, ${new Date(run.at_ms).toLocaleString()}${run.result === null ? "" : `, ${run.result}`}`;
  return (
    <label class="runs">
      <span class="hidden">Run</span>
      <select value={chosen} onChange={(event) => { pick(Number(event.currentTarget.value)); }}>
        {runs.map((run) => <option key={run.run} value={run.run}>{label(run)}</option>)}
      </select>
    </label>
  );
}

function Standing({ population, progress, act }: { population: Population; progress: string | null; act: (action: Action) => void }) {
  const isRunning = population.state === "open" && population.is_held;
  const isForecast = population.forecast != null;
  const claim = population.winner === null ? "Result" : isForecast ? "Forecast speedup" : "Confirmed speedup";
  const cost = dollars(population.spent_usd);
  const tokens = population.spent_tokens > 0 ? `${population.spent_tokens.toLocaleString("en")} tokens` : "";
  return (
    <>
      <dl class="facts">
        <div><dt>Run</dt><dd>{population.run}, {stateWord(population)}</dd></div>
        <div><dt>Begun</dt><dd>{new Date(population.at_ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</dd></div>
        <div><dt>Device</dt><dd>{population.device_title}{isForecast ? " (forecast)" : ""}</dd></div>
        <div><dt>Hypotheses by</dt><dd>{provider(population.provider)}</dd></div>
        <div><dt>At work</dt><dd>{[duration(population.spent_s), cost, tokens].filter((part) => part !== "").join(", ")}</dd></div>
      </dl>
      <p class="progress" role="status" aria-live="polite">{isRunning ? <><span class="spinner" aria-hidden="true" />{progress ?? "At work"}</> : ""}</p>
      <section class={`claim ${population.winner === null ? "open" : "won"}`} aria-labelledby="claim">
        <div>
          <h2 id="claim">{claim}</h2>
          <p class="headline">{population.headline}</p>
        </div>
        <p class="sentence"><Prose text={isRunning && population.winner === null ? "Nothing is confirmed before the end of the run." : population.sentence} /></p>
        <div class="actions">
          {population.winner !== null && <button class="primary" onClick={() => { act("apply"); }}>Apply best</button>}
          {isRunning && <button onClick={() => { act("stop"); }}>Stop</button>}
          {canResume(population) && <button class="primary" onClick={() => { act("resume"); }}>Resume</button>}
          {canHaveMore(population) && <button title="Go on with as much again as the run began with" onClick={() => { act("more"); }}>Resume with more</button>}
        </div>
      </section>
    </>
  );
}
