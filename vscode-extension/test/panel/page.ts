// The panel's page in Chromium, outside of the editor: with the editor's policy, its variables and a stand-in for its API.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { html } from "../../src/panel/html";
import type { FromPage, PanelData, ToPage } from "../../src/panel/webview/messages";
import { THEMES, type ThemeName } from "./themes";

const SOURCE = "https://panel.example";
const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"];

/** Why there is no browser to test with; `undefined` where there is one. */
export const noBrowser = existsSync(PROGRAM) ? undefined : `${PROGRAM} is missing: install chromium, or name one in CHROMIUM`;

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: FLAGS });
}

/** A page of the panel. */
export interface Panel {
  page: Page;
  /** What the page has said to the extension, oldest first. */
  said: () => Promise<FromPage[]>;
  send: (message: ToPage) => Promise<void>;
  show: (data: PanelData) => Promise<void>;
  theme: (name: ThemeName) => Promise<void>;
  /** Errors and violations of the policy. */
  errors: string[];
}

/** Opens the page; nothing is shown before something is sent. */
export async function open(browser: Browser, theme: ThemeName, size: { width: number; height: number }): Promise<Panel> {
  const page = await browser.newPage({ viewport: size });
  const errors: string[] = [];
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  page.on("pageerror", (error) => { errors.push(error.message); });
  const bundle = (name: string): string => readFileSync(join("dist", name), "utf8");
  const files: Record<string, { contentType: string; body: string }> = {
    "/": { contentType: "text/html", body: html({ script: `${SOURCE}/panel.js`, style: `${SOURCE}/panel.css`, source: SOURCE, nonce: "n0nce" }) },
    "/panel.js": { contentType: "text/javascript", body: bundle("panel.js") },
    "/panel.css": { contentType: "text/css", body: bundle("panel.css") },
  };
  await page.route(`${SOURCE}/**`, (route) => route.fulfill(files[new URL(route.request().url()).pathname] ?? { status: 404, body: "" }));
  await page.addInitScript(() => {
    const said: unknown[] = [];
    Object.assign(window, { said, acquireVsCodeApi: () => ({ postMessage: (message: unknown) => said.push(message), setState: (state: unknown) => Object.assign(window, { state }), getState: () => undefined }) });
  });
  page.setDefaultTimeout(10_000);
  await page.goto(`${SOURCE}/`);
  const panel: Panel = {
    page,
    errors,
    said: () => page.evaluate(() => (window as unknown as { said: FromPage[] }).said),
    send: (message) => page.evaluate((data) => { window.dispatchEvent(new MessageEvent("message", { data })); }, message),
    show: (data) => panel.send({ type: "show", data }),
    theme: async (name) => {
      await page.evaluate(({ className, variables }) => {
        const root = document.documentElement;
        root.removeAttribute("style");
        for (const [variable, value] of Object.entries(variables)) root.style.setProperty(`--vscode-${variable}`, value);
        document.body.className = className;
      }, THEMES[name]);
    },
  };
  // It says when it listens. The policy keeps the driver from waiting within the page.
  while ((await panel.said()).length === 0) await page.waitForTimeout(10);
  await panel.theme(theme);
  return panel;
}
