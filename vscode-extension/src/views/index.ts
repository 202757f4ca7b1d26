// The side bar and the status bar.

import * as vscode from "vscode";
import type { Client } from "../client";
import { Commands } from "../protocol";
import { resume } from "../resume";
import { showSource } from "../sourceEditor";
import { KernelsView, type Node as KernelNode } from "./kernelsView";
import { RunsView, type Node as RunNode } from "./runsView";
import { StatusBar } from "./statusBar";

/** Shows them, and registers the commands of their rows. */
export function registerViews(client: Client): vscode.Disposable {
  const command = (name: string, run: (given: never) => Thenable<unknown>): vscode.Disposable => vscode.commands.registerCommand(name, run);
  const target = (node: KernelNode): { uri: string; kernel?: string } => ({ uri: node.file.uri, ...("kernel" in node ? { kernel: node.kernel.name } : {}) });
  /** The server works on the text that the editor has, so the file is opened first. */
  const opened = async (uri: string, name: string, argument: object): Promise<void> => {
    await showSource(vscode.Uri.parse(uri));
    await vscode.commands.executeCommand(name, argument);
  };
  const resumed = async (node: RunNode, more: boolean): Promise<void> => {
    if (!("run" in node)) return;
    const { file, run, kernel } = node.run;
    await resume(client, { uri: vscode.Uri.file(file).toString(), run, kernel, more });
  };
  return vscode.Disposable.from(
    new KernelsView(client),
    new RunsView(client),
    new StatusBar(client),
    command("kernelScientist.timeNode", (node: KernelNode) => opened(node.file.uri, Commands.time, target(node))),
    command("kernelScientist.evolveNode", (node: KernelNode) => opened(node.file.uri, Commands.evolve, target(node))),
    command("kernelScientist.lineageNode", (node: KernelNode) => vscode.commands.executeCommand("kernelScientist.showLineage", { uri: node.file.uri })),
    command("kernelScientist.stopNode", async (node: RunNode) => {
      if ("job" in node) await vscode.commands.executeCommand(Commands.stop, { job: node.job.id });
    }),
    command("kernelScientist.resumeNode", (node: RunNode) => resumed(node, false)),
    command("kernelScientist.moreNode", (node: RunNode) => resumed(node, true)),
  );
}
