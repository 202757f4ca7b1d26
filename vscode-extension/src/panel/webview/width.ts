// The width of an element, kept up to date.

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** The width in pixels; a usual one before the element is there. */
export function useWidth(element: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const at = element.current;
    if (at === null) return undefined;
    const observer = new ResizeObserver(() => { setWidth(at.clientWidth); });
    observer.observe(at);
    return () => { observer.disconnect(); };
  }, []);
  return width;
}
