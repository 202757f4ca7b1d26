// The language server's process and the protocol with it, from start to end. What comes of an end is decided in `client`.

import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import {
  CloseAction,
  type DynamicFeature,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type StaticFeature,
} from "vscode-languageclient/node";
import { inWords } from "./errors";

/** How long a server may take to end by itself: it needs a moment to end what it runs. */
const FAREWELL_MS = 2_000;

/** What a server is started with. */
export interface Start {
  /** Its program. */
  program: string;
  /** Folder in which it runs; absent for the home of the editor. */
  folder: string | undefined;
  /** Settings and abilities that it begins with. */
  initializationOptions: object;
  /** Where it writes what it logs. */
  log: vscode.LogOutputChannel;
  /** What the protocol's client is told besides. */
  options: LanguageClientOptions;
  /** Hears that the server ended although nobody asked it to. */
  onEnd: (how: string) => void;
}

/** A running server. */
export class LanguageServer {
  private process: ChildProcess | undefined;
  private isStopping = false;
  private constructor(readonly protocol: Protocol) {}

  /** Starts one; fails with why it could not be started. */
  static async start(how: Start): Promise<LanguageServer> {
    const stderr: string[] = [];
    const run = async (): Promise<ChildProcess> => {
      const child = await spawned(how.program, how.folder);
      server.process = child;
      child.stderr?.on("data", (text: Buffer) => stderr.splice(0, stderr.length - 5, text.toString()));
      return child;
    };
    const protocol = new Protocol("kernelScientist", "Kernel Scientist", run, {
      ...how.options,
      outputChannel: how.log,
      initializationOptions: how.initializationOptions,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          if (!server.isStopping && server.isUp) void server.hasFallen().then(how.onEnd);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      initializationFailedHandler: () => false,
    });
    const server = new LanguageServer(protocol);
    try {
      await protocol.start();
    } catch (error) {
      await server.stop();
      const said = stderr.join("").trim();
      throw new Error(`${how.program} does not answer as a language server: ${said === "" ? inWords(error) : said}`, { cause: error });
    }
    server.isUp = true;
    return server;
  }

  private isUp = false;
  private isGone = false;

  /** The number of its process. */
  get pid(): number | undefined {
    return this.process?.pid;
  }

  /** Asks it to end, and sees to it that it does. */
  async stop(): Promise<void> {
    this.isStopping = true;
    const child = this.process;
    if (!this.isGone && this.protocol.isRunning()) {
      // What fails here is a server that does not answer, and that is ended below.
      await this.protocol.stop(FAREWELL_MS).catch(() => undefined);
    }
    if (child !== undefined && !hasEnded(child)) await ended(child, FAREWELL_MS);
    await this.protocol.dispose().catch(() => undefined);
  }

  /** Its connection was closed: waits for the end of its process, and says how it ended. */
  private async hasFallen(): Promise<string> {
    this.isGone = true;
    if (this.process !== undefined && !hasEnded(this.process)) await ended(this.process, FAREWELL_MS);
    return this.inWords();
  }

  private inWords(): string {
    const { exitCode, signalCode } = this.process ?? {};
    if (typeof signalCode === "string") return `it was ended by ${signalCode}`;
    return typeof exitCode === "number" ? `it ended with status ${exitCode}` : "its connection was closed";
  }
}

/** The protocol's client, with the server's commands left to `commands`, which also know them without a server. */
class Protocol extends LanguageClient {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as the base class has it
  override registerFeature(feature: StaticFeature | DynamicFeature<any>): void {
    const method = "registrationType" in feature ? feature.registrationType.method : undefined;
    if (method !== "workspace/executeCommand") super.registerFeature(feature);
  }
}

function spawned(program: string, folder: string | undefined): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["lsp", "--stdio"], { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
    child.once("spawn", () => {
      resolve(child);
    });
    child.once("error", reject);
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits for the end of a process; one that does not end in time is killed. Its standard input is closed, which ends ours. */
async function ended(child: ChildProcess, patienceMs: number): Promise<void> {
  const end = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  child.stdin?.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  await end;
  clearTimeout(timer);
}
