// A folder that is not trusted at first, then each command of the palette: what it shows, and that nothing else has its keys.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";
import { below } from "./host.mjs";

const GUARDED = (condition) => `#include <hip/hip_runtime.h>

__global__ void scale(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (${condition}) out[i] = 2.0f * in[i];
}
`;
const SHIFT = `
__global__ void shift(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1.0f;
}
`;

let window;
before(async () => {
  const texts = { "faulty.hip": GUARDED("i <= n"), "two.hip": GUARDED("i < n") + SHIFT };
  window = await open({ folder: workspace(texts), files: ["transpose.hip"], trusts: false, settings: { "kernelScientist.generations": 50 } });
});
after(() => goesWell(window));
const see = (name, steps) => test(name, () => window.test(name, steps));
const statusBar = (text) => window.page.locator(".part.statusbar .statusbar-item", { hasText: text }).first();

see("in a folder that is not trusted kernels are shown, and nothing is built, run or sent", async () => {
  await window.begin("Time", "not trusted, so nothing in it is built, run or sent to a model");
  await window.picture("14 not trusted");
  const [server] = window.servers();
  assert.deepEqual(below(server.pid), []);
  assert.equal(await window.line("forecast").count(), 0);
  // Once the user trusts it, all is there without a restart.
  await window.press("not trusted", "Manage Workspace Trust");
  await window.page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).first().click();
  await window.command("View: Close Editor");
  await window.line("forecast").waitFor();
  assert.deepEqual(window.servers().map(({ pid }) => pid), [server.pid]);
});

see("the doctor says what is usable here", async () => {
  await window.command("Kernel Scientist: Doctor: What Is Usable Here");
  await window.page.locator(".tab.active", { hasText: "doctor.txt" }).waitFor();
  await window.line(/HIP.on.the.CPU.*built/).waitFor();
  await window.picture("21 doctor");
  await window.command("View: Close Editor");
});

see("another device is picked, and times are of that one", async () => {
  await window.focusText();
  await window.command("Kernel Scientist: Pick Device");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "HIP on the CPU: emulation, not GPU time" }).first().waitFor();
  await window.picture("22 devices");
  await window.pick("cpu");
  await statusBar("cpu emulation").waitFor();
  await window.begin("Time", "Time transpose_kernel");
  await window.over("Time transpose_kernel");
  await window.line("cpu emulation").waitFor();
  // The item of the status bar is a way there, too.
  await window.clickUntil(statusBar("cpu emulation"), window.page.locator(".quick-input-widget", { hasText: "Device that times are for" }));
  await window.pick("mi300x");
  await statusBar("MI300X (forecast)").waitFor();
});

see("all kernels of a file are timed at once", async () => {
  await window.openFile("two.hip");
  await window.lens("Time").waitFor();
  const both = Promise.all(["Time scale", "Time shift"].map((job) => window.message(job).waitFor()));
  await window.command("Kernel Scientist: Time All Kernels of the File");
  await both;
  for (const job of ["Time scale", "Time shift"]) await window.over(job);
  await window.line(/scale.*forecast/).waitFor();
  await window.line(/shift.*forecast/).waitFor();
  await window.picture("23 all timed");
});

see("a check names the accesses that are out of bounds", async () => {
  await window.openFile("faulty.hip");
  await window.lens("Time").waitFor();
  await window.command("Kernel Scientist: Check for Races and Out-of-Bounds");
  // The first time the runtimes that find them are built.
  await window.message("faults found").waitFor({ timeout: 300_000 });
  await window.editor.locator(".squiggly-warning").first().waitFor();
  await window.picture("24 checked");
  await window.clearMessages();
});

see("a missing benchmark is offered, made and shown before anything begins", async () => {
  await window.openFile("two.hip");
  const offer = window.message("There is no benchmark file beside this source");
  await window.beaker(offer);
  assert.ok(!fs.existsSync(path.join(window.host.folder, "two.bench.toml")));
  await window.picture("25 no benchmark");
  await window.press("There is no benchmark file", "Create and Evolve");
  await window.message("Evolve two.hip").waitFor();
  await window.page.locator(".tab", { hasText: "two.bench.toml" }).waitFor();
  assert.match(fs.readFileSync(path.join(window.host.folder, "two.bench.toml"), "utf8"), /\[\[argument\]\]/);
  await window.picture("26 benchmark made");
  await window.press("Evolve two.hip", "Cancel");
  await window.over("Evolve two.hip");
});

for (const [system, agent] of [["Linux", undefined], ["Windows", "Windows NT 10.0; Win64; x64"], ["macOS", "Macintosh; Intel Mac OS X 10_15_7"]]) {
  see(`no key of ${system} is taken away from the editor`, async () => {
    const bindings = await window.keymap(agent);
    assert.ok(bindings.length > 500, `${bindings.length}`);
    const begun = bindings.filter(({ key }) => /^ctrl\+alt\+k\b/.test(key)).map(({ key, command }) => `${key} ${command}`);
    assert.deepEqual(begun.sort(), ["ctrl+alt+k e kernelScientist.evolve", "ctrl+alt+k t kernelScientist.time"]);
  });
}
