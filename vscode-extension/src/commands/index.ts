// The commands of the palette, of lenses, of messages and of key bindings.

import * as vscode from "vscode";
import type { Client } from "../client";
import { inWords } from "../errors";
import type { Keys } from "../keys/store";
import { Commands } from "../protocol";
import type { VirtualDocuments } from "../virtualDocuments";
import { createBenchmark } from "./benchmark";
import { pickDevice, pickModel } from "./choices";
import { showDoctor } from "./doctor";
import { evolve, isTrusted } from "./evolve";
import { showMachineCode } from "./machineCode";
import { proposalOf, Results } from "./results";
import { activeFile, activeKernel, isTarget, type Target } from "./target";
import { timeAll } from "./timeAll";

/** Registers all commands. */
export function registerCommands(context: vscode.ExtensionContext, client: Client, keys: Keys, texts: VirtualDocuments): void {
  const results = new Results(client, texts);
  /** A command whose failure is told: a server that cannot start has told of itself. */
  const command = (name: string, run: (given?: unknown) => unknown): void => {
    const told = async (given?: unknown): Promise<unknown> => {
      try {
        return await run(given);
      } catch (error) {
        client.log.error(`${name}: ${inWords(error)}`);
        if (client.state !== "failed") void vscode.window.showErrorMessage(inWords(error));
        return undefined;
      }
    };
    context.subscriptions.push(vscode.commands.registerCommand(name, told));
  };
  /** A command on what a lens names, else on what `otherwise` finds. */
  const onTarget = (name: string, otherwise: () => Target | undefined | Promise<Target | undefined>, run: (target: Target) => unknown): void => {
    command(name, async (given) => {
      if (!(await isTrusted())) return undefined;
      const target = isTarget(given) ? given : await otherwise();
      return target === undefined ? undefined : run(target);
    });
  };
  const atCursor = (): Promise<Target | undefined> => activeKernel(client);

  for (const name of [Commands.time, Commands.suggest, Commands.check]) onTarget(name, atCursor, (target) => client.execute(name, target));
  onTarget("kernelScientist.timeAll", activeFile, (target) => timeAll(client, target));
  onTarget(Commands.evolve, atCursor, (target) => evolve(client, keys, target));
  onTarget("kernelScientist.evolveFile", activeFile, (target) => evolve(client, keys, target));
  onTarget(Commands.createBenchmark, atCursor, (target) => createBenchmark(client, target));
  command(Commands.stop, (given) => stop(client, given));
  command(Commands.showDiff, (given) => results.showDiff(proposalOf(given)));
  // In a diff the text in front is the version itself.
  const inFront = (): unknown => vscode.window.activeTextEditor?.document.uri;
  command("kernelScientist.applyBest", (given) => results.apply(proposalOf(given) ?? proposalOf(inFront())));
  command("kernelScientist.showMachineCode", async () => ((await isTrusted()) ? showMachineCode(client, texts) : undefined));
  command("kernelScientist.pickDevice", () => pickDevice(client));
  command("kernelScientist.pickModel", () => pickModel(client, keys));
  command("kernelScientist.setKey", () => keys.choose());
  command("kernelScientist.doctor", () => showDoctor(client, texts));
  command("kernelScientist.showLog", () => {
    client.log.show();
  });
  command("kernelScientist.restart", () => client.restart());
  // These are called with what they need, by code actions, lenses and the panel.
  for (const name of [Commands.test, Commands.resume]) onTarget(name, () => undefined, (target) => client.execute(name, target));
  for (const name of [Commands.apply, Commands.showJob, Commands.tryModel]) command(name, (given) => client.execute(name, typeof given === "object" && given !== null ? given : {}));
}

/** Stops a job: the one that is named, else the only one, else the one that the user chooses. */
async function stop(client: Client, given: unknown): Promise<void> {
  if (typeof given === "object" && given !== null && "job" in given) {
    await client.execute(Commands.stop, given);
    return;
  }
  const running = client.jobs.running;
  const items = running.map(({ id, title, doing }) => ({ label: title, detail: doing, id }));
  const taken = items.length > 1 ? await vscode.window.showQuickPick(items, { title: "Stop what?" }) : items[0];
  if (taken !== undefined) await client.execute(Commands.stop, { job: taken.id });
}
