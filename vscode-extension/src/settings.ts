// The user's settings as the server wants them.

import * as vscode from "vscode";

/** Settings that are the server's own, by the names that it knows them by. */
const OF_SERVER = [
  "device",
  "provider",
  "maxUsd",
  "generations",
  "maxSeconds",
  "timeoutSeconds",
  "memoryMiB",
  "inlayHints",
  "codeLens",
  "lineHints",
  "forecasts",
  "logLevel",
] as const;

/** The server's settings: only what somebody has set, so that what the project's settings file says holds elsewhere. */
export function serverSettings(): Record<string, unknown> {
  const section = vscode.workspace.getConfiguration("kernelScientist");
  const settings: Record<string, unknown> = {};
  for (const name of OF_SERVER) {
    const set = section.inspect(name);
    const value = set?.workspaceFolderValue ?? set?.workspaceValue ?? set?.globalValue;
    if (value !== undefined && value !== "") settings[name] = value;
  }
  return settings;
}
