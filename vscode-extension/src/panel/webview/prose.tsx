// Text whose parts in backticks are code.

import { prose } from "./words";

export function Prose({ text }: { text: string }) {
  return <>{prose(text).map((part, index) => (part.isCode ? <code key={index}>{part.text}</code> : part.text))}</>;
}
