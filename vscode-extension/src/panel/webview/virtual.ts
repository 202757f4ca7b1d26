// Which rows of a long list are in sight.

/** Rows that are kept above and below what is in sight, so that none is missing while it scrolls. */
const OVERSCAN = 8;

/** Rows `from` up to, not including, `to`. */
export interface Window {
  from: number;
  to: number;
}

/** The rows to draw. */
export function inSight(count: number, rowHeight: number, scrollTop: number, height: number): Window {
  const first = Math.floor(scrollTop / rowHeight) - OVERSCAN;
  const last = Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN;
  const from = Math.max(0, Math.min(first, count - 1));
  return { from, to: Math.max(from, Math.min(last, count)) };
}

/** Where to scroll so that a row is in sight; where it is already, nothing moves. */
export function scrolledTo(row: number, rowHeight: number, scrollTop: number, height: number): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}
