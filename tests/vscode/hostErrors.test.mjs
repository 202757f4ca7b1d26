// Which errors of the extension host's log make a sitting fail.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errorsIn } from "./hostErrors.mjs";

const EDITOR = "/src/kernel-scientist/target/vscode/host/node_modules/code-server/lib/vscode";
const OURS = "/tmp/kernel-scientist-vscode-x/extensions/gpu-kernel-scientist.kernel-scientist-0.1.0/dist/extension.js:1:2";
const info = "2026-11-30 08:00:00.000 [info] Extension host started";
const error = (message, ...places) => ["2026-11-30 08:00:01.000 [error] " + message, ...places.map((place) => `    at ${place}`)].join("\n");
const counted = (entry) => errorsIn([info, entry, info].join("\n"), EDITOR).length === 1;

test("what the editor's own parts raise among themselves does not count", () => {
  const channel = [`s (file://${EDITOR}/extensions/json-language-features/server/dist/node/jsonServerMain.js:1:2)`, "process.processTicksAndRejections (node:internal/process/task_queues:105:5)"];
  assert.ok(!counted(error("Error: Channel has been closed", ...channel)));
  assert.ok(!counted(error("Error: Cannot find module 'native-watchdog'")));
});

test("what comes from the extension, names it, or tells no place counts", () => {
  const theirs = `t (file://${EDITOR}/out/vs/workbench/api/node/extensionHostProcess.js:1:2)`;
  assert.ok(counted(error("Error: Channel has been closed", theirs, OURS)));
  assert.ok(counted(error("Error: Command kernelScientist.time not found", theirs)));
  assert.ok(counted(error("[gpu-kernel-scientist.kernel-scientist] provider FAILED", theirs)));
  assert.ok(counted(error("Error: Channel has been closed")));
  assert.ok(counted(error("Error: of another extension", theirs, "f (/tmp/elsewhere/extension.js:1:2)")));
});

test("what is no error does not count", () => {
  assert.deepEqual(errorsIn([info, info].join("\n"), EDITOR), []);
});
