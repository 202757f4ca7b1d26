// Figures are written as the command line writes them: the cases are those of server/kernel-scientist/src/cli.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dollars, duration, interval, plural, prose, ratio, signed, spread, time } from "../../src/panel/webview/words";

void test("times have three digits and a unit, and round into the next one", () => {
  const cases: [number, string][] = [[0.5, "0.50 ns"], [12.34, "12.3 ns"], [412_345, "412 us"], [1_234_000, "1.23 ms"], [2.5e9, "2.50 s"], [999.7, "1.00 us"], [9.996, "10.0 ns"], [99.97, "100 ns"], [Number.MAX_VALUE, "unknown"], [NaN, "unknown"]];
  for (const [nanoseconds, expected] of cases) assert.equal(time(nanoseconds), expected);
});

void test("a single sample has no spread", () => {
  assert.equal(spread(1e6, 0.99e6, 1.01e6), "1.00 ms ±1.0%");
  assert.equal(spread(1e6, 0, 2e6), "1.00 ms (spread unknown)");
  assert.equal(spread(1e6, 0, Number.MAX_VALUE), "1.00 ms (spread unknown)");
});

void test("gains are written with their sign", () => {
  const cases: [number, string][] = [[12.4, "+12%"], [-3.25, "\u22123.2%"], [0, "0%"], [0.04, "0%"], [5, "+5%"], [-0.04, "0%"], [136.6, "+137%"]];
  for (const [percent, expected] of cases) assert.equal(signed(percent), expected, String(percent));
});

void test("open intervals are said, not printed", () => {
  const cases: [number, number, string][] = [[1, 1.25, "1.00 to 1.25"], [1, Number.MAX_VALUE, "above 1.00"], [0, 1.25, "below 1.25"], [0, Infinity, "unknown"]];
  for (const [low, high, expected] of cases) assert.equal(interval({ ratio: 1.1, low, high }), expected);
  assert.equal(ratio({ ratio: Number.MAX_VALUE, low: 0, high: 0 }), "unknown");
});

void test("durations read well", () => {
  const cases: [number, string][] = [[0.25, "0.2 s"], [42.9, "42 s"], [187, "3 min 07 s"], [7500, "2 h 05 min"], [0.001, "<0.1 s"]];
  for (const [seconds, expected] of cases) assert.equal(duration(seconds), expected);
});

void test("nothing costs nothing", () => {
  assert.deepEqual([dollars(0), dollars(0.0031), dollars(1.255), dollars(NaN)], ["", "$0.0031", "$1.25", ""]);
  assert.deepEqual([plural(1, "shape"), plural(1000, "version")], ["1 shape", "1,000 versions"]);
});

void test("code in prose is set as code, and a lone backtick is none", () => {
  const told = (text: string): string => prose(text).map((part) => (part.isCode ? `<${part.text}>` : part.text)).join("");
  const cases: [string, string][] = [["plain", "plain"], ["pad `tile[16]` by one", "pad <tile[16]> by one"], ["a ` alone", "a ` alone"], ["`a` and `b", "<a> and `b"], ["", ""]];
  for (const [text, expected] of cases) assert.equal(told(text), expected);
});
