// Side bar: what is under way, and the runs on record, which can be looked at and resumed.

import * as vscode from "vscode";
import type { Client } from "../client";
import type { Job } from "../jobs";
import { Methods, type Run } from "../protocol";
import { ListView } from "./listView";
import { ago, runIcon, runWords } from "./runWords";

/** A job of this window, or a run. */
export type Node = { job: Job } | { run: Run };

/** What is under way, and the runs on record. */
export class RunsView extends ListView<Node> {
  private runs: Run[] = [];

  constructor(client: Client) {
    super(client, { view: "kernelScientist.runs", refresh: "kernelScientist.refreshRuns" });
    this.keep(
      client.onRunEvent(({ event }) => {
        if (event.event === "started" || event.event === "finished" || event.event === "generation") this.ask();
      }),
      client.jobs.onDidChange(() => {
        this.show();
      }),
    );
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return "job" in node ? jobItem(node.job) : runItem(node.run, Date.now());
  }

  getChildren(node?: Node): Node[] {
    if (node !== undefined) return [];
    return [...this.client.jobs.running.map((job) => ({ job })), ...this.runs.filter((run) => !isOfThisWindow(run, this.client.jobs.running)).map((run) => ({ run }))];
  }

  protected override async lookUp(): Promise<void> {
    const runs = await this.client.request<Run[]>(Methods.runs, {});
    // Runs elsewhere are other folders' business.
    this.runs = runs.filter(({ file }) => vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) !== undefined);
  }
}

/** Whether a run is one of the jobs above it, which say more of it. */
function isOfThisWindow(run: Run, jobs: readonly Job[]): boolean {
  return run.state === "open" && run.is_held && jobs.some(({ title }) => title.startsWith("Evolve"));
}

function jobItem(job: Job): vscode.TreeItem {
  const item = new vscode.TreeItem(job.title);
  item.id = `job ${job.id}`;
  item.description = job.doing;
  item.tooltip = `${job.title}: ${job.doing}`;
  item.iconPath = new vscode.ThemeIcon("loading~spin");
  item.contextValue = "kernelScientist.job";
  return item;
}

function runItem(run: Run, now: number): vscode.TreeItem {
  const uri = vscode.Uri.file(run.file);
  const name = uri.path.split("/").at(-1) ?? run.file;
  const item = new vscode.TreeItem(run.kernel === null ? name : `${name} · ${run.kernel}`);
  item.id = `run ${run.run}`;
  item.description = `${runWords(run)} · ${ago(run.at_ms, now)}`;
  item.tooltip = new vscode.MarkdownString(undefined).appendText(tooltip(run));
  const { icon, colour } = runIcon(run);
  item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
  item.contextValue = kind(run);
  item.command = { command: "kernelScientist.showLineage", title: "Show Lineage", arguments: [{ uri: uri.toString(), run: run.run }] };
  return item;
}

/** What can be done with a run. */
function kind({ state, is_held, out_of_budget }: Run): string {
  if (is_held) return "kernelScientist.run";
  if (state !== "finished") return "kernelScientist.resumable";
  return out_of_budget === true ? "kernelScientist.outOfBudget" : "kernelScientist.run";
}

function tooltip(run: Run): string {
  const provider = run.provider === "catalog" ? "the catalog (rule-based)" : run.provider;
  const lines = [`Run ${run.run} of ${run.file}`, `on ${run.device}, hypotheses by ${provider}`, runWords(run), ...(run.why === null ? [] : [run.why]), new Date(run.at_ms).toLocaleString()];
  return lines.join("\n\n");
}
