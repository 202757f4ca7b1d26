// The code that the GPU would run, beside its source.

import * as vscode from "vscode";
import type { Client } from "../client";
import { inWords } from "../errors";
import { type MachineCode, Methods } from "../protocol";
import type { VirtualDocuments } from "../virtualDocuments";
import { activeKernel } from "./target";

/** Shows the machine code of the document in front, at the kernel at the cursor. */
export async function showMachineCode(client: Client, texts: VirtualDocuments): Promise<void> {
  const target = await activeKernel(client);
  if (target === undefined) return;
  const source = vscode.Uri.parse(target.uri);
  const options = { location: vscode.ProgressLocation.Window, title: "Generating machine code" };
  try {
    const { arch, text } = await vscode.window.withProgress(options, () => client.request<MachineCode>(Methods.machineCode, { uri: target.uri }));
    const uri = texts.put(`${source.path.split("/").at(-1) ?? "kernel"} for ${arch}.s`, text);
    const editor = await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside, preview: true });
    const at = new vscode.Position(lineOf(text, target.kernel ?? ""), 0);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.AtTop);
  } catch (error) {
    void vscode.window.showErrorMessage(`Machine code: ${inWords(error)}`);
  }
}

/** The line on which a kernel's code begins: that of its label, whose name is mangled. The first line where there is none. */
export function lineOf(assembly: string, kernel: string): number {
  const name = kernel.split("::").at(-1) ?? kernel;
  const mangled = new RegExp(`^_Z[A-Za-z0-9_]*${name.length}${name}[A-Za-z0-9_.]*:`);
  const plain = new RegExp(`^${name}:`);
  const lines = assembly.split("\n");
  return Math.max(0, lines.findIndex((line) => mangled.test(line) || plain.test(line)));
}
