// A person at the editor: what is seen and done in its window, by way of Chromium.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { EDITORS, ROOT, startHost } from "./host.mjs";

const { chromium } = createRequire(path.join(ROOT, "target/vscode/host/package.json"))("playwright-core");

const SHOTS = path.join(ROOT, "target/vscode/screenshots");
const PACKAGE = path.join(ROOT, "target/vscode/kernel-scientist.vsix");
/** Longest wait for anything that is shown: generous, since machines under test are busy. */
const PATIENCE = 90_000;
const CHROMIUM = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** A folder with the sample, and with texts by their names; `null` leaves a file of the sample out. */
export function workspace(texts = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kernel-scientist-workspace-"));
  fs.cpSync(path.join(import.meta.dirname, "sample"), folder, { recursive: true });
  for (const [name, text] of Object.entries(texts)) {
    if (text === null) fs.rmSync(path.join(folder, name));
    else fs.writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

/** Opens an editor on a folder with some of its files. Options are those of `startHost`. */
export async function open({ folder, files, editor = EDITORS.recent, settings = {}, packages = [], ...rest }) {
  const host = await startHost({ editor, folder, settings, packages: [PACKAGE, ...packages], ...rest });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: CHROMIUM });
  const page = await (await browser.newContext({ viewport: { width: 1400, height: 900 } })).newPage();
  page.setDefaultTimeout(PATIENCE);
  const window = new Window(host, browser, page);
  page.on("console", (message) => window.said.push(`${message.type()} ${message.text()}`));
  page.on("request", (request) => {
    // What a webview loads of its extension has an address that looks like one of the net, and is answered within the page.
    const isWithin = /^(data|blob|vscode-remote-resource|ws):|^https:\/\/vscode-remote\+[^/]+\.vscode-resource\.vscode-cdn\.net\//.test(request.url());
    if (!request.url().startsWith(host.base) && !isWithin) window.outside.push(request.url());
  });
  await page.goto(host.url(files.map((file) => path.join(folder, file))));
  await page.locator(".editor-instance .view-line").first().waitFor();
  return window;
}

/** The editor's window. */
export class Window {
  /** What its console said. */
  said = [];
  /** Addresses outside of this machine that it asked for. */
  outside = [];

  constructor(host, browser, page) {
    Object.assign(this, { host, browser, page });
  }

  /** The editor that was used last. */
  get editor() {
    return this.page.locator(".editor-group-container.active .editor-instance").first();
  }

  /** A lens by its text. */
  lens(text) {
    return this.editor.locator(".codelens-decoration a", { hasText: text }).first();
  }

  /** A line that shows a text, hints included. */
  line(text) {
    return this.editor.locator(".view-line", { hasText: text }).first();
  }

  /** A message of the editor. */
  message(text) {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  /** A button of a message. */
  async press(text, button) {
    await this.message(text).locator(".monaco-button", { hasText: button }).first().click();
  }

  /** Waits until something is so. */
  async until(isSo, what) {
    for (const until = Date.now() + PATIENCE; !(await isSo()); await this.page.waitForTimeout(100)) {
      if (Date.now() > until) throw new Error(`waited in vain: ${what}`);
    }
  }

  /** Runs a command of the palette by its title. */
  async command(title) {
    await this.page.keyboard.press("F1");
    await this.page.locator(".quick-input-widget input").first().fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  }

  /** Takes a choice of a list. */
  async pick(text) {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().click();
  }

  /** Puts the cursor to a line and column, from 1. */
  async goTo(line, column = 1) {
    await this.page.keyboard.press("Control+g");
    await this.page.locator(".quick-input-widget input").first().fill(`:${line}:${column}`);
    await this.page.keyboard.press("Enter");
  }

  /** Writes a picture of the window. */
  async picture(name) {
    fs.mkdirSync(SHOTS, { recursive: true });
    await this.page.screenshot({ path: path.join(SHOTS, `${name}.png`) });
  }

  /** The text in the editor, read from the file after it was saved. */
  async saved(file) {
    await this.page.keyboard.press("Control+s");
    await this.page.locator(".tab.dirty").waitFor({ state: "detached" });
    return fs.readFileSync(path.join(this.host.folder, file), "utf8");
  }

  /** A test that keeps a picture of the window where it fails. */
  async test(name, steps) {
    try {
      await steps();
    } catch (error) {
      await this.picture(`failed ${name}`);
      throw error;
    }
  }

  /** Closes the window and ends the editor. Says what stayed behind, and what went wrong in the extension's host. */
  async close() {
    const errors = this.said.filter((line) => /^error /.test(line) && /kernel-scientist|Kernel Scientist|extension host/i.test(line));
    const logged = this.host.logs("remoteexthost").split("\n").filter((line) => /\[error\]/i.test(line));
    await this.browser.close();
    const left = await this.host.stop();
    fs.rmSync(this.host.folder, { recursive: true, force: true });
    return { errors: [...errors, ...logged], left: left.map((one) => one.line), outside: this.outside };
  }
}
