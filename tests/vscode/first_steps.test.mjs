// A sample is opened: lenses and hints are there, Time brings a figure, hovering shows its history, code can be looked at.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";

let window;
before(async () => {
  window = await open({ folder: workspace(), files: ["transpose.hip"] });
});
after(() => goesWell(window));
const see = (name, steps) => test(name, () => window.test(name, steps));

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
    await hover.locator("table", { hasText: "hypothesis" }).scrollIntoViewIfNeeded();
    await window.isDrawn(hover);
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
