// Versions that were tested or evolved: told with what can be done with them, looked at in the editor's own diff, applied.

import * as vscode from "vscode";
import type { Client } from "../client";
import { inWords } from "../errors";
import { Commands, Methods, type Population, type Preview, type ProposalNumber, type Proposed } from "../protocol";
import { showSource } from "../sourceEditor";
import { SCHEME, type VirtualDocuments } from "../virtualDocuments";
import { activeDocument } from "./target";

/** How long an edit may take to be made. */
const PATIENCE_MS = 5_000;
/** What the folder of a version's text is called, before its number. */
const FOLDER = "proposal ";

/** The number of the version that a command is about: as a message gives it, or by the address of the text in a diff. */
export function proposalOf(given: unknown): number | undefined {
  if (given instanceof vscode.Uri) {
    const number = given.scheme === SCHEME && given.path.startsWith(`/${FOLDER}`) ? parseInt(given.path.slice(FOLDER.length + 1)) : NaN;
    return Number.isNaN(number) ? undefined : number;
  }
  return typeof given === "object" && given !== null && "proposal" in given && typeof given.proposal === "number" ? given.proposal : undefined;
}

/** The tab that shows what a version changes, and the document that it changes. */
function diffOf(proposal: number): { tab: vscode.Tab; source: vscode.Uri } | undefined {
  for (const tab of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
    const { input } = tab;
    if (input instanceof vscode.TabInputTextDiff && proposalOf(input.modified) === proposal) return { tab, source: input.original };
  }
  return undefined;
}

/** Waits for a document to be changed, and not for long: the server answers before its edit is made. */
function changes(uri: vscode.Uri): Promise<boolean> {
  return new Promise((resolve) => {
    const over = (isChanged: boolean): void => {
      listening.dispose();
      clearTimeout(timer);
      resolve(isChanged);
    };
    const timer = setTimeout(over, PATIENCE_MS, false);
    const listening = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (document.uri.toString() === uri.toString() && contentChanges.length > 0) over(true);
    });
  });
}

/** The newest version of each document that could be applied. */
export class Results {
  private readonly newest = new Map<string, Proposed>();

  constructor(
    private readonly client: Client,
    private readonly texts: VirtualDocuments,
  ) {
    client.onProposed((proposed) => {
      this.newest.set(proposed.uri, proposed);
      void this.offer(proposed);
    });
    client.onDidChangeState(() => {
      // Numbers are of one server.
      this.newest.clear();
    });
  }

  /** Applies a version; without a number the best one of the document in front. */
  async apply(given?: number): Promise<void> {
    const proposal = given ?? (await this.best());
    if (proposal !== undefined) await this.put(proposal);
  }

  /** Shows what a version changes; without a number that of the document in front. */
  async showDiff(given?: number): Promise<void> {
    const proposal = given ?? (await this.best());
    if (proposal === undefined) return;
    try {
      const { uri, title, text } = await this.client.request<Preview>(Methods.preview, { proposal });
      const source = vscode.Uri.parse(uri);
      const name = source.path.split("/").at(-1) ?? "kernel.hip";
      const after = this.texts.put(`${FOLDER}${proposal}/${name}`, text);
      await vscode.commands.executeCommand("vscode.diff", source, after, `${name}: ${title}`, { preview: true });
    } catch (error) {
      void vscode.window.showWarningMessage(`Show diff: ${inWords(error)}`);
    }
  }

  /** Puts a version into its document, which then comes in the place of a diff that has no differences any more. */
  private async put(proposal: number): Promise<void> {
    const diff = diffOf(proposal);
    const isDone = diff && changes(diff.source);
    await this.client.execute(Commands.apply, { proposal });
    // One that was refused stays to be looked at.
    if (diff === undefined || (await isDone) !== true) return;
    await vscode.window.tabGroups.close(diff.tab);
    await showSource(diff.source);
  }

  /** Tells of a version; a look at its diff or its lineage asks once more. */
  private async offer(proposed: Proposed): Promise<void> {
    const { proposal, uri, run } = proposed;
    const actions = ["Apply", "Show Diff", ...(run === null ? [] : ["Show Lineage"])];
    const taken = await vscode.window.showInformationMessage(proposed.text, ...actions);
    if (taken === "Apply") await this.put(proposal);
    if (taken === "Show Diff") await this.showDiff(proposal);
    if (taken === "Show Lineage") await vscode.commands.executeCommand("kernelScientist.showLineage", { uri, run });
    if (taken === "Show Diff" || taken === "Show Lineage") await this.offer(proposed);
  }

  /** The number of the best version of the document in front: of this session, else of the newest run with a winner. */
  private async best(): Promise<number | undefined> {
    const document = activeDocument();
    if (document === undefined) return undefined;
    const uri = document.uri.toString();
    const known = this.newest.get(uri);
    if (known !== undefined) return known.proposal;
    const population = await this.client.request<Population | null>(Methods.population, { uri });
    const candidate = population?.winner?.number;
    if (population == null || candidate == null) {
      void vscode.window.showInformationMessage("There is no version of this file yet that was confirmed to be faster. Evolve looks for one.");
      return undefined;
    }
    const { proposal } = await this.client.request<ProposalNumber>(Methods.propose, { uri, run: population.run, candidate });
    return proposal;
  }
}
