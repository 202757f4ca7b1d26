import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { associations, schemaOf } from "../src/tomlSchemas";

test("each file has its schema, by its whole address", () => {
  assert.equal(schemaOf("file:///home/me/kernels/gemm.bench.toml"), "benchmark.schema.json");
  assert.equal(schemaOf("file:///c%3A/kernels/kernel-scientist.toml"), "kernel-scientist.schema.json");
  for (const other of ["Cargo.toml", "bench.toml", "my-kernel-scientist.toml", "a.bench.toml.bak", "kernel-scientist.toml/x.toml"]) {
    assert.equal(schemaOf(`file:///home/me/${other}`), undefined, other);
  }
});

test("the setting names regular expressions and addresses of schemas that the package has", () => {
  const named = associations((schema) => `file:///kept/schemas/${schema}`);
  assert.deepEqual(Object.values(named), ["file:///kept/schemas/benchmark.schema.json", "file:///kept/schemas/kernel-scientist.schema.json"]);
  for (const schema of Object.values(named)) assert.ok(existsSync(`../schemas/${schema.split("/").at(-1) ?? ""}`), schema);
  // What is neither of JavaScript's nor of Rust's regular expressions alone.
  for (const pattern of Object.keys(named)) assert.match(pattern, /^\^[\w.*\\/-]+\$$/);
});
