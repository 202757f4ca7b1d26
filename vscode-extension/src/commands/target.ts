// What a command without an argument is about.

import * as vscode from "vscode";
import type { Client } from "../client";
import { isKernelFile } from "../deviceCode";

/** A document and one of its kernels. */
export interface Target {
  uri: string;
  kernel?: string;
}

/** The document in the active editor; says so where it has no kernels. */
export async function targetOf(client: Client): Promise<Target | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined || !isKernelFile(document)) {
    void vscode.window.showInformationMessage("Open a file with a HIP kernel first.");
    return undefined;
  }
  await client.start();
  return { uri: document.uri.toString() };
}
