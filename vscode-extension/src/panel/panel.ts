// Lineage panels: one a file, live while an evolution runs, there again after a reload of the window.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Client } from "../client";
import { inWords } from "../errors";
import { Commands, Methods, type Population, type ProposalNumber, type Run, type RunEvent, type VersionOf } from "../protocol";
import { resume } from "../resume";
import { besidePanels, showSource } from "../sourceEditor";
import { html } from "./html";
import { ProgressLine } from "./progress";
import { Refresher } from "./refresher";
import { provideVersions, versionUri } from "./versions";
import type { Action, FromPage, PanelState, ToPage } from "./webview/messages";

/** The panels' kind, for the editor. */
const VIEW = "kernelScientist.lineage";
/** Least time between two questions for a population. */
const PAUSE_MS = 400;

/** Shows panels when they are asked for, and those that were open before a reload. */
export function registerPanels(context: vscode.ExtensionContext, client: Client): vscode.Disposable {
  const panels = new Map<string, LineagePanel>();
  const root = vscode.Uri.joinPath(context.extensionUri, "dist");
  const take = (panel: vscode.WebviewPanel, state: PanelState): void => {
    const lineage = new LineagePanel(panel, root, client, state);
    panels.set(state.uri, lineage);
    panel.onDidDispose(() => {
      lineage.dispose();
      panels.delete(state.uri);
    });
  };
  const show = (state: PanelState): void => {
    const known = panels.get(state.uri);
    if (known !== undefined) {
      known.reveal(state.run);
      return;
    }
    take(vscode.window.createWebviewPanel(VIEW, "Lineage", { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false }), state);
  };
  return vscode.Disposable.from(
    provideVersions(client),
    vscode.commands.registerCommand("kernelScientist.showLineage", (given?: unknown) => {
      const state = stateOf(given) ?? stateOf({ uri: vscode.window.activeTextEditor?.document.uri.toString() });
      if (state === undefined) void vscode.window.showInformationMessage("Open a file with a HIP kernel first (a __global__ function).");
      else show(state);
    }),
    vscode.window.registerWebviewPanelSerializer(VIEW, {
      deserializeWebviewPanel: (panel, state: unknown) => {
        const known = stateOf(state);
        // A page that never came to show anything has nothing to come back to.
        if (known === undefined) panel.dispose();
        else take(panel, known);
        return Promise.resolve();
      },
    }),
    client.onRunEvent((event) => panels.get(event.uri)?.hear(event)),
    // Until then its run was held, and could not be resumed.
    client.jobs.onDidEnd(() => {
      panels.forEach((panel) => { panel.refresh(); });
    }),
    client.onDidChangeState((state) => {
      if (state === "running") panels.forEach((panel) => { panel.refresh(); });
    }),
    { dispose: () => { panels.forEach((panel) => { panel.close(); }); } },
  );
}

/** A panel's state, as commands and the editor hand it over. */
function stateOf(given: unknown): PanelState | undefined {
  if (typeof given !== "object" || given === null || !("uri" in given) || typeof given.uri !== "string") return undefined;
  const run = "run" in given && typeof given.run === "number" ? { run: given.run } : {};
  return { uri: given.uri, ...run };
}

class LineagePanel {
  private readonly progress = new ProgressLine();
  private readonly refresher = new Refresher(() => this.load(), PAUSE_MS);
  private population: Population | null = null;
  private runs: Run[] = [];
  private job: number | undefined;
  private isListening = false;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    root: vscode.Uri,
    private readonly client: Client,
    private state: PanelState,
  ) {
    const { webview } = panel;
    panel.title = `Lineage: ${this.name}`;
    const icon = (theme: string): vscode.Uri => vscode.Uri.joinPath(root, "..", "icons", `lineage-${theme}.svg`);
    panel.iconPath = { light: icon("light"), dark: icon("dark") };
    webview.options = { enableScripts: true, localResourceRoots: [root] };
    const file = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, name)).toString();
    webview.onDidReceiveMessage((message: FromPage) => void this.heard(message));
    webview.html = html({ script: file("panel.js"), style: file("panel.css"), source: webview.cspSource, nonce: randomBytes(16).toString("base64") });
  }

  /** Puts it in front; with a run, on that run. */
  reveal(run: number | undefined): void {
    if (run !== undefined) this.pick(run);
    this.panel.reveal(undefined, false);
  }

  /** Something happened in a run of its file. */
  hear({ job, event }: RunEvent): void {
    if (event.event === "started" && this.state.run !== event.run) {
      // Whoever starts a run wants to see that one.
      this.state = { uri: this.state.uri };
    }
    const isOver = event.event === "finished";
    this.job = isOver ? undefined : job;
    if (this.progress.hear(event)) this.refresh();
    this.send({ type: "progress", line: this.progress.line });
  }

  /** Looks again at what is on record. */
  refresh(): void {
    this.refresher.ask();
  }

  close(): void {
    this.panel.dispose();
  }

  dispose(): void {
    this.refresher.dispose();
  }

  private get name(): string {
    return vscode.Uri.parse(this.state.uri).path.split("/").at(-1) ?? "";
  }

  private send(message: ToPage): void {
    if (this.isListening) void this.panel.webview.postMessage(message);
  }

  private async load(): Promise<void> {
    const { uri, run } = this.state;
    let problem: string | null = null;
    try {
      this.runs = await this.client.request<Run[]>(Methods.runs, { uri });
      this.population = await this.client.request<Population | null>(Methods.population, { uri, ...(run === undefined ? {} : { run }) });
    } catch (error) {
      problem = inWords(error);
    }
    this.send({ type: "show", data: { uri, name: this.name, population: this.population, runs: this.runs, problem } });
  }

  private pick(run: number): void {
    const isNewest = run === this.runs[0]?.run;
    this.state = { uri: this.state.uri, ...(isNewest ? {} : { run }) };
    this.refresh();
  }

  private async heard(message: FromPage): Promise<void> {
    try {
      switch (message.type) {
        case "ready":
          this.isListening = true;
          this.send({ type: "progress", line: this.progress.line });
          this.refresh();
          break;
        case "run":
          this.pick(message.run);
          break;
        case "open":
          await showSource(vscode.Uri.parse(this.state.uri));
          break;
        case "diff":
          await this.showDiff(message.run, message.of, message.against, message.title);
          break;
        case "do":
          await this.carryOut(message.action);
          break;
      }
    } catch (error) {
      void vscode.window.showErrorMessage(inWords(error));
    }
  }

  private async showDiff(run: number, of: VersionOf, against: number, title: string): Promise<void> {
    const before = versionUri(this.name, run, { candidate: against });
    await vscode.commands.executeCommand("vscode.diff", before, versionUri(this.name, run, of), `${this.name}: ${title}`, { viewColumn: besidePanels(), preserveFocus: true, preview: true });
  }

  private async carryOut(action: Action): Promise<void> {
    const { uri } = this.state;
    const { population } = this;
    if (action === "stop") {
      await vscode.commands.executeCommand(Commands.stop, this.job === undefined ? undefined : { job: this.job });
      return;
    }
    // What is worked on has to be open: the server works on the text that the editor has.
    await showSource(vscode.Uri.parse(uri));
    if (action === "evolve") {
      await vscode.commands.executeCommand(Commands.evolve, { uri });
    } else if (population !== null && (action === "resume" || action === "more")) {
      await resume(this.client, { uri, run: population.run, kernel: population.kernel, more: action === "more" });
    } else if (population?.winner?.number != null) {
      const proposal = await this.client.request<ProposalNumber>(Methods.propose, { uri, run: population.run, candidate: population.winner.number });
      await vscode.commands.executeCommand("kernelScientist.applyBest", proposal);
    }
  }
}
