// What keeps a panel up to date.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ProgressLine } from "../../src/panel/progress";
import { Refresher, type Clock } from "../../src/panel/refresher";
import { queryOf, versionOf } from "../../src/panel/versionQuery";
import { canHaveMore, canResume } from "../../src/panel/webview/population";
import { ago, runIcon, runWords } from "../../src/views/runWords";

/** A clock that goes when the test says so. */
class Steered implements Clock {
  private at = 0;
  private waiting: { when: number; run: () => void }[] = [];

  now = (): number => this.at;
  later = (run: () => void, milliseconds: number): (() => void) => {
    const entry = { when: this.at + milliseconds, run };
    this.waiting.push(entry);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== entry);
    };
  };

  async go(milliseconds: number): Promise<void> {
    this.at += milliseconds;
    const due = this.waiting.filter(({ when }) => when <= this.at);
    this.waiting = this.waiting.filter(({ when }) => when > this.at);
    for (const { run } of due) run();
    // What was begun goes on before the next look.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
}

void test("a burst of events is two looks, one at once and one after it", async () => {
  const clock = new Steered();
  let looks = 0;
  const refresher = new Refresher(
    () => {
      looks++;
      return Promise.resolve();
    },
    400,
    clock,
  );
  for (let event = 0; event < 50; event++) refresher.ask();
  await clock.go(0);
  assert.equal(looks, 1);
  for (let event = 0; event < 50; event++) refresher.ask();
  await clock.go(399);
  assert.equal(looks, 1);
  await clock.go(1);
  assert.equal(looks, 2);
  await clock.go(10_000);
  assert.equal(looks, 2);
});

void test("what happens during a look is looked at after it", async () => {
  const clock = new Steered();
  const pending: (() => void)[] = [];
  const refresher = new Refresher(
    () =>
      new Promise((resolve) => {
        pending.push(() => {
          resolve();
        });
      }),
    400,
    clock,
  );
  refresher.ask();
  await clock.go(0);
  refresher.ask();
  refresher.ask();
  assert.equal(pending.length, 1, "never two at once");
  pending[0]?.();
  await clock.go(400);
  await clock.go(400);
  assert.equal(pending.length, 2);
  refresher.dispose();
});

void test("the line of progress says where the run is, and nothing after its end", () => {
  const progress = new ProgressLine();
  assert.equal(progress.line, null);
  const generation = { event: "generation", generation: 2, of: 5, best: 0, best_high: 1, best_low: 1, best_ratio: 1, estimate_s: null, remaining_s: null, spent_s: 1, spent_tokens: 0, spent_usd: 0 } as const;
  assert.equal(progress.hear(generation), true);
  assert.equal(progress.hear({ event: "working", doing: "building 3 drafts", generation: 2 }), false);
  assert.equal(progress.line, "generation 2 of 5 · building 3 drafts");
  assert.equal(progress.hear({ event: "paused", message: "no key" }), true);
});

void test("the address of a version reads back, and nonsense is none", () => {
  for (const of of [{ candidate: 0 }, { experiment: 17 }]) assert.deepEqual(versionOf(queryOf(3, of)), { run: 3, of });
  for (const query of ["", "run=1", "candidate=1", "run=x&candidate=1", "run=1&candidate=-1"]) assert.equal(versionOf(query), undefined, query);
});

void test("a run goes on with more where its budget ended it", () => {
  const ended = { state: "finished", is_held: false, out_of_budget: true } as const;
  assert.deepEqual([canResume(ended), canHaveMore(ended)], [false, true]);
  assert.equal(canHaveMore({ ...ended, is_held: true }), false);
  // Nothing was left to try.
  assert.equal(canHaveMore({ is_held: false }), false);
  assert.deepEqual([canResume({ ...ended, state: "paused" }), canHaveMore({ is_held: false, out_of_budget: false })], [true, false]);
});

void test("a run says what came of it, or how it stands", () => {
  const run = { state: "finished", is_held: false, result: "forecast 2.42x (92%)", is_confirmed: true } as const;
  assert.equal(runWords(run), "forecast 2.42x (92%)");
  assert.equal(runWords({ ...run, state: "open", is_held: true }), "running");
  assert.equal(runWords({ ...run, state: "open" }), "interrupted");
  assert.equal(runWords({ ...run, state: "paused" }), "paused");
  assert.equal(runIcon(run).icon, "pass");
  assert.equal(runIcon({ ...run, is_confirmed: false }).icon, "circle-outline");
  assert.deepEqual([0, 61_000, 3_600_000 * 5, 86_400_000, 86_400_000 * 3].map((age) => ago(0, age)), ["just now", "1 min ago", "5 h ago", "yesterday", "3 days ago"]);
});
