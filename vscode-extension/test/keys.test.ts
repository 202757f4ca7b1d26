import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KEYED_PROVIDERS, keyedProvider, wrongWithKey } from "../src/keys/providers";

test("a key that could not be sent is told when it is typed", () => {
  for (const key of ["sk-ant-api03-AbC_123", "  sk-1\n", ""]) assert.equal(wrongWithKey(key), undefined, key);
  for (const key of ["sk 1", "export KEY=sk 1", "sk-–1"]) assert.notEqual(wrongWithKey(key), undefined, key);
});

test("providers have the names that settings begin with", () => {
  assert.equal(keyedProvider("anthropic")?.title, "Anthropic");
  assert.equal(keyedProvider("editor"), undefined);
});

test("what stands as an example of a model has a price", () => {
  const prices = readFileSync("../server/llm/prices.toml", "utf8");
  for (const { example } of KEYED_PROVIDERS) assert.ok(prices.includes(`model = "${example}"`), example);
});
