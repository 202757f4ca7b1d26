// What inlay hints say: when that changes, so have the figures that other views show.

import * as vscode from "vscode";

/** The hints that the editor was last given, by document. */
export class ShownHints implements vscode.Disposable {
  private readonly words = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<string>();
  /** The hints of a document say something else; the event is its address. */
  readonly onDidChange = this.changes.event;

  /** The editor gets these hints. */
  heard(uri: string, hints: readonly vscode.InlayHint[]): void {
    const words = hints.map(({ label }) => (typeof label === "string" ? label : label.map(({ value }) => value).join(""))).join("\n");
    if (this.words.get(uri) === words) return;
    this.words.set(uri, words);
    this.changes.fire(uri);
  }

  dispose(): void {
    this.changes.dispose();
  }
}
