// The extension: it starts the server where there are kernels, and hands commands, views and the panel their client.

import * as vscode from "vscode";
import { watchActiveFile } from "./activeFile";
import { Client, startWithKernels, tellOfChanges } from "./client";
import { registerCommands } from "./commands";
import { registerFirstSteps } from "./firstSteps";
import { Keys } from "./keys/store";
import { bridgeModels } from "./models/bridge";
import { registerPanels } from "./panel/panel";
import { type KeyParams, Methods } from "./protocol";
import { offerTomlSchemas } from "./tomlSchemas";
import { registerViews } from "./views";
import { VirtualDocuments } from "./virtualDocuments";

let client: Client | undefined;

/** Called by the editor when a file is opened that may hold kernels, or a command is called. */
export function activate(context: vscode.ExtensionContext): void {
  const began = performance.now();
  const log = vscode.window.createOutputChannel("Kernel Scientist", { log: true });
  const keys = new Keys(context.secrets);
  const texts = new VirtualDocuments();
  client = new Client(context, log);
  context.subscriptions.push(log, client, texts);
  client.onRequest(Methods.key, (params: KeyParams) => keys.answer(params));
  bridgeModels(context, client);
  registerCommands(context, client, keys, texts);
  context.subscriptions.push(registerPanels(context, client), registerViews(client), registerFirstSteps(context), offerTomlSchemas(context));
  context.subscriptions.push(watchActiveFile(), tellOfChanges(client), startWithKernels(client));
  log.info(`Activated in ${(performance.now() - began).toFixed(0)} ms`);
}

/** Called by the editor when the window is closed: nothing of ours stays behind. */
export async function deactivate(): Promise<void> {
  await client?.stop();
}
