// Status bar: the device and who thinks hypotheses up, what is under way, and what that has cost in this window.

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
  /** What each run of this window has cost. */
  private readonly spent = new Map<number, number>();
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
      client.jobs.onDidChange(() => {
        this.showJobs();
      }),
      client.onRunEvent(({ job, event }) => {
        if (event.event !== "generation" && event.event !== "finished") return;
        this.spent.set(job, event.spent_usd);
        this.showJobs();
      }),
    );
    ask();
  }

  dispose(): void {
    this.refresher.dispose();
    this.registrations.dispose();
  }

  private async load(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    // A bar starts no server: it shows what there is.
    if (document === undefined || !isKernelFile(document) || this.client.state !== "running") {
      this.device.hide();
      this.model.hide();
      return;
    }
    try {
      this.showStatus(await this.client.request<Status>(Methods.status, { uri: document.uri.toString() }));
    } catch {
      // The next look tells; that there is no server is told elsewhere.
      this.device.hide();
      this.model.hide();
    }
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
  }

  private showJobs(): void {
    const [first, ...others] = this.client.jobs.running;
    const usd = [...this.spent.values()].reduce((sum, spent) => sum + spent, 0);
    const cost = dollars(usd);
    if (first === undefined) {
      if (cost === "") {
        this.job.hide();
        return;
      }
      this.job.text = `$(beaker) ${cost}`;
      this.job.tooltip = `Kernel Scientist has spent ${cost} on models in this window`;
    } else {
      const more = others.length > 0 ? ` (+${others.length})` : "";
      this.job.text = `$(loading~spin) ${shortened(first.doing === "" ? first.title : `${first.title}: ${first.doing}`)}${more}${cost === "" ? "" : ` · ${cost}`}`;
      this.job.tooltip = [first, ...others].map(({ title, doing }) => `${title}: ${doing}`).join("\n");
    }
    this.job.show();
  }
}

function shortened(text: string): string {
  return text.length <= MOST ? text : `${text.slice(0, MOST - 1).trimEnd()}…`;
}
