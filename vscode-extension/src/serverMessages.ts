// What the server tells the user.

import * as vscode from "vscode";
import { MessageType, type ShowMessageParams } from "vscode-languageclient/node";

/** Shows a message of the server's. The editor cuts one without a button off after a line, and what went wrong is longer than that. */
export function showServerMessage({ type, message }: ShowMessageParams, log: vscode.LogOutputChannel): void {
  if (type !== MessageType.Error && type !== MessageType.Warning) {
    void vscode.window.showInformationMessage(message);
    return;
  }
  const show = type === MessageType.Error ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
  void show(message, "Show Log").then((taken) => {
    if (taken !== undefined) log.show();
  });
}
