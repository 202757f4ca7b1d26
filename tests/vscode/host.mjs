// The real VS Code: its server with a throw-away profile, and the extension installed from its package.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

/** Root of the repository. */
export const ROOT = path.resolve(import.meta.dirname, "../..");
const TARGET = path.join(ROOT, "target/vscode");
const NODE = process.execPath;

/** The editors that are tested, by the names of their packages. */
export const EDITORS = { recent: "code-server", oldest: "code-server-oldest" };

/** The theme that each begins with: a dark one, by its own name. */
const DARK = { "code-server": "Dark 2026", "code-server-oldest": "Default Dark Modern" };

const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.reduceMotion": "on",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "remote.autoForwardPorts": false,
  "editor.hover.delay": 100,
  "editor.minimap.enabled": false,
  "files.autoSave": "off",
};

/**
 * Starts an editor's server.
 * @param {object} how
 * @param {string} how.editor one of EDITORS
 * @param {string} how.folder the workspace
 * @param {object} [how.settings] the user's settings
 * @param {boolean} [how.trusts] whether every folder is trusted without a question
 * @param {string[]} [how.packages] packages to install
 * @param {object} [how.environment] further environment variables
 * @param {number} [how.port] where it listens; else some free port
 */
export async function startHost({ editor, folder, settings = {}, trusts = true, packages, environment = {}, port = undefined }) {
  const main = path.join(TARGET, "host/node_modules", editor, "lib/vscode/out/server-main.js");
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "kernel-scientist-vscode-"));
  const profile = path.join(home, "profile");
  const all = { ...QUIET, "security.workspace.trust.enabled": !trusts, "security.workspace.trust.startupPrompt": "never", "workbench.colorTheme": DARK[editor] };
  // In a window on a server, settings of the scope `machine` count only in the second file.
  for (const [scope, own] of [["User", { ...all, ...settings }], ["Machine", settings]]) {
    fs.mkdirSync(path.join(profile, scope), { recursive: true });
    fs.writeFileSync(path.join(profile, scope, "settings.json"), JSON.stringify(own, null, 2));
  }
  const env = {
    ...process.env,
    HOME: home,
    XDG_DATA_HOME: path.join(home, "data"),
    XDG_CONFIG_HOME: path.join(home, "config"),
    // Runtimes that are built once serve all tests, these and others.
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), ".cache"),
    EXTENSIONS_GALLERY: '{"serviceUrl":""}',
    ...environment,
  };
  for (const name of Object.keys(env)) if (name.startsWith("VSCODE_")) delete env[name];
  const extensions = path.join(home, "extensions");
  fs.cpSync(installed(editor, main, packages), extensions, { recursive: true });
  const common = ["--accept-server-license-terms", "--server-data-dir", home, "--user-data-dir", profile, "--extensions-dir", extensions];
  port ??= await freePort();
  const log = path.join(home, "server.log");
  const output = fs.openSync(log, "w");
  const args = [main, ...common, "--host", "127.0.0.1", "--port", String(port), "--without-connection-token", "--telemetry-level", "off"];
  const child = spawn(NODE, args, { env, stdio: ["ignore", output, output], detached: true });
  const base = `http://127.0.0.1:${port}`;
  await answers(base, child, log);
  return {
    base,
    home,
    profile,
    folder,
    pid: child.pid,
    /** Where the editor is installed. */
    installation: path.resolve(main, "../.."),
    /** Changes settings of the machine while the editor runs. */
    set(changed) {
      settings = { ...settings, ...changed };
      fs.writeFileSync(path.join(profile, "Machine/settings.json"), JSON.stringify(settings, null, 2));
    },
    /** The address of the workbench with these files open. */
    url(files = []) {
      const payload = files.map((file) => ["openFile", `vscode-remote://127.0.0.1:${port}${file}`]);
      const open = payload.length === 0 ? "" : `&payload=${encodeURIComponent(JSON.stringify(payload))}`;
      return `${base}/?folder=${encodeURIComponent(folder)}${open}`;
    },
    /** The logs of a kind: `remoteexthost`, `Kernel Scientist`. */
    logs(name) {
      const folder = path.join(profile, "logs");
      const files = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }) : [];
      return files.filter((file) => path.basename(file).includes(name)).map((file) => fs.readFileSync(path.join(folder, file), "utf8")).join("\n");
    },
    /** Ends it and waits for the end of all that it started; says what had to be killed. */
    async stop() {
      const under = below(child.pid);
      const gone = new Promise((resolve) => child.once("exit", resolve));
      const signal = (name) => {
        try {
          process.kill(-child.pid, name);
        } catch {
          // It is gone.
        }
      };
      if (child.exitCode === null) {
        signal("SIGTERM");
        await Promise.race([gone, sleep(5_000)]);
      }
      const left = await whoStays(under, 5_000);
      signal("SIGKILL");
      for (const { pid } of left) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has just ended.
        }
      }
      fs.closeSync(output);
      fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      return left;
    },
  };
}

/** A folder with these packages installed by an editor, once for all that start it; known by what is in them. */
function installed(editor, main, packages) {
  const hash = createHash("sha256");
  for (const file of packages) hash.update(fs.readFileSync(file));
  const folder = path.join(TARGET, "extensions", `${editor}-${hash.digest("hex").slice(0, 16)}`);
  if (fs.existsSync(folder)) return folder;
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "kernel-scientist-install-"));
  const making = path.join(home, "extensions");
  for (const file of packages) {
    const args = [main, "--accept-server-license-terms", "--server-data-dir", home, "--user-data-dir", home, "--extensions-dir", making, "--install-extension", file];
    const { stdout, stderr } = spawnSync(NODE, args, { env: { ...process.env, HOME: home, EXTENSIONS_GALLERY: '{"serviceUrl":""}' }, encoding: "utf8", timeout: 120_000 });
    if (!/successfully installed/.test(stdout)) throw new Error(`${file} could not be installed: ${stdout}\n${stderr}`.slice(0, 4000));
  }
  // What is there under its name is whole.
  fs.cpSync(making, `${folder}.part`, { recursive: true });
  fs.renameSync(`${folder}.part`, folder);
  fs.rmSync(home, { recursive: true, force: true });
  return folder;
}

async function answers(base, child, log) {
  for (const until = Date.now() + 60_000; ; await sleep(50)) {
    try {
      if ((await fetch(`${base}/version`)).ok) return;
    } catch {
      // It is not up yet.
    }
    if (Date.now() > until || child.exitCode !== null) {
      throw new Error(`the editor's server did not start: ${fs.readFileSync(log, "utf8").slice(-3000)}`);
    }
  }
}

/** Processes under one, at any depth. */
export function below(root) {
  const all = [];
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const line = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (fields[0] !== "Z") all.push({ pid: Number(name), parent: Number(fields[1]), began: fields[19], line });
    } catch {
      // It has just ended.
    }
  }
  const found = [];
  for (const wanted = [root]; wanted.length > 0; ) {
    const children = all.filter((one) => one.parent === wanted[0]);
    found.push(...children);
    wanted.splice(0, 1, ...children.map((one) => one.pid));
  }
  return found;
}

/** Whether it is the same process still, and has not ended. */
export function isThere({ pid, began }) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] !== "Z" && fields[19] === began;
  } catch {
    return false;
  }
}

/** Which of these processes are still there after a while. */
async function whoStays(processes, patience) {
  for (const until = Date.now() + patience; ; await sleep(50)) {
    const left = processes.filter(isThere);
    if (left.length === 0 || Date.now() > until) return left;
  }
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
