// What can be told of a conversation with an editor's model without the editor's API.

import type { ModelFailureKind } from "../protocol";

/** What is known of a model of the editor. */
export interface Known {
  id: string;
  family: string;
  vendor: string;
  name: string;
}

/** The models that a name means: by identifier, else by family, else by its name for people. All of them without a name. */
export function meant<Model extends Known>(models: readonly Model[], name: string | null | undefined): Model[] {
  if (name === undefined || name === null || name === "") return [...models];
  for (const of of [(model: Known) => model.id, (model: Known) => model.family, (model: Known) => model.name]) {
    const found = models.filter((model) => of(model) === name);
    if (found.length > 0) return found;
  }
  return [];
}

/** How GitHub Copilot names errors that have no code. */
const byName = new Map<string, ModelFailureKind>([
  ["ChatRateLimited", "RateLimited"],
  ["ChatQuotaExceeded", "OutOfQuota"],
]);

/** Which kind of failure an error of the editor's is. */
export function kindOf(error: unknown): ModelFailureKind {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  const named = error instanceof Error ? byName.get(error.name) : undefined;
  if (named !== undefined) return named;
  return code === "NoPermissions" || code === "Blocked" || code === "NotFound" ? code : "Other";
}

/** An error in words, with what is behind it. */
export function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return cause === undefined || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
