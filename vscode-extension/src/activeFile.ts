// Whether the file in front holds kernels, for `when` clauses.

import * as vscode from "vscode";
import { isKernelFile } from "./deviceCode";

/** How long typing has to pause before a text is looked at again. */
const PAUSE_MS = 300;

/** Keeps the context key `kernelScientist.hasKernels` true to the file in front. */
export function watchActiveFile(): vscode.Disposable {
  let known: boolean | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    const has = document !== undefined && isKernelFile(document);
    if (has === known) return;
    known = has;
    void vscode.commands.executeCommand("setContext", "kernelScientist.hasKernels", has);
  };
  look();
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(look),
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document !== vscode.window.activeTextEditor?.document || document.languageId === "hip") return;
      clearTimeout(timer);
      timer = setTimeout(look, PAUSE_MS);
    }),
    new vscode.Disposable(() => {
      clearTimeout(timer);
    }),
  );
}
