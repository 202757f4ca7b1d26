import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf, meant, why } from "../src/models/conversation";

const MODELS = [
  { id: "copilot/gpt-5", family: "gpt-5", vendor: "copilot", name: "GPT-5" },
  { id: "copilot/gpt-5-mini", family: "gpt-5-mini", vendor: "copilot", name: "GPT-5 mini" },
  { id: "gpt-5", family: "other", vendor: "else", name: "Another" },
];

test("a model is meant by its identifier before its family and its name", () => {
  const ids = (name: string | null): string[] => meant(MODELS, name).map(({ id }) => id);
  assert.deepEqual(ids("gpt-5"), ["gpt-5"]);
  assert.deepEqual(ids("gpt-5-mini"), ["copilot/gpt-5-mini"]);
  assert.deepEqual(ids("GPT-5"), ["copilot/gpt-5"]);
  assert.deepEqual(ids("gone"), []);
  assert.deepEqual(ids(null).length, 3);
});

test("errors keep their kind and what is behind them", () => {
  const error = Object.assign(new Error("failed", { cause: new Error("quota") }), { code: "Blocked" });
  assert.equal(kindOf(error), "Blocked");
  assert.equal(why(error), "failed: quota");
  assert.equal(kindOf(Object.assign(new Error("x"), { code: "Unknown" })), "Other");
  const named = (name: string): Error => Object.assign(new Error("x"), { name });
  assert.equal(kindOf(named("ChatQuotaExceeded")), "OutOfQuota");
  assert.equal(kindOf(named("ChatRateLimited")), "RateLimited");
  assert.equal(kindOf(named("toString")), "Other");
  assert.equal(kindOf("text"), "Other");
  assert.equal(why("text"), "text");
});
