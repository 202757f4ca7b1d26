// The lineage as rows of a tree: depth first, the line of the best version first among siblings.

import type { Member } from "../../protocol";
import { byNumber, lineTo, parentOf } from "./population";

/** A row of the tree. */
export interface TreeRow {
  member: Member;
  /** Steps from the root, which is at 0. */
  level: number;
  /** For each level above, whether a line to a later row passes. */
  rails: boolean[];
  /** No sibling follows. */
  isLast: boolean;
  /** Place among its siblings, from 1, and their number. */
  place: number;
  siblings: number;
  /** Versions made from it, at once or over others. */
  descendants: number;
  hasChildren: boolean;
  isCollapsed: boolean;
  /** It is on the line to the version that stands out. */
  isOnLine: boolean;
}

/** The rows in the order in which they are shown; what is below a collapsed version is left out. */
export function treeRows(members: readonly Member[], best: number | undefined, collapsed: ReadonlySet<number>): TreeRow[] {
  const all = byNumber(members);
  const line = new Set(best === undefined ? [] : lineTo(best, all).map((member) => member.number));
  const children = new Map<number | undefined, Member[]>();
  for (const member of members) {
    const parent = parentOf(member, all)?.number;
    children.set(parent, [...(children.get(parent) ?? []), member]);
  }
  for (const siblings of children.values()) {
    siblings.sort((a, b) => Number(line.has(b.number)) - Number(line.has(a.number)) || a.number - b.number);
  }
  const descendants = countDescendants(members, all);
  const rows: TreeRow[] = [];
  // A stack of its own, so that a long line cannot exhaust the program's.
  const open: Omit<TreeRow, "descendants" | "hasChildren" | "isCollapsed" | "isOnLine">[] = [];
  const push = (siblings: readonly Member[], level: number, rails: boolean[]): void => {
    for (let index = siblings.length - 1; index >= 0; index--) {
      const member = siblings[index];
      if (member === undefined) continue;
      open.push({ member, level, rails, isLast: index === siblings.length - 1, place: index + 1, siblings: siblings.length });
    }
  };
  push(children.get(undefined) ?? [], 0, []);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { number } = next.member;
    const below = children.get(number) ?? [];
    const isCollapsed = collapsed.has(number) && below.length > 0;
    rows.push({ ...next, descendants: descendants.get(number) ?? 0, hasChildren: below.length > 0, isCollapsed, isOnLine: line.has(number) });
    // The root has no line of its own to the left.
    if (!isCollapsed) push(below, next.level + 1, next.level === 0 ? [] : [...next.rails, !next.isLast]);
  }
  return rows;
}

function countDescendants(members: readonly Member[], all: ReadonlyMap<number, Member>): Map<number, number> {
  const counts = new Map<number, number>();
  // Children have larger numbers than their parents.
  for (const member of [...members].sort((a, b) => b.number - a.number)) {
    const parent = parentOf(member, all)?.number;
    if (parent !== undefined) counts.set(parent, (counts.get(parent) ?? 0) + 1 + (counts.get(member.number) ?? 0));
  }
  return counts;
}

/** Pixels from one level to the next: less where a deep tree would leave no room for its words. */
export function indent(width: number, deepest: number): number {
  return Math.max(3, Math.min(18, (width * 0.3) / Math.max(deepest, 1)));
}
