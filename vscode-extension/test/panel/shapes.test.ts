// What is drawn of a population: the tree, the points of the charts, the rows of the table.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Experiment, Member } from "../../src/protocol";
import { arranged, gainScale, isWithin, place } from "../../src/panel/webview/experiments";
import { indent, treeRows } from "../../src/panel/webview/lineage";
import { lineTo, byNumber, shown } from "../../src/panel/webview/population";
import { inWords, timings } from "../../src/panel/webview/timings";
import { inSight, scrolledTo } from "../../src/panel/webview/virtual";
import { time } from "../../src/panel/webview/words";
import { population } from "./generated";

const large = population(1000);

/** Members by their parents. */
function family(parents: (number | null)[]): Member[] {
  const [sample] = large.members;
  assert.ok(sample !== undefined);
  return parents.map((parent, number) => ({ ...sample, number, parent }));
}

/** The tree as text: `0`, `. 2` and so on. */
function told(parents: (number | null)[], best?: number, collapsed: number[] = []): string[] {
  return treeRows(family(parents), best, new Set(collapsed)).map((row) => `${". ".repeat(row.level)}${row.member.number}${row.isOnLine ? "*" : ""}${row.isCollapsed ? `+${row.descendants}` : ""}`);
}

void test("children stand below their parent, the line to the best first", () => {
  assert.deepEqual(told([null, 0, 0, 1, 2]), ["0", ". 1", ". . 3", ". 2", ". . 4"]);
  assert.deepEqual(told([null, 0, 0, 1, 2], 4), ["0*", ". 2*", ". . 4*", ". 1", ". . 3"]);
  assert.deepEqual(told([null, 0, 0, 1, 3], undefined, [1]), ["0", ". 1+2", ". 2"]);
});

void test("a parent that cannot be one makes a root, never a circle", () => {
  assert.deepEqual(told([null, 2, 1, 9]), ["0", "1", ". 2", "3"]);
  assert.equal(lineTo(2, byNumber(family([null, 2, 1]))).length, 2);
});

void test("lines pass exactly where a later row needs them", () => {
  const rows = treeRows(large.members, shown(large), new Set());
  assert.equal(rows.length, 1001);
  for (const [index, row] of rows.entries()) {
    assert.equal(row.rails.length, Math.max(0, row.level - 1));
    // A line that passes leads on to the next row, or is taken up there.
    for (const [level, passes] of row.rails.entries()) {
      if (!passes) continue;
      const next = rows[index + 1];
      assert.ok(next !== undefined && (next.rails[level] === true || next.level === level + 1), `row ${index}`);
    }
  }
});

void test("a tree of a thousand levels is no deeper than its window", () => {
  const rows = treeRows(family([null, ...Array.from({ length: 999 }, (_, number) => number)]), undefined, new Set());
  assert.equal(rows.at(-1)?.level, 999);
  assert.ok(indent(300, 10) < indent(1200, 10) && indent(300, 10) * 10 <= 90);
});

void test("every timed version is a point of its chart, in its generation", () => {
  const charts = timings(large);
  assert.deepEqual(charts.map(({ shape }) => shape), ["n=1024", "n=4096"]);
  const timed = large.members.filter(({ times }) => times.length > 0).length;
  for (const chart of charts) {
    assert.equal(chart.points.length, timed);
    assert.ok(chart.points.every(({ x, member }) => Math.abs(x - member.generation) < 0.5));
    assert.ok(chart.points.every(({ x }, index) => index === 0 || x >= (chart.points[index - 1]?.x ?? 0)));
    assert.equal(chart.best.at(-1), Math.min(...chart.points.map(({ medianNs }) => medianNs)));
    assert.equal(chart.above, chart.points.filter(({ medianNs }) => medianNs > chart.topNs).length);
  }
});

void test("a chart says in words that it is a forecast", () => {
  const [chart] = timings(large);
  assert.ok(chart !== undefined);
  assert.match(inWords(chart, true, time), /^Forecast times at n=1024, \d+ versions: first 1\.00 ms, lowest /);
  assert.match(inWords(chart, false, time), /^Times at /);
});

void test("rows are sorted, and those without a figure come last in any order", () => {
  const all = { text: "", onlyDecisive: false };
  for (const isDescending of [false, true]) {
    const gains = arranged(large.experiments, { column: "gain", isDescending }, all).map(({ speed }) => speed?.ratio);
    const known = gains.filter((gain) => gain !== undefined);
    assert.equal(gains.length, 1000);
    assert.deepEqual(gains.slice(0, known.length), known);
    assert.deepEqual(known, [...known].sort((a, b) => (isDescending ? b - a : a - b)));
  }
  const found = arranged(large.experiments, { column: "generation", isDescending: false }, { text: "TILE pad", onlyDecisive: false });
  assert.ok(found.length > 0 && found.every(({ title }) => title === "Pad the rows of `tile` by one word"));
  assert.deepEqual(arranged(large.experiments, { column: "generation", isDescending: false }, { text: "#17", onlyDecisive: false }).slice(0, 1).map(({ generation }) => generation > 0), [true]);
});

void test("searches can be left out, and a confirmation comes last", () => {
  const [first] = large.experiments;
  assert.ok(first !== undefined);
  const of = (kind: Experiment["kind"], generation: number): Experiment => ({ ...first, kind, generation });
  const rows = [of("confirmation", 0), of("search", 1), of("full", 2)];
  assert.deepEqual(arranged(rows, { column: "generation", isDescending: false }, { text: "", onlyDecisive: true }).map(({ kind }) => kind), ["full", "confirmation"]);
});

void test("a gain is inside of its range, outside, or not to be judged", () => {
  const [sample] = large.experiments.filter(({ speed }) => speed !== null);
  assert.ok(sample !== undefined);
  const judged = (gain: number, judges = true): boolean | undefined =>
    isWithin({ ...sample, judges_prediction: judges, predicted: { min_percent: 5, max_percent: 20 }, speed: { ratio: 1 + gain / 100, low: 1, high: 2 } });
  assert.deepEqual([judged(10), judged(4), judged(25), judged(10, false)], [true, false, false, undefined]);
});

void test("every gain has its place on the scale, and twice as fast lies as far as half", () => {
  const scale = gainScale(large.experiments);
  for (const value of [-1e9, -90, 0, 5, 1e9]) assert.ok(place(value, scale) >= 0 && place(value, scale) <= 100);
  const even = { low: -Math.LN2, high: Math.LN2 };
  assert.deepEqual([-50, 0, 100].map((value) => Math.round(place(value, even))), [3, 50, 97]);
  assert.ok(Number.isFinite(place(3, gainScale([]))));
});

void test("only rows in sight are drawn, and a row is scrolled to only where it is not", () => {
  assert.deepEqual(inSight(1000, 20, 0, 200), { from: 0, to: 18 });
  assert.deepEqual(inSight(1000, 20, 10_000, 200), { from: 492, to: 518 });
  assert.deepEqual(inSight(0, 20, 0, 200), { from: 0, to: 0 });
  assert.deepEqual(inSight(5, 20, 9_999, 200), { from: 4, to: 5 });
  assert.deepEqual([scrolledTo(2, 20, 0, 200), scrolledTo(20, 20, 0, 200), scrolledTo(2, 20, 100, 200)], [0, 220, 40]);
});
