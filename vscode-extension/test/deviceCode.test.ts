import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelFile } from "../src/deviceCode";

function check(languageId: string, text: string, scheme = "file"): boolean {
  return isKernelFile({ languageId, uri: { scheme }, getText: () => text });
}

test("HIP files are ours, C++ files where they hold device code", () => {
  assert.ok(check("hip", ""));
  assert.ok(check("cpp", "__global__ void k() {}"));
  assert.ok(check("cuda-cpp", "static __device__ int f();"));
  assert.ok(!check("cpp", "int my__global__x; // global"));
  assert.ok(!check("python", "__global__"));
  assert.ok(!check("hip", "", "git"));
});
