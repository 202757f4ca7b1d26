// A population as large as a long run makes, from a seed: the same each time.

import type { Experiment, Member, Population, SpeedRatio, Standing } from "../../src/protocol";

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const CHANGES = ["Pad the rows of `tile` by one word", "Give each thread of `gemm` 4 items along x", "Promise at most 256 threads a block for `gemm`", "Load `A` as float4", "Unroll the loop over `k` by 8", "Keep the accumulator in registers", "Swap the axes of the grid"];

/** A population of `count` versions made from the original. */
export function population(count: number, seed = 1): Population {
  const next = random(seed);
  const members: Member[] = [member(0, null, 0, "original", "original", null, 1e6)];
  const times = [1e6];
  const experiments: Experiment[] = [];
  for (let number = 1; number <= count; number++) {
    // The later a version, the likelier it is a parent, as in a real run.
    const parent = Math.floor(Math.sqrt(next()) * number);
    const generation = 1 + Math.floor((number - 1) / 10);
    const luck = next();
    const [standing, outcome]: [Standing, string] = luck < 0.1 ? ["failed", "does not compile"] : luck < 0.45 ? ["faster", "faster"] : luck < 0.7 ? ["slower", "slower"] : luck < 0.9 ? ["same", "same"] : ["inconclusive", "inconclusive"];
    const gain = standing === "faster" ? 1 + next() * 0.08 : standing === "slower" ? 1 - next() * 0.4 : 1 + (next() - 0.5) * 0.01;
    const speed: SpeedRatio | null = standing === "failed" ? null : { ratio: gain, low: gain * 0.99, high: gain * 1.01 };
    const time = (times[parent] ?? 1e6) / gain;
    times.push(time);
    const title = CHANGES[Math.floor(next() * CHANGES.length)] ?? "";
    members.push(member(number, parent, generation, standing, outcome, speed, time, title));
    experiments.push(experiment(number, parent, generation, standing, outcome, speed, title, next));
  }
  const measured = experiments.filter(({ speed }) => speed !== null).length;
  return {
    run: 1, file: "/kernels/gemm.hip", kernel: "gemm", device: "cpu", device_title: "cpu emulation", device_note: "CPU emulation, not GPU time", provider: "openai:m",
    state: "open", state_words: "running, or interrupted", is_held: true, at_ms: 1_764_473_880_000, spent_s: 7500, spent_usd: 1.25, spent_tokens: 912_000,
    headline: "No confirmed speedup", sentence: "The run did not come to its end, so nothing was confirmed.", winner: null, members, experiments,
    calibration: { measured, within: Math.floor(measured / 2), above: 10, below: measured - Math.floor(measured / 2) - 10, failed: experiments.length - measured, mean_miss_percent: 7.25 },
  };
}

function member(number: number, parent: number | null, generation: number, standing: Standing, outcome: string, speed: SpeedRatio | null, time: number, title = "original"): Member {
  const scales = [["n=1024", 1], ["n=4096", 16.5]] as const;
  const times = scales.map(([shape, factor]) => ({ shape, median_ns: time * factor, low_ns: time * factor * 0.98, high_ns: time * factor * 1.02 }));
  return {
    number, parent, reference: null, generation, title, summary: `${title}: ${outcome}`, steps: [], hypothesis: parent === null ? null : title, standing, outcome, speed,
    verdict: standing === "failed" || standing === "original" || standing === "not_run" ? null : standing, predicted: null, times: standing === "failed" ? [] : times,
  };
}

function experiment(number: number, base: number, generation: number, standing: Standing, outcome: string, speed: SpeedRatio | null, title: string, next: () => number): Experiment {
  const low = Math.round(next() * 10 - 5);
  return {
    id: 1000 + number, generation, kind: "full", base, candidate: number, key: `change-${number}`, title, reason: "Columns of a tile whose rows are a multiple of 32 words all lie in one bank.", source: "AMD CDNA3 ISA reference guide, LDS",
    predicted: { min_percent: low, max_percent: low + Math.round(next() * 40) }, innovation: Math.round(next() * 100), standing, outcome, speed, is_forecast: false, odds: null,
    errors: standing === "failed" ? ["gemm.hip:12:5: error: use of undeclared identifier 'tid'"] : [], report: "", judges_prediction: true, repeats: false, has_text: true, took_s: 4 + next() * 20, usd: next() * 0.004, tokens: Math.round(next() * 9000),
  };
}
