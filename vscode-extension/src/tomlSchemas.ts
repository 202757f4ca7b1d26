// The schemas of benchmark files and of the settings file, for the extensions that know TOML.
//
// Those take schemas by whole addresses only (taplo issue 322), which an extension's folder has none of that stays: it changes with
// every version. So the schemas are kept in a folder that stays, and the user is asked once whether to name it in a setting.

import * as vscode from "vscode";

/** The extension that is asked about, and its setting: from regular expressions of files to addresses of schemas. */
const TOML = { extension: "tamasfe.even-better-toml", section: "evenBetterToml.schema", setting: "associations" };
const SCHEMAS: Record<string, string> = { "^.*\\.bench\\.toml$": "benchmark.schema.json", "^.*/kernel-scientist\\.toml$": "kernel-scientist.schema.json" };
const ASKED = "kernelScientist.tomlSchemas.asked";

/** Keeps the schemas where the setting says they are, and offers to name them there. */
export function offerTomlSchemas(context: vscode.ExtensionContext): vscode.Disposable {
  if (isSetUp(context)) void keepSchemas(context);
  const look = (document: vscode.TextDocument): void => {
    if (schemaOf(document.uri.toString()) !== undefined && vscode.extensions.getExtension(TOML.extension) !== undefined && !isSetUp(context) && context.globalState.get(ASKED) !== true) void ask(context);
  };
  vscode.workspace.textDocuments.forEach(look);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.commands.registerCommand("kernelScientist.setUpTomlSchemas", () => setUp(context)),
  );
}

async function ask(context: vscode.ExtensionContext): Promise<void> {
  await context.globalState.update(ASKED, true);
  const text = "Even Better TOML can complete and check benchmark files and kernel-scientist.toml. Name their schemas in your settings?";
  if ((await vscode.window.showInformationMessage(text, "Name Them", "No")) === "Name Them") await setUp(context);
}

async function setUp(context: vscode.ExtensionContext): Promise<void> {
  if (vscode.extensions.getExtension(TOML.extension) === undefined) {
    void vscode.window.showInformationMessage("Schemas of TOML files are for the extension Even Better TOML, which is not installed.");
    return;
  }
  await keepSchemas(context);
  const section = vscode.workspace.getConfiguration(TOML.section);
  const known = section.inspect<Record<string, string>>(TOML.setting)?.globalValue ?? {};
  await section.update(TOML.setting, { ...known, ...associations(addressIn(context)) }, vscode.ConfigurationTarget.Global);
}

/** The schema of the document at an address, of ours. */
export function schemaOf(uri: string): string | undefined {
  return Object.entries(SCHEMAS).find(([pattern]) => new RegExp(pattern).test(uri))?.[1];
}

function isSetUp(context: vscode.ExtensionContext): boolean {
  const known = vscode.workspace.getConfiguration(TOML.section).get<Record<string, string>>(TOML.setting) ?? {};
  return Object.entries(associations(addressIn(context))).every(([pattern, address]) => known[pattern] === address);
}

/** The setting's value: from regular expressions, which whole addresses of documents are held against, to addresses of schemas. */
export function associations(addressOf: (schema: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(SCHEMAS).map(([pattern, name]) => [pattern, addressOf(name)]));
}

function addressIn(context: vscode.ExtensionContext): (schema: string) => string {
  return (name) => kept(context, name).toString();
}

function kept(context: vscode.ExtensionContext, name: string): vscode.Uri {
  return vscode.Uri.joinPath(context.globalStorageUri, "schemas", name);
}

async function keepSchemas(context: vscode.ExtensionContext): Promise<void> {
  for (const name of Object.values(SCHEMAS)) {
    await vscode.workspace.fs.copy(vscode.Uri.joinPath(context.extensionUri, "schemas", name), kept(context, name), { overwrite: true });
  }
}
