// What the lists of the side bar have in common: looked up anew when something happened, and only while somebody looks.

import * as vscode from "vscode";
import type { Client } from "../client";
import { inWords } from "../errors";
import { Refresher } from "../panel/refresher";

const PAUSE_MS = 1000;

/** How a list is known to the editor. */
export interface ListNames {
  /** The view. */
  view: string;
  /** The command that looks again. */
  refresh: string;
  /** Its rows have rows below them. */
  isTree?: boolean;
}

/** A list of the side bar. */
export abstract class ListView<Node> implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  protected readonly view: vscode.TreeView<Node>;
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly refresher = new Refresher(() => this.load(), PAUSE_MS);
  private readonly registrations: { dispose: () => unknown }[];
  readonly onDidChangeTreeData = this.changes.event;

  protected constructor(
    protected readonly client: Client,
    names: ListNames,
  ) {
    this.view = vscode.window.createTreeView(names.view, { treeDataProvider: this, showCollapseAll: names.isTree ?? false });
    const ask = (): void => {
      this.ask();
    };
    this.registrations = [
      this.view,
      this.changes,
      this.refresher,
      this.view.onDidChangeVisibility(ask),
      client.onDidChangeState(ask),
      client.jobs.onDidEnd(ask),
      vscode.commands.registerCommand(names.refresh, ask),
    ];
  }

  abstract getTreeItem(node: Node): vscode.TreeItem;
  abstract getChildren(node?: Node): Node[];

  dispose(): void {
    vscode.Disposable.from(...this.registrations).dispose();
  }

  /** Looks up what is listed. */
  protected abstract lookUp(): Promise<void>;

  /** Keeps something for as long as the list is there. */
  protected keep(...registrations: vscode.Disposable[]): void {
    this.registrations.push(...registrations);
  }

  /** Nobody looks, nothing is looked for; and no server is started for a list. */
  protected ask(): void {
    if (this.view.visible) this.refresher.ask();
  }

  /** Shows what is known now. */
  protected show(): void {
    this.changes.fire(undefined);
  }

  /** Does something with the server; what goes wrong is said over the list. */
  protected async told(doing: () => Promise<void>): Promise<void> {
    try {
      await doing();
      this.view.message = "";
    } catch (error) {
      this.view.message = inWords(error);
    }
    this.show();
  }

  private load(): Promise<void> {
    return this.told(() => this.lookUp());
  }
}
