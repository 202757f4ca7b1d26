// Texts that are shown and belong to no file: what a proposal makes of a document, machine code, what the doctor says.

import * as vscode from "vscode";

/** Scheme of their addresses. */
export const SCHEME = "kernel-scientist";

/** Texts by their addresses; those whose editors are closed are forgotten. */
export class VirtualDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private readonly registrations: vscode.Disposable;
  readonly onDidChange = this.changes.event;

  constructor() {
    this.registrations = vscode.Disposable.from(
      this.changes,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
    );
  }

  /** The address of a text under a name, whose ending decides the language. A text that is shown there already is replaced. */
  put(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.texts.set(uri.toString(), text);
    this.changes.fire(uri);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "This text is not at hand any more.\n";
  }

  dispose(): void {
    this.registrations.dispose();
  }
}
