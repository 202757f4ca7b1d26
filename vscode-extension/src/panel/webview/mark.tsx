// The mark of a standing: a colour and a shape, so that it can be told without its colour; its word always stands beside it.

import type { Standing } from "../../protocol";

/** The outline of a mark in a square of 12 by 12, as SVG and for a canvas. */
export const OUTLINES: Record<Standing, string> = {
  original: "M2 2H10V10H2Z",
  faster: "M1 10.5L6 1.5L11 10.5Z",
  slower: "M1 1.5L6 10.5L11 1.5Z",
  same: "M6 1.5A4.5 4.5 0 1 1 6 10.5A4.5 4.5 0 1 1 6 1.5Z",
  inconclusive: "M6 2A4 4 0 1 1 6 10A4 4 0 1 1 6 2Z",
  failed: "M2.5 1L6 4.5L9.5 1L11 2.5L7.5 6L11 9.5L9.5 11L6 7.5L2.5 11L1 9.5L4.5 6L1 2.5Z",
  not_run: "M1 5H11V7H1Z",
};

/** Marks that are drawn as a line, not filled. */
export const HOLLOW: ReadonlySet<Standing> = new Set<Standing>(["inconclusive"]);

export function Mark({ standing }: { standing: Standing }) {
  return (
    <svg class={`mark ${standing} ${HOLLOW.has(standing) ? "hollow" : ""}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
      <path d={OUTLINES[standing]} />
    </svg>
  );
}
