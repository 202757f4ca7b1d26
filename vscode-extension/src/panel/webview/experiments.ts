// The rows of the table of experiments: which are shown, and in which order.

import type { Experiment } from "../../protocol";
import { isBounded, percent, plain } from "./words";

/** Columns that can be sorted by. */
export type Column = "generation" | "title" | "predicted" | "gain" | "outcome" | "cost";

/** An order. */
export interface Sorting {
  column: Column;
  isDescending: boolean;
}

/** What is shown. */
export interface Filter {
  /** Words that a row must have. */
  text: string;
  /** Searches and repeats are left out. */
  onlyDecisive: boolean;
}

/** A gain in percent of speed; `undefined` where there is none. */
export function gain(experiment: Experiment): number | undefined {
  return experiment.speed === null || !isBounded(experiment.speed.ratio) ? undefined : percent(experiment.speed.ratio);
}

/** Whether a gain lies inside of its predicted range; `undefined` where there is nothing to hold against each other. */
export function isWithin(experiment: Experiment): boolean | undefined {
  const reached = gain(experiment);
  if (reached === undefined || experiment.predicted === null || !experiment.judges_prediction) return undefined;
  return experiment.predicted.min_percent <= reached && reached <= experiment.predicted.max_percent;
}

const OUTCOMES = ["original", "faster", "same", "inconclusive", "slower", "failed", "not_run"];

/** What a row is sorted by; rows without come last in any order. */
function sortKey(experiment: Experiment, column: Column): number | string | undefined {
  switch (column) {
    case "generation":
      // The confirmation belongs to no generation and comes after all.
      return experiment.generation === 0 ? Infinity : experiment.generation;
    case "title":
      return plain(experiment.title).toLowerCase();
    case "predicted":
      return experiment.predicted?.max_percent;
    case "gain":
      return gain(experiment);
    case "outcome":
      return OUTCOMES.indexOf(experiment.standing);
    case "cost":
      return experiment.took_s;
  }
}

/** The experiments to show, in order. */
export function arranged(experiments: readonly Experiment[], sorting: Sorting, filter: Filter): Experiment[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const has = (experiment: Experiment): boolean => {
    const text = `${plain(experiment.title)} ${experiment.outcome} ${experiment.key} #${experiment.base} ${experiment.candidate === null ? "" : `#${experiment.candidate}`}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const kept = experiments.filter((experiment) => (!filter.onlyDecisive || (experiment.kind !== "search" && experiment.standing !== "not_run")) && has(experiment));
  const sign = sorting.isDescending ? -1 : 1;
  return kept
    .map((experiment, index) => ({ experiment, index, key: sortKey(experiment, sorting.column) }))
    .sort((a, b) => {
      if (a.key === undefined || b.key === undefined) return Number(a.key === undefined) - Number(b.key === undefined) || a.index - b.index;
      if (a.key === b.key) return a.index - b.index;
      return (a.key < b.key ? -1 : 1) * sign;
    })
    .map(({ experiment }) => experiment);
}

/** From gains to places on a line, in percent of its length. Speeds are on a logarithmic scale: twice and half as fast lie equally far. */
export interface GainScale {
  /** Logarithms of the speeds at its ends. */
  low: number;
  high: number;
}

/** Gains below are drawn as if they were this: what is so slow needs no more room. */
const SLOWEST_PERCENT = -90;

/** A gain in percent as it is drawn. */
function logarithm(gain: number): number {
  return Math.log(1 + Math.max(gain, SLOWEST_PERCENT) / 100);
}

/** A scale that all predictions and gains lie on; of many, a few that lie far out stand at its ends. */
export function gainScale(experiments: readonly Experiment[]): GainScale {
  const values = experiments
    .flatMap((experiment) => [experiment.predicted?.min_percent, experiment.predicted?.max_percent, gain(experiment)])
    .filter((value) => value !== undefined)
    .map(logarithm)
    .sort((a, b) => a - b);
  const left = values.length > 200 ? 0.02 : 0;
  const at = (share: number): number => values[Math.round(share * (values.length - 1))] ?? 0;
  const low = Math.min(0, at(left));
  const high = Math.max(0.01, at(1 - left));
  return { low, high };
}

/** Room at both ends of a scale, in percent of its length: a mark there is as wide as elsewhere. */
const MARGIN = 3;

/** Where a value is on the scale, in percent of its length; what lies outside stands near an end. */
export function place(value: number, { low, high }: GainScale): number {
  const share = Math.min(1, Math.max(0, (logarithm(value) - low) / (high - low)));
  return MARGIN + share * (100 - 2 * MARGIN);
}
