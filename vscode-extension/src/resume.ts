// Goes on with a run that was stopped or cut off.

import * as vscode from "vscode";
import type { Client } from "./client";
import { Commands } from "./protocol";
import { showSource } from "./sourceEditor";

/** How long an evolution that was just stopped may take to end. */
const PATIENCE_MS = 3000;

/** Resumes a run, with as much again as it began with where `more` says so; its source is opened, since the server works on the text that the editor has. */
export async function resume(client: Client, target: { uri: string; run: number; kernel: string | null; more?: boolean }): Promise<void> {
  const { uri, run, kernel, more = false } = target;
  await showSource(vscode.Uri.parse(uri));
  // A run is on record as stopped a moment before its job has ended, and there is one job at a time.
  await ended(client);
  await vscode.commands.executeCommand(Commands.resume, { uri, run, ...(kernel === null ? {} : { kernel }), ...(more ? { more } : {}) });
}

/** Waits for the end of evolutions, and not for long: another one may go on elsewhere. */
function ended(client: Client): Promise<void> {
  const isUnderWay = (): boolean => client.jobs.running.some(({ title }) => title.startsWith("Evolve"));
  if (!isUnderWay()) return Promise.resolve();
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      listening.dispose();
      resolve();
    };
    const timer = setTimeout(over, PATIENCE_MS);
    const listening = client.jobs.onDidChange(() => {
      if (!isUnderWay()) over();
    });
  });
}
