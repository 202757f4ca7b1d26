// Where a source is shown: where it is open already, and never in the place of a panel.

import * as vscode from "vscode";

/** Shows a file, in the editor group that has it, else beside the panels. */
export async function showSource(uri: vscode.Uri): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(uri, { viewColumn: columnOf(uri) ?? besidePanels(), preview: true });
}

/** The group that has a file open. */
function columnOf(uri: vscode.Uri): vscode.ViewColumn | undefined {
  const has = ({ input }: vscode.Tab): boolean => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString();
  return vscode.window.tabGroups.all.find(({ tabs }) => tabs.some(has))?.viewColumn;
}

/** A group whose front is no panel; a new one where there is none. */
export function besidePanels(): vscode.ViewColumn {
  const isPanel = (tab: vscode.Tab | undefined): boolean => tab?.input instanceof vscode.TabInputWebview;
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const group = [activeTabGroup, ...all].find(({ activeTab }) => !isPanel(activeTab));
  return group?.viewColumn ?? vscode.ViewColumn.Beside;
}
