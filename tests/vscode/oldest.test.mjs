// The oldest Visual Studio Code that the extension is for: what matters works there too.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";
import { EDITORS } from "./host.mjs";

let window;
before(async () => {
  const settings = { "kernelScientist.generations": 1 };
  window = await open({ editor: EDITORS.oldest, folder: workspace(), files: ["transpose.hip"], settings });
});
after(() => goesWell(window));
const see = (name, steps) => test(name, () => window.test(name, steps));

see("lenses and a forecast are there, and Time shows its progress", async () => {
  await window.line("32 sectors, ideal 2").waitFor();
  await window.begin("Time", "Time transpose_kernel");
  await window.over("Time transpose_kernel");
});

see("an evolution leads to a version that is applied and undone", async () => {
  const before = await window.saved("transpose.hip");
  await window.beaker();
  await window.message("vs original, confirmed").waitFor();
  await window.picture("20 oldest");
  await window.press("vs original, confirmed", "Apply");
  await window.line("__shared__").waitFor();
  assert.notEqual(await window.saved("transpose.hip"), before);
  await window.undo(async () => !(await window.line("__shared__").isVisible()), "the version is gone");
  assert.equal(await window.saved("transpose.hip"), before);
});
