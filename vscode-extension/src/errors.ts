// Errors of whatever kind, in words.

/** An error in words. */
export function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
