// From an open kernel to a faster one: lenses and hints, Time and its history, machine code, a hypothesis of the light bulb, an evolution at
// one click, and what the user does meanwhile.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";

let window;
before(async () => {
  window = await open({ folder: workspace(), files: ["transpose.hip"], settings: { "kernelScientist.generations": 1 } });
});
after(() => goesWell(window));
const see = (name, steps) => test(name, () => window.test(name, steps));

const isUndone = async () => !(await window.line("__shared__").isVisible());

see("lenses stand over the kernel, and a forecast comes by itself", async () => {
  for (const title of ["Time", "Suggest", "Evolve"]) await window.lens(title).waitFor();
  await window.line(/forecast.15\.3.us.on.MI300X/).waitFor();
  await window.line("32 sectors, ideal 2").waitFor();
  await window.pictures("1 opened");
});

see("one server runs, that of the package", async () => {
  const servers = window.servers();
  assert.equal(servers.length, 1, JSON.stringify(servers));
  assert.match(servers[0].line, /extensions\/.*\/bin\/linux-x64\/kernel-scientist lsp --stdio/);
  const activated = /Activated in (\d+) ms/.exec(window.host.logs("Kernel Scientist"));
  console.log(`# activation: ${activated[1]} ms`);
});

see("Time shows its progress and leaves its figure in the history", async () => {
  await window.begin("Time", "Time transpose_kernel");
  await window.picture("2 timing");
  await window.over("Time transpose_kernel");
  const look = async (name) => {
    const hover = window.page.locator(".monaco-hover", { hasText: "rows=1024 cols=1024" }).first();
    await window.until(async () => {
      await window.goTo(6, 20);
      await window.command("Show or Focus Hover");
      return hover.waitFor({ timeout: 10_000 }).then(() => true, () => false);
    }, "the hover");
    await window.isDrawn(hover);
    // By the wheel: what scrolls an element into view moves the editor around it, too.
    const table = hover.locator("table", { hasText: "hypothesis" });
    const { x, y, width } = await hover.boundingBox();
    await window.page.mouse.move(x + width / 2, y + 20);
    const isInSight = async () => (await table.boundingBox()).y < y + (await hover.boundingBox()).height;
    await window.until(async () => {
      await window.page.mouse.wheel(0, 100);
      return isInSight();
    }, "the history is in sight");
    await window.picture(name);
    await window.page.keyboard.press("Escape");
  };
  await look("3 history (dark)");
  await window.inLight(() => look("3 history (light)"));
});

see("the palette times the kernel at the cursor, and a key does too", async () => {
  await window.focusText();
  await window.command("Kernel Scientist: Time Kernel");
  await window.message("Time transpose_kernel").waitFor();
  await window.over("Time transpose_kernel");
  await window.focusText();
  await window.page.keyboard.press("Control+Alt+k");
  await window.page.locator(".statusbar-item", { hasText: "was pressed. Waiting for second key" }).first().waitFor();
  await window.page.keyboard.press("t");
  await window.message("Time transpose_kernel").waitFor();
  await window.over("Time transpose_kernel");
});

see("machine code opens at the kernel", async () => {
  await window.focusText();
  await window.command("Kernel Scientist: Show Machine Code (gfx942)");
  await window.line("_Z16transpose_kernelPKfPfii:").waitFor();
  await window.picture("4 machine code");
  await window.command("View: Close Editor");
});

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

see("a diff that is applied gives way to the document", async () => {
  const before = await window.saved("transpose.hip");
  const diff = window.page.locator(".monaco-diff-editor .modified .view-line", { hasText: "__shared__" }).first();
  await window.command("Kernel Scientist: Show Diff of Best Version");
  await diff.waitFor();
  await window.command("Kernel Scientist: Apply Best Version");
  await diff.waitFor({ state: "detached" });
  await window.page.locator(".tab.active", { hasText: /^transpose\.hip$/ }).waitFor();
  await window.line("__shared__").waitFor();
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
  // The line and its end are two steps.
  await window.page.keyboard.press("Control+z");
  await window.undo(async () => !(await window.line("// typed").isVisible()), "what was typed is gone");
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
