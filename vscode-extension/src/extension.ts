// The extension: it starts the server where there are kernels, and hands commands, views and the panel their client.

import * as vscode from "vscode";
import { Client, startWithKernels } from "./client";
import { registerCommands } from "./commands";

let client: Client | undefined;

/** Called by the editor when a file is opened that may hold kernels, or a command is called. */
export function activate(context: vscode.ExtensionContext): void {
  const began = performance.now();
  const log = vscode.window.createOutputChannel("Kernel Scientist", { log: true });
  client = new Client(context, log);
  context.subscriptions.push(log, client);
  registerCommands(context, client);
  context.subscriptions.push(startWithKernels(client));
  log.info(`Activated in ${(performance.now() - began).toFixed(0)} ms`);
}

/** Called by the editor when the window is closed: nothing of ours stays behind. */
export async function deactivate(): Promise<void> {
  await client?.stop();
}
