// Which text of a run an address asks for.

import type { VersionOf } from "../protocol";

/** The question of an address. */
export function queryOf(run: number, of: VersionOf): string {
  return "candidate" in of ? `run=${run}&candidate=${of.candidate}` : `run=${run}&experiment=${of.experiment}`;
}

/** What an address asks for; `undefined` where that is no version. */
export function versionOf(query: string): { run: number; of: VersionOf } | undefined {
  const given = new URLSearchParams(query);
  const number = (name: string): number | undefined => {
    const text = given.get(name);
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const [run, candidate, experiment] = [number("run"), number("candidate"), number("experiment")];
  if (run === undefined) return undefined;
  if (candidate !== undefined) return { run, of: { candidate } };
  return experiment === undefined ? undefined : { run, of: { experiment } };
}
