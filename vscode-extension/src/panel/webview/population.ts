// What follows from a population: who leads to whom, which version is the best, what is a forecast.

import type { Member, Population } from "../../protocol";

/** A word for the times and gains of a run. */
export type OutcomeWord = "forecast" | "measured" | "found";

/** The word for a run: a forecast is never called a measurement, and before there is anything nobody knows which it will be. */
export function outcomeWord(population: Population): OutcomeWord {
  if (population.forecast != null) return "forecast";
  return population.experiments.some(({ speed }) => speed !== null) ? "measured" : "found";
}

/** The same as the heading of a column. */
export function outcomeHeading(word: OutcomeWord): string {
  return word === "forecast" ? "Forecast" : word === "measured" ? "Measured" : "Found";
}

/** The versions by their numbers. */
export function byNumber(members: readonly Member[]): Map<number, Member> {
  return new Map(members.map((member) => [member.number, member]));
}

/** The parent of a version, if it is one: parents have smaller numbers, any other would lead in a circle. */
export function parentOf(member: Member, all: ReadonlyMap<number, Member>): Member | undefined {
  if (member.parent === null || member.parent >= member.number) return undefined;
  return all.get(member.parent);
}

/** The versions from `number` back to the original, both included. */
export function lineTo(number: number, all: ReadonlyMap<number, Member>): Member[] {
  const line: Member[] = [];
  for (let next = all.get(number); next !== undefined; next = parentOf(next, all)) line.push(next);
  return line;
}

/** The version whose line stands out: the winner, else the timed one that is fastest by the ratios of its line. */
export function shown(population: Population): number | undefined {
  if (population.winner !== null) return population.winner.number ?? undefined;
  const all = byNumber(population.members);
  const speeds = new Map<number, number>();
  let best: { number: number; speed: number } | undefined;
  // In order of the numbers parents come first.
  for (const member of population.members) {
    const parent = parentOf(member, all);
    const speed = (parent === undefined ? 1 : (speeds.get(parent.number) ?? 1)) * (member.speed?.ratio ?? 1);
    speeds.set(member.number, speed);
    if (member.speed !== null && speed > (best?.speed ?? 1)) best = { number: member.number, speed };
  }
  return best?.number;
}

/** How a run stands, in one word for a badge. */
export function stateWord({ state, is_held }: Pick<Population, "state" | "is_held">): string {
  if (state === "open") return is_held ? "running" : "interrupted";
  return state;
}

/** Whether a run's budget ended it, so that it can go on with more. */
export function canHaveMore({ out_of_budget, is_held }: Pick<Population, "out_of_budget" | "is_held">): boolean {
  return out_of_budget === true && !is_held;
}

/** Whether a run can go on and nobody is at it. */
export function canResume({ state, is_held }: Pick<Population, "state" | "is_held">): boolean {
  return state !== "finished" && !is_held;
}
