// What goes wrong or is stopped: an evolution is cancelled, a figure grows stale, the server is killed, two files are at work at once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";
import { below } from "./host.mjs";

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
  process.kill(before.pid, "SIGKILL");
  await window.message("ended unexpectedly (it was ended by SIGKILL) and was started again").waitFor();
  await window.message("Evolve transpose_kernel").waitFor({ state: "detached" });
  await window.picture("13 server came back");
  const servers = window.servers();
  assert.equal(servers.length, 1, JSON.stringify(servers));
  assert.notEqual(servers[0].pid, before.pid);
  await window.clearMessages();
  await window.focusText();
  await window.begin("Time", "Time transpose_kernel");
  await window.over("Time transpose_kernel");
});

see("the server can be restarted", async () => {
  const [before] = window.servers();
  await window.command("Kernel Scientist: Restart Server");
  await window.until(() => window.servers().length === 1 && window.servers()[0].pid !== before.pid, "another server runs");
  await window.lens("Time").waitFor();
});
