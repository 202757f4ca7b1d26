// The texts of a run's versions, as documents that the editor's own diff can show. They come from the notebook, so they are there
// after a reload too.

import * as vscode from "vscode";
import type { Client } from "../client";
import { inWords } from "../errors";
import { Methods, type Version, type VersionOf } from "../protocol";
import { queryOf, versionOf } from "./versionQuery";

/** Scheme of their addresses. */
export const VERSION_SCHEME = "kernel-scientist-version";

/** The address of a version's text; `name` is the file's, which decides the language. */
export function versionUri(name: string, run: number, of: VersionOf): vscode.Uri {
  const folder = "candidate" in of ? `version ${of.candidate}` : `draft ${of.experiment}`;
  return vscode.Uri.from({ scheme: VERSION_SCHEME, path: `/run ${run}/${folder}/${name}`, query: queryOf(run, of) });
}

/** Answers the editor's questions for such texts. */
export function provideVersions(client: Client): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(VERSION_SCHEME, {
    provideTextDocumentContent: async (uri) => {
      const params = versionOf(uri.query);
      if (params === undefined) return `${uri.toString(true)} names no version.\n`;
      try {
        return (await client.request<Version>(Methods.version, params)).text;
      } catch (error) {
        return `This version could not be read: ${inWords(error)}\n`;
      }
    },
  });
}
