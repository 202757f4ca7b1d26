// A long list of rows of equal height, of which only those in sight are drawn.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { inSight, scrolledTo } from "./virtual";

interface Props {
  count: number;
  rowHeight: number;
  /** The row that the keyboard is at. */
  active: number | undefined;
  row: (index: number) => ComponentChildren;
  /** What is drawn above the rows and stays there. */
  head?: ComponentChildren;
  /** Attributes of the element that has the focus. */
  attributes: Record<string, string | number | undefined>;
  class: string;
  onKey: (event: KeyboardEvent, page: number) => void;
}

export function Scroller({ count, rowHeight, active, row, head, attributes, class: name, onKey }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  // The head covers what is scrolled behind it.
  const headHeight = (): number => rows.current?.offsetTop ?? 0;
  const look = (): void => {
    const at = element.current;
    if (at !== null) setView({ top: at.scrollTop, height: at.clientHeight - headHeight() });
  };
  useLayoutEffect(() => {
    const at = element.current;
    if (at === null) return undefined;
    const observer = new ResizeObserver(look);
    observer.observe(at);
    return () => { observer.disconnect(); };
  }, []);
  useEffect(() => {
    const at = element.current;
    if (at === null || active === undefined) return;
    at.scrollTop = scrolledTo(active, rowHeight, at.scrollTop, at.clientHeight - headHeight());
  }, [active, rowHeight]);
  const { from, to } = inSight(count, rowHeight, view.top, view.height);
  const drawn = [];
  for (let index = from; index < to; index++) drawn.push(row(index));
  return (
    <div class={`scroller ${name}`} ref={element} tabIndex={0} onScroll={look} onKeyDown={(event) => { onKey(event, Math.max(1, Math.floor(view.height / rowHeight) - 1)); }} {...attributes}>
      {head}
      <div class="rows" role="presentation" ref={rows} style={{ height: count * rowHeight }}>
        <div role="presentation" class="drawn" style={{ transform: `translateY(${from * rowHeight}px)` }}>{drawn}</div>
      </div>
    </div>
  );
}

/** The row that a key leads to; `undefined` for a key that leads nowhere. */
export function moved(key: string, at: number | undefined, count: number, page: number): number | undefined {
  if (count === 0) return undefined;
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = steps[key];
  if (step === undefined) return undefined;
  return at === undefined ? 0 : Math.max(0, Math.min(count - 1, at + step));
}
