// How figures are written: the words of the command line and of its report (server/kernel-scientist/src/cli), with the same tests.

import type { GainRange, SpeedRatio } from "../../protocol";

/** A time in the unit that fits it, three significant digits: `412 us`, `1.23 ms`. */
export function time(nanoseconds: number): string {
  let value: number;
  let unit: string;
  if (nanoseconds < 999.5) [value, unit] = [nanoseconds, "ns"];
  else if (nanoseconds < 999.5e3) [value, unit] = [nanoseconds / 1e3, "us"];
  else if (nanoseconds < 999.5e6) [value, unit] = [nanoseconds / 1e6, "ms"];
  else if (nanoseconds < 1e15) [value, unit] = [nanoseconds / 1e9, "s"];
  else return "unknown";
  if (Number.isNaN(value)) return "unknown";
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
}

/** A time on an axis: no more digits than it needs. */
export function axisTime(nanoseconds: number): string {
  if (nanoseconds === 0) return "0";
  const [value, unit] =
    nanoseconds < 1e3 ? [nanoseconds, "ns"] : nanoseconds < 1e6 ? [nanoseconds / 1e3, "us"] : nanoseconds < 1e9 ? [nanoseconds / 1e6, "ms"] : [nanoseconds / 1e9, "s"];
  return `${Math.round(value * 100) / 100} ${unit}`;
}

/** A time with half of its interval's width as a share of it: `412 us ±0.4%`. */
export function spread(medianNs: number, lowNs: number, highNs: number): string {
  const half = ((highNs - lowNs) / 2 / Math.max(medianNs, Number.MIN_VALUE)) * 100;
  return half < 100 ? `${time(medianNs)} ±${half.toFixed(1)}%` : `${time(medianNs)} (spread unknown)`;
}

/** Whether an end of an interval says anything: too few samples leave it open, at the largest number there is. */
export function isBounded(ratio: number): boolean {
  return Number.isFinite(ratio) && ratio < 1000;
}

/** `1.20 to 1.26`; `below 1.26`, `above 1.20` and `unknown` where an end is open. */
export function interval({ low, high }: SpeedRatio): string {
  if (low > 0) return isBounded(high) ? `${low.toFixed(2)} to ${high.toFixed(2)}` : `above ${low.toFixed(2)}`;
  return isBounded(high) ? `below ${high.toFixed(2)}` : "unknown";
}

/** `1.42×`. */
export function ratio(speed: SpeedRatio): string {
  return isBounded(speed.ratio) ? `${speed.ratio.toFixed(2)}×` : "unknown";
}

/** A ratio as an uplift in percent: 1.2 is 20. */
export function percent(speedRatio: number): number {
  return (speedRatio - 1) * 100;
}

/** `+12%`, `−3.2%`, `0%`; a tenth where it is below ten. */
export function signed(value: number): string {
  const digits = Math.abs(value) < 10 && value % 1 !== 0 ? 1 : 0;
  const text = roundedToEven(Math.abs(value), digits);
  if (Number(text) === 0) return "0%";
  return `${value < 0 ? "\u2212" : "+"}${text}%`;
}

/** As Rust writes numbers: a tie goes to the even digit. */
function roundedToEven(value: number, digits: number): string {
  const scale = 10 ** digits;
  const scaled = value * scale;
  const floor = Math.floor(scaled);
  const isTie = scaled - floor === 0.5;
  return ((isTie ? floor + (floor % 2) : Math.round(scaled)) / scale).toFixed(digits);
}

/** `+20% to +60%`. */
export function range(gain: GainRange): string {
  return `${signed(gain.min_percent)} to ${signed(gain.max_percent)}`;
}

/** `42 s`, `3 min 07 s`, `2 h 05 min`. */
export function duration(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  if (seconds < 0.05) return "<0.1 s";
  if (seconds < 10) return `${roundedToEven(seconds, 1)} s`;
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor(whole / 60) % 60)} min`;
}

/** `$0.12`, `$0.0031`; nothing for nothing. */
export function dollars(usd: number): string {
  if (!(usd > 0)) return "";
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

/** `1 shape`, `3 shapes`. */
export function plural(count: number, word: string): string {
  return count === 1 ? `1 ${word}` : `${count.toLocaleString("en")} ${word}s`;
}

/** Who thought hypotheses up, with what that is. */
export function provider(name: string): string {
  return name === "catalog" ? "catalog (rule-based)" : name;
}

/** The parts of a text, and which of them stood in backticks: those are code. */
export function prose(text: string): { text: string; isCode: boolean }[] {
  const parts = text.split("`");
  // Without its closing backtick the last part is no code.
  const open = parts.length % 2 === 0 ? parts.length - 1 : -1;
  return parts
    .map((part, index) => (index === open ? { text: `\`${part}`, isCode: false } : { text: part, isCode: index % 2 === 1 }))
    .filter((part) => part.text !== "");
}

/** The text without its backticks. */
export function plain(text: string): string {
  return text.replaceAll("`", "");
}
