// The panel's page, as a person uses it: with the mouse, with the keyboard, and as a screen reader hears it.
// What it looks like is kept in target/screenshots.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import type { Browser } from "playwright-core";
import type { PanelData } from "../../src/panel/webview/messages";
import type { Population, Run } from "../../src/protocol";
import { population } from "./generated";
import { launch, noBrowser, open, type Panel } from "./page";
import type { ThemeName } from "./themes";

const SCREENSHOTS = "target/screenshots";
const WIDE = { width: 1180, height: 1700 };
const NARROW = { width: 300, height: 1900 };

/** Answers of the real server. */
function recorded(name: string): PanelData {
  const { population, runs } = JSON.parse(readFileSync(`test/panel/fixtures/${name}.json`, "utf8")) as { population: Population; runs: Run[] };
  return { uri: `file:///kernels/${name}.hip`, name: `${name}.hip`, population, runs, problem: null };
}

/** A run of so many versions. */
function generated(count: number): PanelData {
  return { uri: "file:///kernels/gemm.hip", name: "gemm.hip", population: population(count), runs: [], problem: null };
}

void suite("the panel's page", { skip: noBrowser }, () => {
  let browser: Browser;
  before(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    browser = await launch();
  });
  after(() => browser.close());

  async function panel(data: PanelData, theme: ThemeName = "dark", size = WIDE): Promise<Panel> {
    const opened = await open(browser, theme, size);
    await opened.show(data);
    await opened.page.waitForSelector("main, .empty button");
    return opened;
  }

  async function done(opened: Panel): Promise<void> {
    assert.deepEqual(opened.errors, []);
    await opened.page.close();
  }

  for (const theme of ["dark", "light", "high-contrast", "high-contrast-light"] as const) {
    void test(`fits its window in ${theme}`, async () => {
      for (const [name, data, size] of [["forecast", recorded("transpose"), WIDE], ["measured", recorded("row_sum"), NARROW], ["many", generated(1000), WIDE]] as const) {
        const opened = await panel(data, theme, size);
        if (name === "forecast") await opened.page.locator(".tree .row").nth(2).click();
        if (name === "many") await opened.send({ type: "progress", line: "generation 101 of 120 · building 3 drafts" });
        await opened.page.waitForTimeout(100);
        const widths = await opened.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.equal(widths[0], widths[1], "nothing is cut off at the side");
        await opened.page.screenshot({ path: `${SCREENSHOTS}/panel-${name}-${theme}.png` });
        await done(opened);
      }
    });
  }

  void test("a forecast is never called measured", async () => {
    const opened = await panel(recorded("transpose"));
    const text = await opened.page.locator("#root").innerText();
    assert.match(text, /Forecast speedup/);
    assert.match(text, /nothing was timed on MI300X/);
    const words = text.toLowerCase().replaceAll("a forecast, not a measurement", "");
    assert.ok(!words.includes("measured") && !words.includes("confirmed speedup") && !words.includes("median"), text);
    await done(opened);
    const measured = await panel(recorded("row_sum"));
    const other = await measured.page.locator("#root").innerText();
    assert.ok(other.includes("Measured") && !/forecast/i.test(other));
    await done(measured);
    // Before anything is known nobody can say which it will be.
    const begun = recorded("transpose");
    assert.ok(begun.population !== null);
    const rest = { ...begun.population };
    delete rest.forecast;
    const early = await panel({ ...begun, population: { ...rest, members: rest.members.slice(0, 1).map((member) => ({ ...member, times: [] })), experiments: [], winner: null, calibration: { ...rest.calibration, measured: 0 } } });
    assert.doesNotMatch(await early.page.locator("main").innerText(), /measure/i);
    await done(early);
  });

  void test("a click shows the diff, and what is known of the version", async () => {
    const opened = await panel(recorded("transpose"));
    await opened.page.locator("#version-4").click();
    const asked = (await opened.said()).at(-1);
    assert.deepEqual(asked, { type: "diff", run: 1, of: { candidate: 4 }, against: 1, title: "#4 against #1" });
    assert.match(await opened.page.locator(".details").innerText(), /forecast 32\.3 us/);
    await opened.page.getByRole("button", { name: "Diff against the original" }).click();
    assert.deepEqual((await opened.said()).at(-1), { type: "diff", run: 1, of: { candidate: 4 }, against: 0, title: "#4 against #0" });
    await opened.page.getByRole("button", { name: "Close details" }).click();
    assert.equal(await opened.page.locator(".details").count(), 0);
    await done(opened);
  });

  void test("all of it can be reached with the keyboard", async () => {
    const opened = await panel(generated(1000));
    const tree = opened.page.getByRole("tree");
    await tree.focus();
    const active = (): Promise<string | null> => tree.getAttribute("aria-activedescendant");
    await opened.page.keyboard.press("ArrowDown");
    assert.equal(await active(), "version-0");
    await opened.page.keyboard.press("End");
    const last = await active();
    assert.notEqual(last, "version-0");
    // The active row comes into sight.
    await opened.page.locator(`#${last ?? ""}`).waitFor();
    await opened.page.keyboard.press("Home");
    await opened.page.keyboard.press("ArrowLeft");
    assert.equal(await opened.page.locator("#version-0").getAttribute("aria-expanded"), "false");
    assert.equal(await opened.page.locator(".tree .row").count(), 1);
    await opened.page.keyboard.press("ArrowRight");
    await opened.page.keyboard.press("ArrowRight");
    const child = await active();
    const before = (await opened.said()).length;
    await opened.page.keyboard.press("Enter");
    const said = await opened.said();
    assert.equal(said.length, before + 1);
    assert.deepEqual([said.at(-1)?.type, `version-${/"candidate":(\d+)/.exec(JSON.stringify(said.at(-1)))?.[1] ?? ""}`], ["diff", child]);
    const table = opened.page.getByRole("grid");
    await table.focus();
    await opened.page.keyboard.press("PageDown");
    assert.match((await table.getAttribute("aria-activedescendant")) ?? "", /^experiment-/);
    const outline = await table.evaluate((element) => getComputedStyle(element).outlineStyle);
    assert.notEqual(outline, "none", "the focus can be seen");
    await done(opened);
  });

  void test("a screen reader hears names, places and states", async () => {
    const opened = await panel(recorded("transpose"));
    const row = opened.page.locator("#version-1");
    assert.equal(await row.getAttribute("aria-label"), "version 1, winner, Turn squares of out around in LDS, forecast 2.37× (1.29 to 4.33) faster, generation 1");
    assert.deepEqual(await Promise.all(["aria-level", "aria-posinset", "aria-setsize"].map((name) => row.getAttribute(name))), ["2", "1", "3"]);
    const grid = opened.page.getByRole("grid");
    assert.equal(await grid.getAttribute("aria-rowcount"), "17");
    assert.equal(await opened.page.getByRole("columnheader", { name: "Gen." }).getAttribute("aria-sort"), "ascending");
    await opened.page.getByRole("columnheader", { name: "Forecast" }).getByRole("button").click();
    assert.equal(await opened.page.getByRole("columnheader", { name: "Forecast" }).getAttribute("aria-sort"), "descending");
    assert.match((await opened.page.getByRole("img").first().getAttribute("aria-label")) ?? "", /^Forecast times at rows=4096 cols=4096, 10 versions/);
    const unnamed = await opened.page.evaluate(() => [...document.querySelectorAll("button, input, select")].filter((element) => (element.getAttribute("aria-label") ?? element.textContent) === "" && element.closest("label") === null).length);
    assert.equal(unnamed, 0);
    await done(opened);
  });

  void test("a thousand versions are scrolled with a few rows drawn", async () => {
    const opened = await panel(generated(1000), "dark", { width: 1000, height: 800 });
    const table = opened.page.getByRole("grid");
    const height = await table.evaluate((element) => element.scrollHeight);
    assert.ok(height > 28_000, `${height}`);
    let most = 0;
    for (let step = 1; step <= 20; step++) {
      await table.evaluate((element, top) => { element.scrollTop = top; }, (height / 20) * step);
      await opened.page.evaluate(() => new Promise(requestAnimationFrame));
      most = Math.max(most, await opened.page.locator(".table .row").count());
      const blank = await table.evaluate((element) => {
        const area = element.getBoundingClientRect();
        const at = document.elementFromPoint(area.left + 200, area.bottom - 40);
        return at?.closest(".row") === null;
      });
      assert.equal(blank, false, "rows are where one looks");
    }
    assert.ok(most < 60, `${most} rows were drawn`);
    assert.match(await opened.page.locator(".table .row").last().innerText(), /#1000/);
    await done(opened);
  });

  void test("what comes in while it is open changes the page and keeps the place", async () => {
    const opened = await panel(generated(1000));
    const tree = opened.page.getByRole("tree");
    await tree.evaluate((element) => { element.scrollTop = 5000; });
    await opened.page.getByRole("searchbox").fill("float4");
    const found = await opened.page.getByRole("status").last().innerText();
    await opened.send({ type: "progress", line: "generation 101 of 120 · timing" });
    await opened.show(generated(1010));
    assert.match(await opened.page.locator("header").innerText(), /generation 101 of 120 · timing/);
    await opened.page.getByText("1,010 versions").waitFor();
    assert.equal(await tree.evaluate((element) => element.scrollTop), 5000);
    assert.equal(await opened.page.getByRole("searchbox").inputValue(), "float4");
    assert.notEqual(await opened.page.getByRole("status").last().innerText(), found);
    await done(opened);
  });

  void test("a file without runs offers to evolve, and what went wrong is said", async () => {
    const opened = await panel({ uri: "file:///a.hip", name: "a.hip", population: null, runs: [], problem: "The server is not running" });
    assert.equal(await opened.page.getByRole("alert").innerText(), "The server is not running");
    await opened.page.getByRole("button", { name: "Evolve" }).click();
    assert.deepEqual((await opened.said()).at(-1), { type: "do", action: "evolve" });
    await done(opened);
  });

  void test("text from models is text, never markup", async () => {
    const data = recorded("transpose");
    const evil = "<img src=x onerror=\"document.title='run'\">`<script>document.title='run'</script>`";
    for (const row of data.population?.experiments ?? []) Object.assign(row, { title: evil, reason: evil, report: evil, errors: [evil] });
    for (const member of data.population?.members ?? []) Object.assign(member, { title: evil });
    const opened = await panel(data);
    await opened.page.locator(".tree .row").nth(1).click();
    assert.equal(await opened.page.title(), "Lineage");
    assert.equal(await opened.page.locator("#root img, #root script").count(), 0);
    await done(opened);
  });
});
