import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { type Found, findProgram, type Surroundings } from "../src/serverProgram";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kernel-scientist-unit-"));
process.on("exit", () => {
  fs.rmSync(folder, { recursive: true });
});

function program(...parts: string[]): string {
  const file = path.join(folder, ...parts);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, "", { mode: 0o755 });
  return file;
}

function find(around: Partial<Surroundings>): Found {
  return findProgram({ setting: "", extension: path.join(folder, "none"), platform: "linux", arch: "x64", path: "", workspace: undefined, ...around });
}

test("a setting comes before the package, and the package before the PATH", () => {
  const named = program("named", "my-server");
  const carried = program("extension", "bin", "linux-x64", "kernel-scientist");
  const onPath = program("path", "kernel-scientist");
  const all = { setting: named, extension: path.join(folder, "extension"), path: `relative:${path.join(folder, "path")}` };
  assert.deepEqual(find(all), { program: named, from: "setting" });
  assert.deepEqual(find({ ...all, setting: "" }), { program: carried, from: "package" });
  assert.deepEqual(find({ ...all, setting: "", arch: "arm64" }), { program: onPath, from: "path" });
});

test("a setting is taken from the workspace's folder, and one that names no program is told", () => {
  program("work", "build", "server");
  fs.writeFileSync(path.join(folder, "work", "text"), "");
  const workspace = path.join(folder, "work");
  assert.deepEqual(find({ setting: "build/server", workspace }), { program: path.join(workspace, "build", "server"), from: "setting" });
  for (const setting of ["text", "build", "gone"]) {
    const found = find({ setting, workspace, path: path.join(folder, "path") });
    assert.ok("problem" in found && found.problem.includes(path.join(workspace, setting)), JSON.stringify(found));
  }
});

test("where nothing is found it is said what was looked for", () => {
  const found = find({ platform: "win32", arch: "arm64" });
  assert.ok("problem" in found && found.problem.includes("win32-arm64") && found.problem.includes("kernel-scientist.exe"), JSON.stringify(found));
});
