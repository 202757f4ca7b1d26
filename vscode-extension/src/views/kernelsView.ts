// Side bar: the kernels of the workspace with what is last known of their times.

import * as vscode from "vscode";
import type { Client } from "../client";
import { type FileKernels, type KernelFigure, Methods } from "../protocol";
import { ListView } from "./listView";

/** Files that hold kernels by their name. C++ files with kernels are listed while they are open. */
export const KERNEL_FILES = "**/*.{hip,hip.cpp,hip.h}";
const LEFT_OUT = "**/{node_modules,build,target,.git}/**";
const MOST_FILES = 500;

/** A file or one of its kernels. */
export type Node = { file: FileKernels } | { file: FileKernels; kernel: KernelFigure };

/** The files and their kernels. */
export class KernelsView extends ListView<Node> {
  private files: FileKernels[] = [];

  constructor(client: Client) {
    super(client, { view: "kernelScientist.kernels", refresh: "kernelScientist.refreshKernels", isTree: true });
    const watcher = vscode.workspace.createFileSystemWatcher(KERNEL_FILES);
    const ask = (): void => {
      this.ask();
    };
    this.keep(
      watcher,
      watcher.onDidCreate(ask),
      watcher.onDidChange(ask),
      watcher.onDidDelete(ask),
      client.onDidChangeFiles(ask),
      // A forecast that was made in the background shows in the hints of its file first.
      client.hints.onDidChange((uri) => {
        if (this.view.visible) void this.look(uri);
      }),
      vscode.workspace.onDidOpenTextDocument(ask),
      vscode.workspace.onDidCloseTextDocument(ask),
      vscode.workspace.onDidSaveTextDocument(ask),
      vscode.workspace.onDidChangeWorkspaceFolders(ask),
    );
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return "kernel" in node ? kernelItem(node.file, node.kernel) : fileItem(node.file);
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return this.files.map((file) => ({ file }));
    return "kernel" in node ? [] : node.file.kernels.map((kernel) => ({ file: node.file, kernel }));
  }

  /** Looks at one file again. */
  private async look(uri: string): Promise<void> {
    if (!this.files.some((file) => file.uri === uri)) return;
    await this.told(async () => {
      const [now] = await this.client.request<FileKernels[]>(Methods.kernels, { uris: [uri] });
      this.files = this.files.map((file) => (file.uri === uri && now !== undefined ? now : file));
    });
  }

  protected override async lookUp(): Promise<void> {
    const found = await vscode.workspace.findFiles(KERNEL_FILES, LEFT_OUT, MOST_FILES);
    const open = vscode.workspace.textDocuments.filter(({ languageId, uri }) => uri.scheme === "file" && (languageId === "hip" || languageId === "cuda-cpp" || languageId === "cpp"));
    const uris = [...new Set([...found, ...open.map(({ uri }) => uri)].map((uri) => uri.toString()))].sort();
    const files = uris.length === 0 ? [] : await this.client.request<FileKernels[]>(Methods.kernels, { uris });
    // What has no kernels is no news, unless it is why it could not be read.
    this.files = files.filter(({ kernels, problem }) => kernels.length > 0 || problem !== null);
  }
}

function fileItem(file: FileKernels): vscode.TreeItem {
  const uri = vscode.Uri.parse(file.uri);
  const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Expanded);
  item.id = file.uri;
  item.iconPath = vscode.ThemeIcon.File;
  item.description = file.problem ?? folderOf(uri);
  item.tooltip = file.problem ?? (file.has_benchmark ? `${uri.fsPath}\nwith a benchmark file` : uri.fsPath);
  item.contextValue = file.problem === null ? "kernelScientist.file" : "kernelScientist.unreadable";
  return item;
}

/** The folder within the workspace; nothing for the workspace's own. */
function folderOf(uri: vscode.Uri): string {
  const path = vscode.workspace.asRelativePath(uri);
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

/** A figure for a narrow row, which is cut off at its end: `15.3 us forecast on MI300X` for `forecast 15.3 us on MI300X`. */
export function numberFirst(figure: string): string {
  return figure.replace(/^forecast (\S+ \S+)/, "$1 forecast");
}

function kernelItem(file: FileKernels, kernel: KernelFigure): vscode.TreeItem {
  const item = new vscode.TreeItem(kernel.name, vscode.TreeItemCollapsibleState.None);
  item.id = `${file.uri}#${kernel.name}@${kernel.line}`;
  item.description = kernel.figure === null ? "not timed yet" : numberFirst(kernel.figure);
  item.tooltip = `${kernel.name}: ${kernel.figure ?? "not timed yet"}`;
  const colour = kernel.figure === null || !kernel.is_current ? "disabledForeground" : kernel.is_forecast ? "charts.blue" : "charts.green";
  item.iconPath = new vscode.ThemeIcon(kernel.figure === null ? "symbol-function" : kernel.is_forecast ? "graph-line" : "watch", new vscode.ThemeColor(colour));
  item.contextValue = "kernelScientist.kernel";
  const range = new vscode.Range(kernel.line, 0, kernel.line, 0);
  item.command = { command: "vscode.open", title: "Open", arguments: [vscode.Uri.parse(file.uri), { selection: range }] };
  return item;
}
