// The times of each shape over the generations, as points of a chart.

import type { Member, Population } from "../../protocol";
import { isBounded } from "./words";

/** A version's time at one shape. */
export interface TimingPoint {
  member: Member;
  /** The generation, with a little room between versions of the same one. */
  x: number;
  medianNs: number;
  lowNs: number;
  highNs: number;
}

/** The times of one shape. */
export interface Timing {
  shape: string;
  /** From the first generation to the last. */
  points: TimingPoint[];
  /** The lowest median so far, for each point. */
  best: number[];
  lastGeneration: number;
  /** Upper end of the axis of times, which starts at zero so that heights compare as times do. */
  topNs: number;
  /** Versions whose median lies above that; they are drawn at the upper end. */
  above: number;
}

/** Room that the versions of one generation take of the distance to the next. */
const SPREAD = 0.7;
/** The axis reaches to so many times the first time: one version that is far slower must not press all others to the ground. */
const REACH = 2.2;

/** One chart for each shape that a version was timed at. */
export function timings(population: Population): Timing[] {
  const shapes = new Map<string, TimingPoint[]>();
  for (const member of population.members) {
    for (const { shape, median_ns, low_ns, high_ns } of member.times) {
      const points = shapes.get(shape) ?? [];
      shapes.set(shape, points);
      points.push({ member, x: member.generation, medianNs: median_ns, lowNs: low_ns, highNs: high_ns });
    }
  }
  const lastGeneration = Math.max(0, ...population.members.map((member) => member.generation));
  return [...shapes].map(([shape, points]) => timing(shape, points, lastGeneration));
}

function timing(shape: string, unplaced: TimingPoint[], lastGeneration: number): Timing {
  const points = [...unplaced].sort((a, b) => a.x - b.x || a.member.number - b.member.number);
  const peers = new Map<number, number>();
  for (const { x } of points) peers.set(x, (peers.get(x) ?? 0) + 1);
  const placed = new Map<number, number>();
  for (const point of points) {
    const generation = point.x;
    const place = placed.get(generation) ?? 0;
    placed.set(generation, place + 1);
    point.x = generation + ((place + 0.5) / (peers.get(generation) ?? 1) - 0.5) * SPREAD;
  }
  let lowest = Infinity;
  const best = points.map(({ medianNs }) => (lowest = Math.min(lowest, medianNs)));
  // One sample leaves the upper end open: it must not press all the others to the ground.
  const reach = ({ medianNs, highNs }: TimingPoint): number => (isBounded(highNs / medianNs) ? highNs : medianNs);
  const slowest = points.reduce((top, point) => Math.max(top, reach(point)), 0);
  const topNs = Math.min(slowest, (points[0]?.medianNs ?? slowest) * REACH) * 1.06;
  const above = points.filter(({ medianNs }) => medianNs > topNs).length;
  return { shape, points, best, lastGeneration, topNs, above };
}

/** The chart in a sentence, for those who do not see it. */
export function inWords(timing: Timing, isForecast: boolean, time: (ns: number) => string): string {
  const kind = isForecast ? "Forecast times" : "Times";
  const first = timing.points[0];
  const fastest = timing.points.reduce<TimingPoint | undefined>((best, point) => (best === undefined || point.medianNs < best.medianNs ? point : best), undefined);
  if (first === undefined || fastest === undefined) return `${kind} at ${timing.shape}: none`;
  const start = `${kind} at ${timing.shape}, ${timing.points.length} versions: first ${time(first.medianNs)}`;
  return `${start}, lowest ${time(fastest.medianNs)} by version ${fastest.member.number} of generation ${fastest.member.generation}. Selecting a version in the lineage gives its times.`;
}
