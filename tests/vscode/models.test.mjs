// Who thinks: a model of the editor, behind which the tests' own server stands, is chosen and asked; keys are asked for, kept and refused;
// what it costs is agreed to or not.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { goesWell, open, packed, workspace } from "./editor.mjs";
import { ROOT } from "./host.mjs";

const KEY = "sk-of-the-test";
let model;
let window;
let log;

before(async () => {
  model = await modelServer();
  const folder = workspace();
  log = path.join(folder, "asked.jsonl");
  window = await open({
    folder,
    files: ["transpose.hip"],
    packages: [packed("model-provider")],
    settings: { "kernelScientist.generations": 1, "kernelScientist.forecasts": false, "chat.disableAIFeatures": false },
    environment: { MODEL_SERVER: `http://127.0.0.1:${model.port}`, MODEL_KEY: KEY, MODEL_LOG: log, ANTHROPIC_API_KEY: "" },
  });
  await window.lens("Evolve").waitFor();
});
after(async () => {
  await goesWell(window);
  model.stop();
});
const see = (name, steps) => test(name, () => window.test(name, steps));
const statusBar = (text) => window.page.locator(".part.statusbar .statusbar-item", { hasText: text }).first();
const evolveWith = (provider) => window.page.locator(".monaco-dialog-box", { hasText: `Evolve with ${provider}?` });
const asked = () => (fs.existsSync(log) ? fs.readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []);

see("a model of the editor is chosen and answers", async () => {
  await window.focusText();
  await window.command("Kernel Scientist: Pick Model");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Local SmolLM" }).first().waitFor();
  await window.picture("16 models");
  await window.pick("Local SmolLM");
  await window.message("The editor's model local-smollm answered in").waitFor();
  assert.deepEqual(asked(), [{ required: false, messages: 1 }]);
});

see("an evolution asks it, by a tool where the answer must fit a schema", async () => {
  await window.clearMessages();
  await window.focusText();
  const question = evolveWith("editor:local-smollm");
  await window.beaker(question);
  assert.match(await question.innerText(), /Estimate for 1 generations?: about \d+ calls, .* no cost/);
  await window.picture("17 estimate");
  await question.locator(".monaco-button", { hasText: "Evolve" }).first().click();
  await window.message("Evolve transpose.hip").waitFor();
  await window.over("Evolve transpose.hip");
  // Such a model writes no kernel: the run says what it could not use.
  await window.page.locator(".notification-toast", { hasText: /^Evolve: / }).first().waitFor();
  const tools = asked().slice(1);
  assert.ok(tools.length >= 2, JSON.stringify(tools));
  assert.ok(tools.some(({ tool, required }) => tool === "answer" && required), JSON.stringify(tools));
  await window.picture("18 evolved by a model");
});

see("a provider that needs a key has it asked for, and it is kept out of all settings", async () => {
  await window.clearMessages();
  await window.focusText();
  await window.command("Kernel Scientist: Pick Model");
  await window.pick("Anthropic …");
  await window.answer("Model of Anthropic", "claude-opus-4-5");
  await window.page.locator(".quick-input-widget", { hasText: "Key of Anthropic" }).waitFor();
  assert.equal(await window.input.getAttribute("type"), "password");
  await window.picture("19 key");
  await window.answer("Key of Anthropic", KEY);
  await statusBar("anthropic:claude-opus-4-5").waitFor();
});

see("what it will cost is said first, and without consent nothing begins", async () => {
  const before = asked().length;
  const question = evolveWith("anthropic:claude-opus-4-5");
  await window.beaker(question);
  assert.match(await question.innerText(), /Estimate for 1 generation: about \d+ calls, \d+ thousand tokens, \d+\.\d\d US dollars/);
  await window.picture("29 cost");
  await question.locator(".monaco-button", { hasText: "Cancel" }).first().click();
  await question.waitFor({ state: "detached" });
  // The very next thing that is done would have to wait for an evolution of the same file.
  await window.begin("Time", "Time transpose_kernel");
  assert.equal(await window.message("Evolve").count(), 0);
  await window.over("Time transpose_kernel");
  assert.equal(asked().length, before);
  const written = everything(window.host.profile) + everything(window.host.folder);
  assert.ok(!written.includes(KEY));
  assert.ok(window.servers().every(({ pid }) => !fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes("ANTHROPIC_API_KEY=sk")));
});

see("a key is set by hand, and a server that refuses it is told of", async () => {
  await window.command("Kernel Scientist: Set Key of a Provider");
  await window.pick("OpenAI");
  const question = window.page.locator(".quick-input-widget", { hasText: "Key of OpenAI" });
  await question.waitFor();
  await window.input.fill("two words");
  await question.getByText("A key has no spaces").waitFor();
  await window.answer("Key of OpenAI", "sk-that-is-wrong");
  await statusBar("The key of OpenAI is kept").waitFor();
  // A server that speaks OpenAI's protocol. The key goes there since the user's own settings name it, too.
  const settings = `[scientist]\nbase_url = "http://127.0.0.1:${model.port}/v1"\n`;
  for (const folder of [path.join(window.host.home, "config/kernel-scientist"), window.host.folder]) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "kernel-scientist.toml"), settings);
  }
  await window.focusText();
  await window.command("Kernel Scientist: Pick Model");
  await window.pick("OpenAI …");
  await window.answer("Model of OpenAI", "local");
  await statusBar("openai:local").waitFor();
  await window.beaker(evolveWith("openai:local"));
  await evolveWith("openai:local").locator(".monaco-button", { hasText: "Evolve" }).first().click();
  await window.message("the key was not accepted").waitFor();
  await window.picture("27 key refused");
  await window.clearMessages();
  // An empty answer forgets it.
  await window.command("Kernel Scientist: Set Key of a Provider");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: /OpenAI.*set/ }).first().waitFor();
  await window.pick("OpenAI");
  await window.answer("Key of OpenAI", "");
  await statusBar("There is no key of OpenAI").waitFor();
});

see("a model that the editor does not have is told of, with those that it has", async () => {
  window.host.set({ "kernelScientist.provider": "editor:gone" });
  await statusBar("editor:gone").waitFor();
  await window.beaker(evolveWith("editor:gone"));
  await evolveWith("editor:gone").locator(".monaco-button", { hasText: "Evolve" }).first().click();
  await window.message(/the editor has no such model.*local-smollm/).waitFor();
  await window.picture("28 no such model");
});

/** All texts under a folder, the databases of the editor left out: secrets are kept there, encrypted. */
function everything(folder) {
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && /\.(json|jsonl|toml|log|txt|hip)$/.test(entry.name));
  return files.map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), "utf8")).join("\n");
}

function modelServer() {
  const python = path.join(ROOT, "target/model-server/bin/python");
  const child = spawn(python, [path.join(ROOT, "tests/model-server/serve.py"), "8192", KEY], { stdio: ["pipe", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("exit", (status) => reject(new Error(`the model server ended with status ${status}`)));
    child.stdout.on("data", (text) => {
      said += text;
      const port = /LISTENING (\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve({ port, stop: () => child.stdin.end() });
    });
  });
}
