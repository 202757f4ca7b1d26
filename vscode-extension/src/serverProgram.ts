// Where the server's program is: named by a setting, carried in the package, or on the PATH.

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** The program's name without what some systems put behind it. */
const NAME = "kernel-scientist";

/** What is looked at to find the program. */
export interface Surroundings {
  /** The setting `kernelScientist.server.path`; empty for none. */
  setting: string;
  /** The folder of the extension. */
  extension: string;
  /** As `process.platform` and `process.arch` say. */
  platform: NodeJS.Platform;
  arch: string;
  /** The environment's `PATH`. */
  path: string | undefined;
  /** Folder of the first workspace folder, which a relative setting is taken from. */
  workspace: string | undefined;
}

/** The program, or where it was looked for in vain. */
export type Found = { program: string; from: "setting" | "package" | "path" } | { problem: string };

/** Finds the program. A setting that names none is an error, never a reason to take another one. */
export function findProgram(around: Surroundings): Found {
  const name = around.platform === "win32" ? `${NAME}.exe` : NAME;
  if (around.setting !== "") {
    const named = resolved(around.setting, around.workspace);
    return isProgram(named)
      ? { program: named, from: "setting" }
      : { problem: `the setting kernelScientist.server.path names ${named}, which is not a program that can be started` };
  }
  const carried = path.join(around.extension, "bin", `${around.platform}-${around.arch}`, name);
  if (isProgram(carried)) return { program: carried, from: "package" };
  const onPath = (around.path ?? "")
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find(isProgram);
  if (onPath !== undefined) return { program: onPath, from: "path" };
  return { problem: `this package carries no server for ${around.platform}-${around.arch}, and there is no ${name} on the PATH` };
}

function resolved(setting: string, workspace: string | undefined): string {
  const home = setting.startsWith("~/") ? path.join(os.homedir(), setting.slice(2)) : setting;
  return path.isAbsolute(home) || workspace === undefined ? path.normalize(home) : path.join(workspace, home);
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
