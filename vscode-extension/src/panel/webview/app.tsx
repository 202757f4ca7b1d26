// The whole page.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Details } from "./details";
import { ExperimentsTable } from "./experimentsTable";
import { Header } from "./header";
import { LineageTree } from "./lineageTree";
import type { Action, FromPage, PanelData, ToPage } from "./messages";
import { shown } from "./population";
import { Charts } from "./charts";
import type { Experiment, Member, VersionOf } from "../../protocol";

/** What the user has picked. */
export type Picked = { kind: "version"; number: number } | { kind: "experiment"; id: number };

/** Ways to the extension. */
export type Post = (message: FromPage) => void;

export function App({ post, connect }: { post: Post; connect: (listener: (message: ToPage) => void) => void }) {
  const [data, setData] = useState<PanelData>();
  const [progress, setProgress] = useState<string | null>(null);
  useEffect(() => {
    connect((message) => {
      if (message.type === "show") setData(message.data);
      else setProgress(message.line);
    });
  }, []);
  const act = (action: Action): void => {
    post({ type: "do", action });
  };
  if (data === undefined) return <p class="empty" role="status">Loading…</p>;
  const { population } = data;
  const head = <Header data={data} progress={progress} act={act} pickRun={(run) => { post({ type: "run", run }); }} openFile={() => { post({ type: "open" }); }} />;
  if (population !== null) return <Run key={population.run} head={head} population={population} post={post} />;
  return (
    <div class="page">
      {head}
      <div class="empty">
        <p>No evolution of this file is on record yet.</p>
        <button class="primary" onClick={() => { act("evolve"); }}>Evolve</button>
      </div>
    </div>
  );
}

function Run({ head, population, post }: { head: ComponentChildren; population: NonNullable<PanelData["population"]>; post: Post }) {
  const [picked, setPicked] = useState<Picked>();
  const best = useMemo(() => shown(population), [population]);
  const diff = (of: VersionOf, against: number, title: string): void => {
    post({ type: "diff", run: population.run, of, against, title });
  };
  const diffOfMember = (member: Member, against: number): void => {
    diff({ candidate: member.number }, against, `#${member.number} against #${against}`);
  };
  const diffOfExperiment = (experiment: Experiment): void => {
    if (experiment.has_text) diff({ experiment: experiment.id }, experiment.base, `${experiment.candidate === null ? "draft" : `#${experiment.candidate}`} against #${experiment.base}`);
  };
  const pickMember = (member: Member, show: boolean): void => {
    setPicked({ kind: "version", number: member.number });
    if (show && member.parent !== null) diffOfMember(member, member.parent);
  };
  const pickExperiment = (experiment: Experiment, show: boolean): void => {
    setPicked({ kind: "experiment", id: experiment.id });
    if (show) diffOfExperiment(experiment);
  };
  return (
    <>
      <div class="page">
        {head}
        <main>
          <Charts population={population} best={best} picked={picked} pick={(member) => { pickMember(member, false); }} />
          <LineageTree population={population} best={best} picked={picked} pick={pickMember} />
          <ExperimentsTable population={population} picked={picked} pick={pickExperiment} />
        </main>
      </div>
      <Details population={population} picked={picked} diffOfMember={diffOfMember} diffOfExperiment={diffOfExperiment} close={() => { setPicked(undefined); }} />
    </>
  );
}
