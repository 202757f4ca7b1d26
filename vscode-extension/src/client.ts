// The one server of a window: started when there is something for it to do, restarted when it falls, and said so.

import * as vscode from "vscode";
import { ShowMessageNotification } from "vscode-languageclient/node";
import { type Found, findProgram } from "./serverProgram";
import { inWords } from "./errors";
import { LanguageServer } from "./languageServer";
import { isKernelFile, LANGUAGES } from "./deviceCode";
import { JobDisplay } from "./jobs";
import { type ClientAbilities, Methods, type Proposed, type RunEvent } from "./protocol";
import { showServerMessage } from "./serverMessages";
import { serverSettings } from "./settings";
import { ShownHints } from "./shownHints";

/** How the server stands. */
export type State = "off" | "starting" | "running" | "failed";

/** Falls in so many milliseconds after which it is not started again by itself. */
const FALLS = { most: 3, within: 180_000 };

/** The server as the rest of the extension sees it. Listeners outlive restarts. */
export class Client implements vscode.Disposable {
  private server: LanguageServer | undefined;
  private current: State = "off";
  /** Each start and stop waits for the one before: there is never more than one server. */
  private turn: Promise<void> = Promise.resolve();
  private falls: number[] = [];
  private readonly states = new vscode.EventEmitter<State>();
  private readonly runEvents = new vscode.EventEmitter<RunEvent>();
  private readonly proposals = new vscode.EventEmitter<Proposed>();
  private readonly files = new vscode.EventEmitter<void>();
  private readonly handlers = new Map<string, RequestHandler>();

  /** What is under way. */
  readonly jobs = new JobDisplay((job) => this.execute("kernelScientist.stop", { job }));
  /** What inlay hints say. */
  readonly hints = new ShownHints();
  /** How the server stands, when that changes. */
  readonly onDidChangeState = this.states.event;
  /** What happens in evolutions. */
  readonly onRunEvent = this.runEvents.event;
  /** Versions that could be put into a document. */
  readonly onProposed = this.proposals.event;
  /** Files that the server depends on were changed, by whomever: settings files, benchmarks. */
  readonly onDidChangeFiles = this.files.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
  ) {}

  /** How the server stands. */
  get state(): State {
    return this.current;
  }

  /** Number of the server's process. */
  get pid(): number | undefined {
    return this.server?.pid;
  }

  /** Answers a request of the server's. To be called before the first start. */
  onRequest(method: string, handler: RequestHandler): void {
    this.handlers.set(method, handler);
  }

  /** Sends a request; starts the server if need be. */
  async request<Answer>(method: string, params: object): Promise<Answer> {
    const server = await this.running();
    return server.protocol.sendRequest<Answer>(method, params);
  }

  /** Carries out one of the server's commands; what goes wrong is shown by the server itself. */
  async execute(command: string, argument: object): Promise<unknown> {
    return this.request("workspace/executeCommand", { command, arguments: [argument] });
  }

  /** Tells the server something. Without a server there is nobody to tell. */
  async notify(method: string, params: object): Promise<void> {
    await this.server?.protocol.sendNotification(method, params);
  }

  /** Starts the server unless there is one. A start that fails is shown once, and then waits for the user. */
  start(): Promise<void> {
    return this.next(async () => {
      if (this.server === undefined && this.current !== "failed") await this.begin();
    });
  }

  /** Ends the server and starts one again. */
  restart(): Promise<void> {
    this.falls = [];
    return this.next(async () => {
      await this.end();
      await this.begin();
    });
  }

  /** Ends the server. */
  stop(): Promise<void> {
    return this.next(() => this.end());
  }

  dispose(): void {
    this.jobs.dispose();
    this.states.dispose();
    this.runEvents.dispose();
    this.proposals.dispose();
    this.files.dispose();
    this.hints.dispose();
  }

  /** Where the server's program is. */
  findProgram(): Found {
    return findProgram({
      setting: vscode.workspace.getConfiguration("kernelScientist").get("server.path", "").trim(),
      extension: this.context.extensionPath,
      platform: process.platform,
      arch: process.arch,
      path: process.env["PATH"],
      workspace: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    });
  }

  private next(step: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(step, step);
    return this.turn;
  }

  private async running(): Promise<LanguageServer> {
    await this.start();
    if (this.server === undefined) throw new Error("The Kernel Scientist server is not running. Its log says why.");
    return this.server;
  }

  private async begin(): Promise<void> {
    this.becomes("starting");
    const found = this.findProgram();
    if ("problem" in found) {
      this.fails(found.problem);
      return;
    }
    this.log.info(`Starting ${found.program} (${found.from})`);
    try {
      const server = await LanguageServer.start({
        program: found.program,
        folder: vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file")?.uri.fsPath,
        initializationOptions: { ...serverSettings(), ...abilities() },
        log: this.log,
        options: {
          documentSelector: [...LANGUAGES.map((language) => ({ scheme: "file", language })), { scheme: "file", pattern: "**/*.bench.toml" }],
          middleware: {
            handleWorkDoneProgress: (token, params, next) => {
              this.jobs.heard(token, params);
              // Shown by us; the client only learns that it is over.
              if (params.kind === "end") next(token, params);
            },
            provideInlayHints: async (document, range, token, next) => {
              const hints = (await next(document, range, token)) ?? [];
              this.hints.heard(document.uri.toString(), hints);
              return hints;
            },
            workspace: {
              configuration: (params, _, next) => withOurs(params.items, next(params, new vscode.CancellationTokenSource().token)),
              didChangeWatchedFile: async (event, next) => {
                await next(event);
                this.files.fire();
              },
            },
          },
        },
        // By its turn it may have been ended for a restart, and the server that runs then is another one.
        onEnd: (how) => void this.next(async () => (this.server === server ? this.fell(how) : undefined)),
      });
      this.server = server;
    } catch (error) {
      this.fails(inWords(error));
      return;
    }
    const { protocol } = this.server;
    // In place of the protocol client's own way.
    protocol.onNotification(ShowMessageNotification.type, (params) => {
      showServerMessage(params, this.log);
    });
    protocol.onNotification(Methods.runEvent, (event: RunEvent) => {
      this.runEvents.fire(event);
    });
    protocol.onNotification(Methods.proposed, (proposed: Proposed) => {
      this.proposals.fire(proposed);
    });
    for (const [method, handler] of this.handlers) protocol.onRequest(method, handler);
    this.becomes("running");
  }

  private async end(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    await server?.stop();
    this.jobs.allEnded();
    this.becomes("off");
  }

  /** The server ended although nobody asked it to: it is started again, unless that happens all the time. */
  private async fell(how: string): Promise<void> {
    this.log.error(`The server ended unexpectedly: ${how}`);
    await this.end();
    const now = Date.now();
    this.falls = [...this.falls.filter((at) => now - at < FALLS.within), now];
    if (this.falls.length > FALLS.most) {
      this.fails(`it ended ${this.falls.length} times in ${FALLS.within / 60_000} minutes (the last time ${how})`);
      return;
    }
    await this.begin();
    if (this.state !== "running") return;
    const message = `The Kernel Scientist server ended unexpectedly (${how}) and was started again. What it was doing has to be started again; an evolution can be resumed.`;
    void vscode.window.showWarningMessage(message, "Show Log").then((taken) => {
      if (taken !== undefined) this.log.show();
    });
  }

  private fails(why: string): void {
    this.server = undefined;
    this.becomes("failed");
    this.log.error(`The server cannot be started: ${why}`);
    const actions = ["Open Setting", "Try Again", "Show Log"] as const;
    void vscode.window.showErrorMessage(`The Kernel Scientist server cannot be started: ${why}.`, ...actions).then((taken) => {
      if (taken === "Open Setting") void openSetting();
      if (taken === "Try Again") void this.restart();
      if (taken === "Show Log") this.log.show();
    });
  }

  private becomes(state: State): void {
    if (state === this.current) return;
    this.current = state;
    void vscode.commands.executeCommand("setContext", "kernelScientist.state", state);
    this.states.fire(state);
  }
}

/** What this client can do, and whether the workspace may be built, run and sent. */
function abilities(): ClientAbilities {
  return { editorModels: true, keys: true, proposals: true, trusted: vscode.workspace.isTrusted };
}

/** Tells the server of changes of settings and of trust. */
export function tellOfChanges(client: Client): vscode.Disposable {
  const tell = (settings: object): void => void client.notify("workspace/didChangeConfiguration", { settings });
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("kernelScientist.server.path")) void client.restart();
      // Sent at once, and not to be asked for: what is asked of the server next is about these settings.
      else if (change.affectsConfiguration("kernelScientist")) tell({ kernelScientist: serverSettings() });
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      tell({ trusted: true });
    }),
  );
}

/** Shows the setting that names the program. In a window on another machine it is that machine's. */
async function openSetting(): Promise<void> {
  const name = "kernelScientist.server.path";
  if (vscode.env.remoteName === undefined) await vscode.commands.executeCommand("workbench.action.openSettings", name);
  else await vscode.commands.executeCommand("workbench.action.openRemoteSettings", { query: name });
}

type RequestHandler = (params: never, token: vscode.CancellationToken) => unknown;

/** What the server gets for the settings that it asks for. */
async function withOurs(items: readonly { section?: string }[], asked: unknown): Promise<unknown[]> {
  const answers = (await asked) as unknown[];
  return answers.map((answer, index) => (items[index]?.section === "kernelScientist" ? serverSettings() : answer));
}

/** Starts the server as soon as a kernel is open. */
export function startWithKernels(client: Client): vscode.Disposable {
  const look = (document: vscode.TextDocument): void => {
    if (client.state === "off" && isKernelFile(document)) void client.start();
  };
  vscode.workspace.textDocuments.forEach(look);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidSaveTextDocument(look),
    vscode.window.onDidChangeActiveTextEditor((editor) => {
      if (editor !== undefined) look(editor.document);
    }),
  );
}
