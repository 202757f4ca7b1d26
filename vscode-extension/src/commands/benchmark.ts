// A first benchmark file for a source, written down and shown beside it.

import * as vscode from "vscode";
import type { Client } from "../client";
import { Commands } from "../protocol";
import type { Target } from "./target";

/** How long the server and the editor may take to make the file. */
const PATIENCE_MS = 10_000;

/** Has the server write a benchmark file, keeps it, and shows it beside the source. Whether it is there. */
export async function createBenchmark(client: Client, target: Target): Promise<boolean> {
  const uri = benchmarkOf(vscode.Uri.parse(target.uri));
  const made = appears(uri);
  await client.execute(Commands.createBenchmark, target);
  const document = await made;
  // The server says why not.
  if (document === undefined) return false;
  await document.save();
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  return true;
}

/** `gemm.bench.toml` for `gemm.hip`. */
export function benchmarkOf(source: vscode.Uri): vscode.Uri {
  return source.with({ path: source.path.replace(/\.[^./]*$/, "") + ".bench.toml" });
}

/** Waits for a document to have a text. */
function appears(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  const isIt = (document: vscode.TextDocument): boolean => document.uri.toString() === uri.toString() && document.getText() !== "";
  return new Promise((resolve) => {
    const over = (document?: vscode.TextDocument): void => {
      watching.dispose();
      clearTimeout(timer);
      resolve(document);
    };
    const look = (document: vscode.TextDocument): void => {
      if (isIt(document)) over(document);
    };
    const timer = setTimeout(over, PATIENCE_MS);
    const watching = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument(look),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        look(document);
      }),
    );
  });
}
