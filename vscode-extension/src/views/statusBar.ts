// Status bar: the device and who thinks hypotheses up, what is under way, and what the runs of the file have cost.

import * as vscode from "vscode";
import type { Client } from "../client";
import { isKernelFile } from "../deviceCode";
import { Refresher } from "../panel/refresher";
import { dollars } from "../panel/webview/words";
import { Methods, type Status } from "../protocol";

const PAUSE_MS = 500;
/** Longest text of a job in the bar. */
const MOST = 60;

export class StatusBar implements vscode.Disposable {
  private readonly device = vscode.window.createStatusBarItem("kernelScientist.device", vscode.StatusBarAlignment.Right, 99.3);
  private readonly model = vscode.window.createStatusBarItem("kernelScientist.model", vscode.StatusBarAlignment.Right, 99.2);
  private readonly job = vscode.window.createStatusBarItem("kernelScientist.job", vscode.StatusBarAlignment.Left, -10);
  private readonly refresher = new Refresher(() => this.load(), PAUSE_MS);
  /** What the runs of the file in front have cost, in dollars. */
  private spent = 0;
  private readonly registrations: vscode.Disposable;

  constructor(private readonly client: Client) {
    this.device.name = "Kernel Scientist: Device";
    this.device.command = "kernelScientist.pickDevice";
    this.model.name = "Kernel Scientist: Model";
    this.model.command = "kernelScientist.pickModel";
    this.job.name = "Kernel Scientist: Job";
    this.job.command = "kernelScientist.runs.focus";
    const ask = (): void => {
      this.refresher.ask();
    };
    this.registrations = vscode.Disposable.from(
      this.device,
      this.model,
      this.job,
      vscode.window.onDidChangeActiveTextEditor(ask),
      vscode.workspace.onDidSaveTextDocument(ask),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("kernelScientist")) ask();
      }),
      client.onDidChangeState(ask),
      client.onDidChangeFiles(ask),
      client.jobs.onDidEnd(ask),
      client.jobs.onDidChange(() => {
        this.showJobs();
      }),
      client.onRunEvent(({ event }) => {
        if (event.event === "generation" || event.event === "finished") ask();
      }),
    );
    ask();
  }

  dispose(): void {
    this.refresher.dispose();
    this.registrations.dispose();
  }

  private async load(): Promise<void> {
    const document = documentInFront();
    // A bar starts no server: it shows what there is.
    if (document === undefined || this.client.state !== "running") {
      this.hide();
      return;
    }
    try {
      this.showStatus(await this.client.request<Status>(Methods.status, { uri: document.uri.toString() }));
    } catch {
      // The next look tells; that there is no server is told elsewhere.
      this.hide();
    }
  }

  private hide(): void {
    this.device.hide();
    this.model.hide();
    this.spent = 0;
    this.showJobs();
  }

  private showStatus(status: Status): void {
    const { device_title: device, is_forecast: isForecast, provider, problem } = status;
    const warning = problem === null ? undefined : new vscode.ThemeColor("statusBarItem.warningBackground");
    this.device.text = `$(circuit-board) ${device}${isForecast ? " (forecast)" : ""}`;
    this.device.tooltip = `${problem ?? (isForecast ? `Times on ${device} are forecasts, not measurements` : `Times are taken on ${device}`)}\nPick Device`;
    this.device.accessibilityInformation = { label: `Kernel Scientist device: ${device}${isForecast ? ", forecast" : ""}` };
    this.device.backgroundColor = warning;
    this.model.text = `$(lightbulb) ${shortened(provider)}`;
    this.model.tooltip = `Hypotheses by ${provider === "catalog" ? "the catalog (rule-based, offline)" : provider}\nPick Model`;
    this.model.accessibilityInformation = { label: `Kernel Scientist hypotheses by ${provider}` };
    this.device.show();
    this.model.show();
    this.spent = status.spent_usd;
    this.showJobs();
  }

  private showJobs(): void {
    const [first, ...others] = this.client.jobs.running;
    const cost = dollars(this.spent);
    if (first === undefined) {
      if (cost === "") {
        this.job.hide();
        return;
      }
      this.job.text = `$(beaker) ${cost}`;
      this.job.tooltip = `Models have cost ${cost} in all runs of this file`;
    } else {
      const more = others.length > 0 ? ` (+${others.length})` : "";
      this.job.text = `$(loading~spin) ${shortened(first.doing === "" ? first.title : `${first.title}: ${first.doing}`)}${more}${cost === "" ? "" : ` · ${cost}`}`;
      this.job.tooltip = [first, ...others].map(({ title, doing }) => `${title}: ${doing}`).join("\n");
    }
    this.job.show();
  }
}

/** The file with kernels in front, or one beside it where a panel is in front. */
function documentInFront(): vscode.TextDocument | undefined {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  const editors = activeTextEditor === undefined ? visibleTextEditors : [activeTextEditor];
  return editors.map(({ document }) => document).find(isKernelFile);
}

function shortened(text: string): string {
  return text.length <= MOST ? text : `${text.slice(0, MOST - 1).trimEnd()}…`;
}
