// What a command is about: what a lens or a message names, else the kernel at the cursor.

import * as vscode from "vscode";
import type { Client } from "../client";
import { isKernelFile } from "../deviceCode";
import { type FileKernels, Methods } from "../protocol";

/** A document and one of its kernels, or all of it. */
export interface Target {
  uri: string;
  kernel?: string;
}

/** Whether an argument of a command is a target. */
export function isTarget(given: unknown): given is Target {
  return typeof given === "object" && given !== null && "uri" in given && typeof given.uri === "string";
}

/** The document in front; says so where it has no kernels. */
export function activeDocument(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document !== undefined && isKernelFile(document)) return document;
  void vscode.window.showInformationMessage("Open a file with a HIP kernel first (a __global__ function).");
  return undefined;
}

/** All of the document in front. */
export function activeFile(): Target | undefined {
  const document = activeDocument();
  return document === undefined ? undefined : { uri: document.uri.toString() };
}

/** The kernel at the cursor of the document in front: the last one that begins above it, else the first. */
export async function activeKernel(client: Client): Promise<Target | undefined> {
  const document = activeDocument();
  if (document === undefined) return undefined;
  const uri = document.uri.toString();
  const [file] = await client.request<FileKernels[]>(Methods.kernels, { uris: [uri] });
  const line = vscode.window.activeTextEditor?.selection.active.line ?? 0;
  const kernel = kernelAt(file?.kernels ?? [], line);
  if (kernel !== undefined) return { uri, kernel };
  void vscode.window.showInformationMessage("There is no kernel (no __global__ function) in this file.");
  return undefined;
}

/** The kernel that a line belongs to. */
export function kernelAt(kernels: readonly { name: string; line: number }[], line: number): string | undefined {
  return (kernels.filter((kernel) => kernel.line <= line).at(-1) ?? kernels[0])?.name;
}
