// The first start: a sample to try things on, and the walkthrough.

import * as vscode from "vscode";

/** The files of the sample, within the extension. */
const SAMPLE = ["transpose.hip", "transpose.bench.toml"];
const FOLDER = "sample";

/** Registers the commands of the first start. */
export function registerFirstSteps(context: vscode.ExtensionContext): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("kernelScientist.openSample", () => openSample(context)),
    vscode.commands.registerCommand("kernelScientist.openWalkthrough", () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#kernelScientist.firstSteps`, false),
    ),
  );
}

/** Opens the sample from a folder where it can be changed; what somebody made of it there stays. */
async function openSample(context: vscode.ExtensionContext): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file")?.uri ?? context.globalStorageUri;
  const goal = vscode.Uri.joinPath(folder, "kernel-scientist-sample");
  for (const name of SAMPLE) {
    const to = vscode.Uri.joinPath(goal, name);
    if (!(await exists(to))) await vscode.workspace.fs.copy(vscode.Uri.joinPath(context.extensionUri, FOLDER, name), to);
  }
  await vscode.window.showTextDocument(vscode.Uri.joinPath(goal, SAMPLE[0] ?? ""));
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
