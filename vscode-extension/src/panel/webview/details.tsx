// What is known of the version or the experiment that is picked.

import type { Experiment, Member, Population } from "../../protocol";
import type { Picked } from "./app";
import { Mark } from "./mark";
import { outcomeHeading, outcomeWord, type OutcomeWord } from "./population";
import { Prose } from "./prose";
import { dollars, duration, interval, range, ratio, signed, spread, time } from "./words";
import { gain } from "./experiments";

interface Props {
  population: Population;
  picked: Picked | undefined;
  diffOfMember: (member: Member, against: number) => void;
  diffOfExperiment: (experiment: Experiment) => void;
  close: () => void;
}

export function Details({ population, picked, diffOfMember, diffOfExperiment, close }: Props) {
  if (picked === undefined) return null;
  const member = picked.kind === "version" ? population.members.find(({ number }) => number === picked.number) : undefined;
  const experiment =
    picked.kind === "experiment" ? population.experiments.find(({ id }) => id === picked.id) : population.experiments.find(({ candidate }) => candidate === picked.number);
  const made = member ?? (experiment?.candidate == null ? undefined : population.members.find(({ number }) => number === experiment.candidate));
  const title = member?.title ?? experiment?.title;
  if (title === undefined) return null;
  return (
    <aside class="details" aria-label="Details" onKeyDown={(event) => { if (event.key === "Escape") close(); }}>
      <div class="bar">
        <h3>{made !== undefined && <span class="number">#{made.number}</span>} <Prose text={title} /></h3>
        <button class="icon" aria-label="Close details" title="Close" onClick={close}>×</button>
      </div>
      <div class="body">
        {experiment !== undefined && <Outcome experiment={experiment} word={outcomeWord(population)} />}
        {made !== undefined && made.times.length > 0 && <Times member={made} isForecast={population.forecast != null} />}
        {experiment?.reason !== undefined && experiment.reason !== "" && <p><Prose text={experiment.reason} />{experiment.source !== "" && <span class="soft"> Source: {experiment.source}</span>}</p>}
        {experiment !== undefined && experiment.report !== "" && <p class="soft"><Prose text={experiment.report} /></p>}
        {experiment !== undefined && experiment.errors.length > 0 && <pre>{experiment.errors.join("\n")}</pre>}
        <div class="actions">
          {made?.parent != null && <button onClick={() => { diffOfMember(made, made.parent ?? 0); }}>Diff against #{made.parent}</button>}
          {made !== undefined && made.number !== 0 && made.parent !== 0 && <button onClick={() => { diffOfMember(made, 0); }}>Diff against the original</button>}
          {made === undefined && experiment?.has_text === true && <button onClick={() => { diffOfExperiment(experiment); }}>Diff against #{experiment.base}</button>}
        </div>
      </div>
    </aside>
  );
}

function Outcome({ experiment, word }: { experiment: Experiment; word: OutcomeWord }) {
  const reached = gain(experiment);
  const odds = experiment.odds;
  return (
    <dl class="facts">
      <div><dt>Verdict</dt><dd><Mark standing={experiment.standing} /> {experiment.outcome}</dd></div>
      {experiment.predicted !== null && <div><dt>Predicted</dt><dd>{range(experiment.predicted)}</dd></div>}
      {experiment.speed !== null && reached !== undefined && (
        <div><dt>{outcomeHeading(word)}</dt><dd>{signed(reached)}, {ratio(experiment.speed)} <span class="soft">({interval(experiment.speed)})</span></dd></div>
      )}
      {odds != null && <div><dt>Ordered right</dt><dd>{Math.floor(odds.share * 100)}% of pairs this far apart</dd></div>}
      {experiment.innovation !== null && experiment.predicted !== null && <div><dt>Innovation</dt><dd>{experiment.innovation}</dd></div>}
      <div><dt>Cost</dt><dd>{[duration(experiment.took_s), dollars(experiment.usd), experiment.tokens > 0 ? `${experiment.tokens.toLocaleString("en")} tokens` : ""].filter((part) => part !== "").join(", ")}</dd></div>
    </dl>
  );
}

function Times({ member, isForecast }: { member: Member; isForecast: boolean }) {
  return (
    <table class="times">
      <caption>{isForecast ? "Forecast times, with what nine of ten validated times lay within" : "Median times with their 95% intervals"}</caption>
      <tbody>
        {member.times.map(({ shape, median_ns, low_ns, high_ns }) => (
          <tr key={shape}>
            <th scope="row">{shape}</th>
            <td>{isForecast ? `forecast ${time(median_ns)}` : spread(median_ns, low_ns, high_ns)}</td>
            <td class="soft">{time(low_ns)} to {time(high_ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
