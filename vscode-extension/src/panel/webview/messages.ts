// What the panel's page and the extension say to each other.

import type { Population, Run, VersionOf } from "../../protocol";

/** All that the page shows. */
export interface PanelData {
  /** The document. */
  uri: string;
  /** Name of its file. */
  name: string;
  /** The run; `null` where the file has none. */
  population: Population | null;
  /** All runs of the file, the newest first. */
  runs: Run[];
  /** Why there is nothing newer to show, if something went wrong. */
  problem: string | null;
}

/** What the page keeps over a reload. */
export interface PanelState {
  /** The document. */
  uri: string;
  /** The run that the user chose; the newest without. */
  run?: number;
}

/** From the extension to the page. */
export type ToPage =
  | { type: "show"; data: PanelData }
  /** What the run is doing; `null` when it does nothing. */
  | { type: "progress"; line: string | null };

/** What the page can ask for. */
export type Action = "evolve" | "stop" | "resume" | "more" | "apply";

/** From the page to the extension. */
export type FromPage =
  | { type: "ready" }
  | { type: "run"; run: number }
  | { type: "diff"; run: number; of: VersionOf; against: number; title: string }
  | { type: "open" }
  | { type: "do"; action: Action };
