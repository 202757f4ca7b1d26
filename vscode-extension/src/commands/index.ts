// The commands of the palette, of lenses and of key bindings.

import * as vscode from "vscode";
import type { Client } from "../client";
import { Commands } from "../protocol";
import { targetOf } from "./target";

/** Registers all commands. */
export function registerCommands(context: vscode.ExtensionContext, client: Client): void {
  const command = (name: string, run: (...given: never[]) => unknown): void => {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  };
  command("kernelScientist.restart", () => client.restart());
  command("kernelScientist.showLog", () => {
    client.log.show();
  });
  // Lenses, code actions and messages name what they are about; the palette means the kernel at the cursor.
  for (const name of Object.values(Commands)) {
    command(name, async (given?: object) => {
      const argument = given ?? (await targetOf(client));
      return argument === undefined ? undefined : client.execute(name, argument);
    });
  }
}
