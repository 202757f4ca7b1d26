// What goes wrong or is stopped: an evolution is cancelled, a figure grows stale, the server is killed, restarted or missing, two files are at
// work at once, and settings are changed from outside.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";
import { below, isThere } from "./host.mjs";

let window;
before(async () => {
  const settings = { "kernelScientist.generations": 50, "kernelScientist.forecasts": false, "kernelScientist.device": "cpu" };
  const sample = workspace();
  window = await open({ folder: sample, files: ["transpose.hip"], settings });
  await window.lens("Evolve").waitFor();
});
after(() => goesWell(window));
const see = (name, steps) => test(name, () => window.test(name, steps));

see("a figure is stale when its kernel is changed, and current again when that is undone", async () => {
  await window.begin("Time", "Time transpose_kernel");
  await window.line("cpu emulation").waitFor();
  await window.goTo(10, 9);
  await window.page.keyboard.insertText(";");
  await window.line("stale:").waitFor();
  await window.picture("12 stale");
  await window.undo(async () => (await window.line("stale:").count()) === 0, "the figure is not stale any more");
  await window.line("cpu emulation").waitFor();
});

see("two files are at work at once, and one of them is stopped", async () => {
  const [server] = window.servers();
  await window.begin("Evolve", "Evolve transpose_kernel");
  await window.openFile("other.hip");
  await window.begin("Time", "Time other_kernel");
  await window.over("Time other_kernel");
  await window.line("cpu emulation").waitFor();
  await window.until(() => below(server.pid).length > 0, "the evolution runs something");
  await window.press("Evolve transpose_kernel", "Cancel");
  await window.message("Evolve transpose_kernel").waitFor({ state: "detached" });
  await window.until(() => below(server.pid).length === 0, "nothing of the evolution runs any more");
  await window.command("View: Close Editor");
  await window.lens("Time").waitFor();
});

see("a server that is killed comes back, and that is said", async () => {
  const [before] = window.servers();
  await window.begin("Evolve", "Evolve transpose_kernel");
  await window.until(() => below(before.pid).length > 0, "the evolution runs something");
  const under = below(before.pid);
  process.kill(before.pid, "SIGKILL");
  await window.message("ended unexpectedly (it was ended by SIGKILL) and was started again").waitFor();
  await window.message("Evolve transpose_kernel").waitFor({ state: "detached" });
  await window.picture("13 server came back");
  await window.until(() => !under.some(isThere), "nothing of the evolution runs any more");
  const servers = window.servers();
  assert.equal(servers.length, 1, JSON.stringify(servers));
  assert.notEqual(servers[0].pid, before.pid);
  await window.clearMessages();
  await window.focusText();
  await window.begin("Time", "Time transpose_kernel");
  await window.over("Time transpose_kernel");
});

see("the server can be restarted in the middle of its work", async () => {
  const [before] = window.servers();
  await window.begin("Evolve", "Evolve transpose_kernel");
  await window.until(() => below(before.pid).length > 0, "the evolution runs something");
  const under = below(before.pid);
  await window.command("Kernel Scientist: Restart Server");
  await window.until(() => window.servers().length === 1 && window.servers()[0].pid !== before.pid, "another server runs");
  await window.over("Evolve transpose_kernel");
  assert.ok(![before, ...under].some(isThere));
  await window.lens("Time").waitFor();
  // It was asked for, so nothing has gone wrong.
  assert.equal(await window.message("ended unexpectedly").count(), 0);
});

see("a settings file that is changed from outside counts at once", async () => {
  const model = (name) => window.page.locator(".part.statusbar .statusbar-item", { hasText: name }).first();
  await model("catalog").waitFor();
  const file = path.join(window.host.folder, "kernel-scientist.toml");
  fs.writeFileSync(file, '[scientist]\nprovider = "anthropic"\nmodel = "claude-of-the-test"\n');
  await model("anthropic:claude-of-the-test").waitFor();
  fs.rmSync(file);
  await model("catalog").waitFor();
});

see("a server that cannot be started is told with the way to the setting, once, and comes when the setting is right", async () => {
  await window.clearMessages();
  window.host.set({ "kernelScientist.server.path": "/nowhere/kernel-scientist" });
  await window.message("cannot be started: the setting kernelScientist.server.path names /nowhere/kernel-scientist").waitFor();
  assert.equal(await window.page.locator(".notification-toast", { hasText: "cannot be started" }).count(), 1);
  assert.deepEqual(window.servers(), []);
  await window.pictures("15 no server");
  await window.press("cannot be started", "Open Setting");
  const setting = window.page.locator(".settings-editor .setting-item-contents", { hasText: "Server: Path" });
  await setting.locator("input").fill("");
  await window.until(() => window.servers().length === 1, "the server of the package runs");
  await window.until(async () => {
    await window.page.keyboard.press("Escape");
    return !(await setting.isVisible());
  }, "the settings are closed");
  await window.begin("Time", "Time transpose_kernel");
  await window.over("Time transpose_kernel");
});
