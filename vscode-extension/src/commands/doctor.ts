// What is and is not usable on this machine, as the program's doctor says it.

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { Client } from "../client";
import type { VirtualDocuments } from "../virtualDocuments";

/** The doctor builds and runs something to see whether it can. */
const PATIENCE_MS = 120_000;

/** Shows what the doctor says. */
export async function showDoctor(client: Client, texts: VirtualDocuments): Promise<void> {
  const found = client.findProgram();
  if ("problem" in found) {
    await client.restart();
    return;
  }
  const options = { location: vscode.ProgressLocation.Notification, title: "Looking at what is usable here" };
  const said = await vscode.window.withProgress(options, () => output(found.program));
  await vscode.window.showTextDocument(texts.put("doctor.txt", said), { preview: true });
}

/** What the doctor prints, whether all is well or not: its status says the latter. */
function output(program: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, ["doctor"], { timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      resolve(stdout === "" && error !== null ? `${error.message}\n${stderr}` : stdout + stderr);
    });
  });
}
