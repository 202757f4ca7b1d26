// An evolution is watched in the lineage panel, its versions are looked at, the window is reloaded; side bar, status bar and walkthrough
// show what they should. The pictures of the Marketplace's page are taken here.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { goesWell, open, workspace } from "./editor.mjs";

let window;
before(async () => {
  window = await open({ folder: workspace(), files: ["transpose.hip"], settings: { "kernelScientist.generations": 2 } });
});
after(() => goesWell(window));
const see = (name, steps) => test(name, () => window.test(name, steps));

/** The panel's page. */
const panel = () => window.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
const sideBar = () => window.page.locator(".part.sidebar");
const statusBar = (text) => window.page.locator(".part.statusbar .statusbar-item", { hasText: text }).first();

async function showSideBar() {
  const icon = window.page.locator(".activitybar .action-item", { has: window.page.locator(".action-label[aria-label='Kernel Scientist']") }).first();
  if (!(await icon.getAttribute("class")).includes("checked")) await icon.click();
  await sideBar().getByText("transpose_kernel").first().waitFor();
}

see("the side bar lists the kernels before anything is timed", async () => {
  await showSideBar();
  await sideBar().getByText("Nothing is under way").waitFor();
  await statusBar("MI300X (forecast)").waitFor();
  await statusBar("catalog").waitFor();
  await window.line("forecast").waitFor();
  await sideBar().getByText(/[\d.]+ us forecast/).first().waitFor();
  // Wide enough for the whole hint.
  await window.page.setViewportSize({ width: 1640, height: 900 });
  await window.clean();
  await window.line("forecast").waitFor();
  await window.picture("kernel");
  await window.page.setViewportSize({ width: 1400, height: 900 });
});

see("the panel follows an evolution", async () => {
  await window.lens("Evolve").waitFor();
  await window.editor.locator(".view-line").first().click();
  await window.command("Kernel Scientist: Show Lineage");
  await panel().getByText("No evolution of this file is on record yet").waitFor();
  await panel().getByRole("button", { name: "Evolve" }).click();
  await panel().getByText(/generation 1 of 2/).waitFor();
  await sideBar().getByText(/^Evolve/).first().waitFor();
  // It is stopped, and goes on where it was.
  await panel().getByRole("button", { name: "Stop" }).click();
  await panel().getByText("1, cancelled").waitFor();
  const run = sideBar().locator(".monaco-list-row", { hasText: "cancelled" }).first();
  await run.hover();
  await run.locator(".action-label[aria-label='Resume']").click();
  await panel().getByText("Forecast speedup").waitFor();
  await panel().getByText(/nothing was timed on MI300X/).waitFor();
  await sideBar().getByText(/forecast [\d.]+x/).first().waitFor();
  await window.picture("panel beside");
});

see("a click shows a version in the editor's own diff", async () => {
  await panel().getByRole("treeitem", { name: /^version 1,/ }).click();
  await window.page.locator(".tab", { hasText: "#1 against #0" }).waitFor();
  await window.page.locator(".monaco-diff-editor .view-line", { hasText: "turned" }).first().waitFor();
  await panel().getByRole("complementary", { name: "Details" }).waitFor();
  await window.picture("panel diff");
});

see("the panel is there again after a reload, with what it showed", async () => {
  // As a window is opened anew: by its folder alone, with what was open in it.
  await window.page.goto(window.host.url());
  await panel().getByText("Forecast speedup").waitFor();
  await panel().getByRole("treeitem", { name: /^version 1,/ }).waitFor();
});

see("it is in the theme's colours", async () => {
  const colour = () => panel().locator("body").evaluate((body) => getComputedStyle(body).backgroundColor);
  const dark = await colour();
  await window.command("Preferences: Toggle between Light/Dark Themes");
  await window.until(async () => (await colour()) !== dark, "another colour");
  await window.picture("panel light");
  const light = await colour();
  await window.command("Preferences: Toggle between Light/Dark Themes");
  await window.until(async () => (await colour()) !== light, "a dark colour again");
});

see("a run of the side bar leads to its panel", async () => {
  await window.command("View: Close All Editors");
  await showSideBar();
  await sideBar().locator(".monaco-list-row", { hasText: /forecast [\d.]+x/ }).first().click();
  await panel().getByText("Forecast speedup").waitFor();
  await window.picture("panel");
});

see("the best version is one edit and one undo", async () => {
  await panel().getByRole("button", { name: "Apply best" }).click();
  await window.line("turned").waitFor();
  await panel().getByText("Forecast speedup").waitFor();
  await window.page.keyboard.press("Control+z");
  await window.line("turned").waitFor({ state: "detached" });
});

see("the first steps are told", async () => {
  await window.command("View: Close All Editors");
  await window.command("Kernel Scientist: First Steps");
  await window.page.getByText("Make a HIP kernel faster").first().waitFor();
  await panel().getByText("A kernel to try it on").waitFor();
  await window.picture("first steps");
  await window.page.getByText("Open Sample").first().click();
  await window.page.locator(".tab.active", { hasText: "transpose.hip" }).waitFor();
  await window.lens("Time").waitFor();
  const sample = path.join(window.host.folder, "kernel-scientist-sample");
  assert.deepEqual(fs.readdirSync(sample).sort(), ["transpose.bench.toml", "transpose.hip"]);
});
