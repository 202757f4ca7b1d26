// Keys of providers: kept by the editor's secret storage, given to the server when it asks, and to nobody else.

import * as vscode from "vscode";
import type { KeyAnswer, KeyParams } from "../protocol";
import { KEYED_PROVIDERS, type KeyedProvider, keyedProvider, wrongWithKey } from "./providers";

const SLOT = "kernelScientist.key.";

/** The keys of this user. */
export class Keys {
  constructor(private readonly secrets: vscode.SecretStorage) {}

  /** Answers the server, which asks when it sets a model up. Only providers that are known have a slot. */
  async answer({ provider }: KeyParams): Promise<KeyAnswer> {
    const known = keyedProvider(provider);
    return { key: known === undefined ? null : ((await this.secrets.get(SLOT + known.name)) ?? null) };
  }

  /** Whether there is a key of a provider. */
  async has(provider: KeyedProvider): Promise<boolean> {
    return (await this.secrets.get(SLOT + provider.name)) !== undefined;
  }

  /** Asks for a key and keeps it. Whether there is one afterwards. */
  async ask(provider: KeyedProvider): Promise<boolean> {
    const had = await this.has(provider);
    const given = await vscode.window.showInputBox({
      title: `Key of ${provider.title}`,
      prompt: had ? "Kept in the editor's secret storage. Leave it empty to forget the present key." : `Kept in the editor's secret storage. Made at ${provider.page}`,
      password: true,
      ignoreFocusOut: true,
      validateInput: wrongWithKey,
    });
    if (given === undefined) return had;
    if (given.trim() === "") {
      await this.secrets.delete(SLOT + provider.name);
      return false;
    }
    await this.secrets.store(SLOT + provider.name, given.trim());
    return true;
  }

  /** Asks which provider's key is to be set, and for the key. */
  async choose(): Promise<void> {
    const items = await Promise.all(
      KEYED_PROVIDERS.map(async (provider) => ({ label: provider.title, description: (await this.has(provider)) ? "set" : "not set", provider })),
    );
    const taken = await vscode.window.showQuickPick(items, { title: "Key of which provider?" });
    if (taken === undefined) return;
    const isThere = await this.ask(taken.provider);
    void vscode.window.setStatusBarMessage(isThere ? `The key of ${taken.provider.title} is kept.` : `There is no key of ${taken.provider.title}.`, 5_000);
  }
}
