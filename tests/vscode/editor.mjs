// A person at the editor: what is seen and done in its window, by way of Chromium.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { below, EDITORS, ROOT, startHost } from "./host.mjs";
import { errorsIn } from "./hostErrors.mjs";

const { chromium } = createRequire(path.join(ROOT, "target/vscode/host/package.json"))("playwright-core");

const SHOTS = path.join(ROOT, "target/vscode/screenshots");
const PACKAGE = path.join(ROOT, "target/vscode/kernel-scientist.vsix");
/** Longest wait for anything that is shown: generous, since machines under test are busy. */
const PATIENCE = Number(process.env.PATIENCE_MS ?? 90_000);
/** How long something that was clicked or pressed may take to show before it is taken for lost and done once more, in milliseconds. */
const LOST = 10_000;
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

/** The package of an extension of these tests, made from its folder. */
export function packed(name) {
  const file = path.join(ROOT, `target/vscode/${name}.vsix`);
  const vsce = path.join(ROOT, "vscode-extension/node_modules/@vscode/vsce/vsce");
  const args = [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", file];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: path.join(import.meta.dirname, name), encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} could not be packed: ${stderr}`);
  return file;
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

/** Closes a window, and fails where something was said to have gone wrong or stayed behind. */
export async function goesWell(window) {
  const { errors, left, outside } = await window.close();
  assert.deepEqual({ errors, left, outside }, { errors: [], left: [], outside: [] });
}

/** Opens an editor for the steps of one test, and closes it however they end. */
export async function within(how, name, steps) {
  const window = await open(how);
  try {
    await window.test(name, () => steps(window));
  } catch (error) {
    await window.close();
    throw error;
  }
  await goesWell(window);
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

  /** Clicks a lens until what it begins is shown. */
  async begin(title, message) {
    await this.clickUntil(this.editor.locator(".codelens-decoration a", { hasText: new RegExp(`^${title}$`) }).first(), this.message(message));
  }

  /** Clicks the beaker of the editor's title until what it begins is shown: a message unless something else is given. */
  async beaker(shown = this.message("Evolve")) {
    await this.clickUntil(this.page.locator('.editor-actions a[aria-label^="Evolve This File"]').first(), shown);
  }

  /** Clicks something until what comes of it is shown: lenses and buttons are drawn anew now and then, and a click in between is lost. */
  async clickUntil(what, shown) {
    await this.until(async () => {
      // With the mouse: what brings an element into reach scrolls the window around it.
      const box = await what.boundingBox({ timeout: 1_000 }).catch(() => null);
      if (box === null) return shown.isVisible();
      await this.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      return did(shown.waitFor({ timeout: LOST }));
    }, `a click on ${what} shows ${shown}`);
  }

  /** Waits until a message is gone. */
  async over(message) {
    await this.message(message).waitFor({ state: "detached" });
  }

  /** A line that shows a text, hints included. */
  line(text) {
    return this.editor.locator(".view-line", { hasText: text }).first();
  }

  /** A message of the editor. */
  message(text) {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  /** Presses a button of a message, which closes it. One that was not looked at for a while has gone behind the bell. */
  async press(text, button) {
    const shown = this.page.locator(".notification-toast, .notifications-center .notification-list-item", { hasText: text }).first();
    await this.until(async () => {
      if (!(await shown.isVisible())) {
        await this.command("Notifications: Show Notifications");
        if (!(await did(shown.waitFor({ timeout: LOST })))) return false;
      }
      // The very message: another one may say the same afterwards.
      const message = await shown.elementHandle();
      const found = await message.$(`.monaco-button:has-text("${button}")`);
      if (found === null || !(await did(found.click({ timeout: 1_000 })))) return false;
      return did(message.waitForElementState("hidden", { timeout: LOST }));
    }, `${button} of the message ${text}`);
  }

  /** Waits until something is so. */
  async until(isSo, what, patience = PATIENCE) {
    for (const until = Date.now() + patience; !(await isSo()); await this.page.waitForTimeout(100)) {
      if (Date.now() > until) throw new Error(`waited in vain: ${what}`);
    }
  }

  /** What is written into at the top of the window: the palette, and questions. */
  get input() {
    return this.page.locator(".quick-input-widget input").first();
  }

  /** Opens the palette with a key and writes into it. A key falls into the void, or what it opens is closed again, while the
   * editor moves the focus: then once more. */
  async write(key, text) {
    await this.until(async () => {
      await this.page.keyboard.press(key);
      return did(this.input.fill(text, { timeout: 5_000 }));
    }, `${key} opens the palette`);
  }

  /** Runs a command of the palette by its title. */
  async command(title) {
    await this.until(async () => {
      await this.write("F1", `>${title}`);
      if (await this.take(title)) return true;
      // A list that is open stays as it was: a command that counts where the text has the focus comes when it is opened again.
      await this.page.keyboard.press("Escape");
      return false;
    }, `the command ${title}`);
  }

  /** Takes a choice of a list that is open. */
  async pick(text) {
    await this.until(() => this.take(text), `the choice ${text}`);
  }

  /** Takes the row of a list by its label, by keys: rows are moved and drawn anew while the list is filled, and
   * a click meets another one then. Whether it was taken. */
  async take(text) {
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    const wanted = rows.filter({ has: this.page.locator(".label-name", { hasText: whole(text) }) }).first();
    const isFocused = () => wanted.evaluate((row) => row.classList.contains("focused"), undefined, { timeout: 1_000 }).catch(() => false);
    if (!(await did(wanted.waitFor({ timeout: LOST })))) return false;
    for (let tries = await rows.count(); !(await isFocused()); tries--) {
      if (tries < 0 || !(await did(this.input.press("ArrowDown", { timeout: 1_000 })))) return false;
    }
    if (!(await did(this.input.press("Enter", { timeout: 1_000 })))) return false;
    return did(wanted.waitFor({ state: "hidden", timeout: LOST }));
  }

  /** Writes an answer to a question at the top of the window. */
  async answer(question, text) {
    const asked = this.page.locator(".quick-input-widget", { hasText: question });
    await asked.waitFor();
    await this.input.fill(text);
    await this.until(async () => {
      await did(this.input.press("Enter", { timeout: 1_000 }));
      return did(asked.waitFor({ state: "hidden", timeout: LOST }));
    }, `the answer to ${question}`);
  }

  /** Puts the cursor to a line and column, from 1, ready to type. */
  async goTo(line, column = 1) {
    const place = this.page.locator(".statusbar-item", { hasText: `Ln ${line}, Col ${column}` });
    await this.until(async () => {
      await this.write("Control+g", `:${line}:${column}`);
      await did(this.input.press("Enter", { timeout: 1_000 }));
      return (await did(this.input.waitFor({ state: "hidden", timeout: LOST }))) && did(place.first().waitFor({ timeout: LOST }));
    }, `line ${line}`);
    await this.page.locator(".editor-group-container.active .monaco-editor.focused").first().waitFor();
  }

  /** Takes the last change of the text back, until something is so. */
  async undo(isSo, what) {
    await this.focusText();
    await this.until(async () => {
      await this.page.keyboard.press("Control+z");
      return did(this.until(isSo, what, LOST));
    }, what);
  }

  /** Writes a picture of the window. */
  async picture(name) {
    fs.mkdirSync(SHOTS, { recursive: true });
    await this.page.screenshot({ path: path.join(SHOTS, `${name}.png`) });
  }

  /** Writes a picture in the present theme and one in its opposite. */
  async pictures(name) {
    await this.picture(`${name} (dark)`);
    await this.inLight(() => this.picture(`${name} (light)`));
  }

  /** Does something in a light theme. */
  async inLight(steps) {
    await this.toggleTheme("vs");
    await steps();
    await this.toggleTheme("vs-dark");
  }

  async toggleTheme(mark) {
    await this.command("Preferences: Toggle between Light/Dark Themes");
    await this.page.locator(`.monaco-workbench.${mark}`).waitFor();
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    // Colours of what was there before follow within a frame or two.
    await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  }

  /** Waits until something has faded in. */
  async isDrawn(what) {
    await this.until(() => what.evaluate((element) => getComputedStyle(element).opacity === "1"), "it has faded in");
  }

  /** Has keys go to the text. */
  async focusText() {
    await this.until(async () => {
      await this.page.keyboard.press("Control+1");
      return did(this.page.locator(".editor-group-container.active .monaco-editor.focused").first().waitFor({ timeout: LOST }));
    }, "the text has the focus");
  }

  /** The text of a file, read after it was saved. */
  async saved(file) {
    await this.until(async () => {
      await this.focusText();
      await this.page.keyboard.press("Control+s");
      return did(this.page.locator(".tab.dirty").waitFor({ state: "detached", timeout: LOST }));
    }, "the file is saved");
    return fs.readFileSync(path.join(this.host.folder, file), "utf8");
  }

  /** Opens a file by its name. */
  async openFile(name) {
    await this.until(async () => {
      await this.write("Control+p", name);
      return (await this.take(name)) && did(this.page.locator(".tab.active", { hasText: name }).waitFor({ timeout: LOST }));
    }, `${name} is open`);
    await this.editor.locator(".view-line").first().waitFor();
  }

  /** Takes the pointer and what it opened out of the picture. */
  async clean() {
    await this.page.mouse.move(700, 700);
    await this.page.locator(".context-view.visible").waitFor({ state: "hidden" });
  }

  /** Takes an entry of the menu of code actions. */
  async chooseAction(row) {
    // A click is caught by an overlay in older editors.
    for (let tries = 0; !(await row.evaluate((element) => element.classList.contains("focused"))); tries++) {
      if (tries > 20) throw new Error("the entry cannot be reached by keys");
      await this.page.keyboard.press("ArrowDown");
    }
    await this.page.keyboard.press("Enter");
  }

  /** Closes all messages. */
  async clearMessages() {
    await this.command("Notifications: Clear All Notifications");
    await this.page.locator(".notification-toast").first().waitFor({ state: "detached" });
  }

  /** The default key bindings of the editor and its extensions, as it lists them; with a system's name, those of a window there. */
  async keymap(system = undefined) {
    const userAgent = system && `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36`;
    const context = await this.browser.newContext({ viewport: { width: 1400, height: 900 }, userAgent, permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    // Without a folder: the one that is open is this window's.
    await page.goto(`${this.host.base}/?ew=true`);
    const other = new Window(this.host, this.browser, page);
    await page.locator(".monaco-workbench .part.statusbar .statusbar-item").first().waitFor();
    await other.command("Preferences: Open Default Keyboard Shortcuts (JSON)");
    await other.line("Override key bindings").waitFor();
    // All windows have one clipboard.
    await page.evaluate(() => navigator.clipboard.writeText(""));
    let text = "";
    await other.until(async () => {
      await page.keyboard.press(/^Mac/.test(system) ? "Meta+a" : "Control+a");
      // To copy is the browser's own, whatever the system is said to be.
      await page.keyboard.press("Control+c");
      text = await page.evaluate(() => navigator.clipboard.readText());
      return /^\[[^]*\]/m.test(text);
    }, "the key bindings are copied");
    await context.close();
    // Below the list the editor says which commands have no key.
    const list = text.slice(text.indexOf("["), text.lastIndexOf("]") + 1).replace(/^\s*\/\/.*$/gm, "");
    return JSON.parse(list.slice(0, list.lastIndexOf("]") + 1));
  }

  /** The language servers of this window. A process that a server has just begun has its name until it has another program. */
  servers() {
    const named = below(this.host.pid).filter(({ line }) => /kernel-scientist lsp/.test(line));
    return named.filter(({ parent }) => !named.some(({ pid }) => pid === parent));
  }

  /** A test that keeps a picture of the window where it fails. */
  async test(name, steps) {
    try {
      await steps();
    } catch (error) {
      await this.picture(`failed ${name}`);
      console.log(this.host.logs("Kernel Scientist").split("\n").slice(-20).join("\n# "));
      throw error;
    }
  }

  /** Closes the window and ends the editor. Says what stayed behind, and what went wrong in the extension's host. */
  async close() {
    // What its parts say once they lose each other is no news.
    const errors = errorsIn(this.host.logs("remoteexthost"), this.host.installation);
    await this.browser.close();
    const left = await this.host.stop();
    fs.rmSync(this.host.folder, { recursive: true, force: true });
    return { errors, left: left.map((one) => one.line), outside: this.outside };
  }
}

/** Whether something could be done, for what is tried again where it could not. */
function did(doing) {
  return doing.then(
    () => true,
    () => false,
  );
}

/** A text and nothing around it. */
function whole(text) {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*$`);
}
