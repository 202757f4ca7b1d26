// From an open kernel to a faster one: a hypothesis of the light bulb, an evolution at one click, and what the user does meanwhile.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";

let window;
before(async () => {
  window = await open({ folder: workspace(), files: ["transpose.hip"], settings: { "kernelScientist.generations": 1 } });
  await window.lens("Evolve").waitFor();
});
after(() => goesWell(window));
const see = (name, steps) => test(name, () => window.test(name, steps));

const isUndone = async () => !(await window.line("__shared__").isVisible());

see("the light bulb lists hypotheses, one is tested and offered, applied and undone", async () => {
  const before = await window.saved("transpose.hip");
  await window.goTo(10, 12);
  const bulb = window.page.locator('.lightBulbWidget, [class*="codicon-gutter-lightbulb"]').first();
  const test = window.page.locator(".action-widget .monaco-list-row", { hasText: "Test this hypothesis: Turn squares" });
  await window.clickUntil(bulb, test);
  await window.picture("5 light bulb");
  await window.chooseAction(test);
  await window.message("Test transpose_kernel").waitFor();
  await window.message("Turn squares of `out` around in LDS: faster").waitFor();
  await window.clean();
  await window.pictures("6 hypothesis tested");
  await window.press("Turn squares of `out`", "Apply");
  await window.line("__shared__").waitFor();
  const applied = await window.saved("transpose.hip");
  assert.match(applied, /__shared__ float/);
  await window.undo(isUndone, "the version is gone");
  assert.equal(await window.saved("transpose.hip"), before);
});

see("the beaker evolves the file, shows the diff in the editor's own view, and applies the best version", async () => {
  const before = await window.saved("transpose.hip");
  await window.beaker();
  await window.page.locator(".notification-toast", { hasText: "generation 1 of 1" }).waitFor();
  await window.pictures("7 evolving");
  await window.message("vs original, confirmed").waitFor();
  await window.lens(/^Time$/).waitFor();
  await window.clean();
  await window.pictures("8 evolved");
  await window.press("vs original, confirmed", "Show Diff");
  await window.page.locator(".monaco-diff-editor .modified .view-line", { hasText: "__shared__" }).first().waitFor();
  await window.picture("9 diff");
  await window.command("View: Close Editor");
  await window.press("vs original, confirmed", "Show Lineage");
  const panel = window.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  await panel.getByText("Turn squares of").first().waitFor();
  await window.clearMessages();
  await window.pictures("10 lineage");
  await window.focusText();
  await window.command("Kernel Scientist: Apply Best Version");
  await window.line("__shared__").waitFor();
  assert.notEqual(await window.saved("transpose.hip"), before);
  await window.undo(isUndone, "the version is gone");
  assert.equal(await window.saved("transpose.hip"), before);
});

see("what is typed during an evolution stays, and the version goes around it", async () => {
  await window.beaker();
  await window.goTo(1);
  await window.page.keyboard.insertText("// typed meanwhile\n");
  await window.message("vs original, confirmed").waitFor();
  await window.press("vs original, confirmed", "Apply");
  await window.line("__shared__").waitFor();
  const both = await window.saved("transpose.hip");
  assert.ok(both.startsWith("// typed meanwhile\n"), both);
  assert.match(both, /__shared__ float/);
  await window.undo(isUndone, "the version is gone");
  await window.undo(async () => !(await window.line("typed meanwhile").isVisible()), "what was typed is gone");
});

see("a version of lines that were changed meanwhile is refused, and nothing is lost", async () => {
  await window.saved("transpose.hip");
  await window.beaker();
  const line = (await window.saved("transpose.hip")).split("\n").findIndex((text) => text.includes("out[col * rows + row]")) + 1;
  await window.goTo(line, 9);
  await window.page.keyboard.insertText("/* mine */ ");
  const mine = await window.saved("transpose.hip");
  await window.message("vs original, confirmed").waitFor();
  await window.press("vs original, confirmed", "Apply");
  await window.message("were changed since").waitFor();
  await window.lens(/^Time$/).waitFor();
  await window.picture("11 refused");
  assert.equal(await window.saved("transpose.hip"), mine);
});
