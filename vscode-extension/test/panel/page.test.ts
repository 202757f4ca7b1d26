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
});
