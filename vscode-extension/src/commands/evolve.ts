// Evolve at one click: what is missing is asked for and made, what it will cost is said, and then it begins.

import * as vscode from "vscode";
import type { Client } from "../client";
import { keyedProvider } from "../keys/providers";
import type { Keys } from "../keys/store";
import { Commands, Methods, type Plan } from "../protocol";
import { createBenchmark } from "./benchmark";
import type { Target } from "./target";

/** How long a plan may take before it is shown that there is one being made. */
const PATIENCE_MS = 700;

/** Begins an evolution, unless the user goes back on it. */
export async function evolve(client: Client, keys: Keys, target: Target): Promise<void> {
  if (!(await isTrusted())) return;
  const plan = await planWithKey(client, keys, target);
  if (plan === undefined) return;
  if (plan.problem !== null) {
    void vscode.window.showErrorMessage(`Evolve: ${plan.problem}`);
    return;
  }
  if (plan.fed_by === "signature" && !(await settleBenchmark(client, target))) return;
  if (plan.estimate !== null && !(await agreesTo(plan))) return;
  await client.execute(Commands.evolve, target);
}

/** Whether the folder is trusted; else the user is shown the way. */
export async function isTrusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const taken = await vscode.window.showWarningMessage(
    "This folder is not trusted, so nothing in it is built, run or sent to a model.",
    "Manage Workspace Trust",
  );
  if (taken !== undefined) await vscode.commands.executeCommand("workbench.trust.manage");
  return false;
}

/** The plan; where a key is missing it is asked for once. */
async function planWithKey(client: Client, keys: Keys, target: Target): Promise<Plan | undefined> {
  const plan = await planFor(client, target);
  const provider = plan.missing_key === null ? undefined : keyedProvider(plan.missing_key);
  if (provider === undefined) return plan;
  if (!(await keys.ask(provider))) {
    void vscode.window.showInformationMessage(`Evolve did not begin: ${plan.provider} needs a key. The rule-based catalog needs none (Pick Model).`);
    return undefined;
  }
  return planFor(client, target);
}

/** The plan. It takes a moment, and the first time as long as it takes to build what estimates need: then that is shown. */
async function planFor(client: Client, target: Target): Promise<Plan> {
  const plan = client.request<Plan>(Methods.plan, target);
  const isLate = new Promise<true>((resolve) => setTimeout(resolve, PATIENCE_MS, true));
  if ((await Promise.race([plan, isLate])) === true) {
    const options = { location: vscode.ProgressLocation.Notification, title: "Evolve: working out what it takes" };
    await vscode.window.withProgress(options, () => plan);
  }
  return plan;
}

/** Without a benchmark file sizes and inputs are guessed: better to see them. Whether to go on. */
async function settleBenchmark(client: Client, target: Target): Promise<boolean> {
  const create = "Create and Evolve";
  const guess = "Evolve with Guesses";
  const taken = await vscode.window.showInformationMessage(
    "There is no benchmark file beside this source. Sizes, inputs and the check would be guessed from the kernel's signature; a benchmark file says them, and you can change it.",
    create,
    guess,
  );
  if (taken === create) return createBenchmark(client, target);
  return taken === guess;
}

async function agreesTo(plan: Plan): Promise<boolean> {
  const detail = `${sentence(plan.estimate ?? "")} Your code is sent to this model. You can stop at any time.`;
  return (await vscode.window.showInformationMessage(`Evolve with ${plan.provider}?`, { modal: true, detail }, "Evolve")) !== undefined;
}

/** A note as a sentence. */
export function sentence(note: string): string {
  const [first = "", ...rest] = note;
  return `${first.toUpperCase()}${rest.join("")}${/[.!?]$/.test(note) ? "" : "."}`;
}
