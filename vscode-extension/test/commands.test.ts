import assert from "node:assert/strict";
import { test } from "node:test";
import { sentence } from "../src/commands/evolve";
import { lineOf } from "../src/commands/machineCode";
import { kernelAt } from "../src/commands/target";
import { jobOf } from "../src/jobs";
import { numberFirst } from "../src/views/kernelsView";

test("the kernel at the cursor is the last one that begins above it", () => {
  const kernels = [
    { name: "a", line: 3 },
    { name: "b", line: 20 },
  ];
  assert.deepEqual([0, 3, 19, 20, 99].map((line) => kernelAt(kernels, line)), ["a", "a", "a", "b", "b"]);
  assert.equal(kernelAt([], 5), undefined);
});

test("a kernel's machine code is found by its mangled name", () => {
  const assembly = "\t.text\n_Z5otherPf:\n\ts_endpgm\n_ZN4mine4tileIfLi16EEEvPKT_:\n_Z4tilePf: ; @_Z4tilePf\n";
  assert.equal(lineOf(assembly, "other"), 1);
  assert.equal(lineOf(assembly, "mine::tile"), 3);
  assert.equal(lineOf("plain:\n", "plain"), 0);
  assert.equal(lineOf(assembly, "gone"), 0);
});

test("displays of progress are told by their tokens", () => {
  assert.equal(jobOf("kernel-scientist/job/12"), 12);
  assert.equal(jobOf("kernel-scientist/job/12x"), undefined);
  assert.equal(jobOf(12), undefined);
});

test("a note becomes a sentence", () => {
  assert.equal(sentence("estimate: 3 calls"), "Estimate: 3 calls.");
  assert.equal(sentence("Done."), "Done.");
});

test("a narrow row begins with the number", () => {
  assert.equal(numberFirst("forecast 15.3 us on MI300X · bound by LDS"), "15.3 us forecast on MI300X · bound by LDS");
  for (const other of ["412 us ±0.2% · cpu emulation", "stale: forecast 15.3 us on MI300X"]) assert.equal(numberFirst(other), other);
});
