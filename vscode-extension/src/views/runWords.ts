// What is said of a run in few words.

import type { Run } from "../protocol";

/** What came of a run, or how it stands. */
export function runWords(run: Pick<Run, "state" | "is_held" | "result">): string {
  switch (run.state) {
    case "open":
      return run.is_held ? "running" : "interrupted";
    case "finished":
      return run.result ?? "finished";
    default:
      return run.state;
  }
}

/** The sign of a run and the theme's name of its colour. */
export function runIcon(run: Pick<Run, "state" | "is_held" | "is_confirmed">): { icon: string; colour: string } {
  switch (run.state) {
    case "open":
      return run.is_held ? { icon: "sync~spin", colour: "charts.blue" } : { icon: "debug-pause", colour: "charts.orange" };
    case "paused":
      return { icon: "debug-pause", colour: "charts.orange" };
    case "cancelled":
      return { icon: "circle-slash", colour: "disabledForeground" };
    case "failed":
      return { icon: "error", colour: "errorForeground" };
    case "finished":
      return run.is_confirmed ? { icon: "pass", colour: "charts.green" } : { icon: "circle-outline", colour: "descriptionForeground" };
  }
}

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function ago(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days === 1 ? "yesterday" : `${days} days ago`;
}
