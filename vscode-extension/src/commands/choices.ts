// Choices that are settings: the device, and who thinks hypotheses up.

import * as vscode from "vscode";
import type { Client } from "../client";
import { KEYED_PROVIDERS, keyedProvider } from "../keys/providers";
import type { Keys } from "../keys/store";
import { Commands, Methods, type Status } from "../protocol";
import { activeDocument } from "./target";

/** Lets the user choose the device. */
export async function pickDevice(client: Client): Promise<void> {
  const status = await statusOf(client);
  if (status === undefined) return;
  // The first one is what Enter takes.
  const devices = [...status.devices].sort((a, b) => Number(b.name === status.device) - Number(a.name === status.device));
  const items = devices.map(({ name, detail }) => ({ label: name, detail, ...(name === status.device ? { description: "current" } : {}) }));
  const taken = await vscode.window.showQuickPick(items, { title: "Device that times are for", matchOnDetail: true });
  if (taken !== undefined) await set("device", taken.label);
}

interface Choice extends vscode.QuickPickItem {
  take?: () => Promise<string | undefined>;
}

/** Lets the user choose who thinks hypotheses up: the catalog, a model of the editor, or one of a provider with a key. */
export async function pickModel(client: Client, keys: Keys): Promise<void> {
  const status = await statusOf(client);
  if (status === undefined) return;
  const taken = await vscode.window.showQuickPick(choices(status, keys), { title: "Who thinks hypotheses up and writes them", matchOnDetail: true });
  const provider = await taken?.take?.();
  if (provider === undefined) return;
  await set("provider", provider);
  // The editor asks for consent at the first request, which is best made now.
  const model = /^editor:(.+)$/.exec(provider)?.[1];
  if (model !== undefined) await client.execute(Commands.tryModel, { model });
}

async function choices(status: Status, keys: Keys): Promise<Choice[]> {
  const mark = (name: string): { description?: string } => (status.provider === name ? { description: "current" } : {});
  const separator = (label: string): Choice => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const models = await vscode.lm.selectChatModels();
  return [
    { label: "Catalog", detail: "Rule-based, offline, costs nothing", ...mark("catalog"), take: () => Promise.resolve("catalog") },
    separator("Models of this editor"),
    ...models.map((model) => ({
      label: model.name,
      detail: `${model.vendor}, ${model.id}: by this editor's own subscription`,
      ...mark(`editor:${model.id}`),
      take: () => Promise.resolve(`editor:${model.id}`),
    })),
    separator("Models by a key of your own"),
    ...KEYED_PROVIDERS.map((provider) => ({
      label: `${provider.title} …`,
      ...(status.provider.startsWith(`${provider.name}:`) ? { description: `current: ${status.provider.slice(provider.name.length + 1)}` } : {}),
      take: () => named(provider.name, status, keys),
    })),
  ];
}

/** Asks for the model's name, and for the key where there is none. */
async function named(name: string, status: Status, keys: Keys): Promise<string | undefined> {
  const provider = keyedProvider(name);
  if (provider === undefined) return undefined;
  const present = status.provider.startsWith(`${name}:`) ? status.provider.slice(name.length + 1) : "";
  const model = await vscode.window.showInputBox({ title: `Model of ${provider.title}`, value: present, placeHolder: provider.example, ignoreFocusOut: true });
  if (model === undefined || model.trim() === "") return undefined;
  if (!(await keys.has(provider))) await keys.ask(provider);
  return `${name}:${model.trim()}`;
}

async function statusOf(client: Client): Promise<Status | undefined> {
  const document = activeDocument();
  return document === undefined ? undefined : client.request<Status>(Methods.status, { uri: document.uri.toString() });
}

/** Changes a setting where it is set: in the workspace if it is set there, else for the user. */
async function set(name: string, value: string): Promise<void> {
  const section = vscode.workspace.getConfiguration("kernelScientist");
  const inWorkspace = section.inspect(name)?.workspaceValue !== undefined;
  await section.update(name, value, inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global);
}
