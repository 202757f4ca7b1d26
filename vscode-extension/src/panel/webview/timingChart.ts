// One chart of times: intervals and marks are drawn into uPlot's canvas, in the colours of the editor's theme.

import uPlot from "uplot";
import type { Member, Standing } from "../../protocol";
import { HOLLOW, OUTLINES } from "./mark";
import type { Timing, TimingPoint } from "./timings";
import { axisTime, plain, spread, time } from "./words";

const HEIGHT = 190;
/** How near the mouse must be to a point, in pixels. */
const REACH = 14;

/** Colours by what they are for, read from the theme. */
type Colours = Record<Standing | "text" | "soft" | "grid" | "surface" | "accent", string>;

export class TimingChart {
  private plot: uPlot | undefined;
  private timing: Timing | undefined;
  private best: number | undefined;
  private chosen: number | undefined;
  private colours: Colours;
  private readonly tip = document.createElement("div");
  private readonly sizes: ResizeObserver;
  private readonly themes: MutationObserver;

  constructor(
    private readonly at: HTMLElement,
    private readonly isForecast: boolean,
    private readonly pick: (member: Member) => void,
  ) {
    this.colours = colours(at);
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.sizes = new ResizeObserver(() => { this.plot?.setSize({ width: at.clientWidth, height: HEIGHT }); });
    this.sizes.observe(at);
    // The editor changes the theme by the body's class and the variables on the root.
    this.themes = new MutationObserver(() => {
      this.colours = colours(at);
      this.build();
    });
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ["style", "class"] });
  }

  /** Shows times; the best version and the one that is picked stand out. */
  show(timing: Timing, best: number | undefined, chosen: number | undefined): void {
    const isNew = timing !== this.timing;
    [this.timing, this.best, this.chosen] = [timing, best, chosen];
    if (isNew) this.build();
    else this.plot?.redraw(false);
  }

  destroy(): void {
    this.sizes.disconnect();
    this.themes.disconnect();
    this.plot?.destroy();
  }

  private build(): void {
    const { timing } = this;
    if (timing === undefined) return;
    this.plot?.destroy();
    const { text, soft, grid } = this.colours;
    const font = getComputedStyle(this.at).font.replace(/^[\d.]+px/, "11px");
    const small = `11px ${getComputedStyle(this.at).fontFamily}`;
    const axis = { stroke: soft, font: font.includes("11px") ? small : font, ticks: { show: false }, grid: { stroke: grid, width: 1 } };
    const last = timing.lastGeneration;
    const options: uPlot.Options = {
      width: Math.max(this.at.clientWidth, 120),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: true, x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: [-0.5, last + 0.5] }, y: { range: [0, timing.topNs] } },
      axes: [
        { ...axis, grid: { show: false }, size: 26, splits: () => generations(last, Math.max(this.at.clientWidth, 120)), values: (_, splits) => splits.map(String) },
        { ...axis, size: 58, values: (_, splits) => splits.map(axisTime) },
      ],
      series: [
        {},
        { stroke: text, width: 1.2, alpha: 0.45, points: { show: false }, ...stepped() },
      ],
      hooks: {
        draw: [(plot) => { this.draw(plot); }],
        setCursor: [(plot) => { this.hover(plot); }],
      },
    };
    const data: uPlot.AlignedData = [timing.points.map(({ x }) => x), timing.best];
    this.plot = new uPlot(options, data, this.at);
    this.plot.over.append(this.tip);
    this.plot.over.addEventListener("click", () => {
      const point = this.plot === undefined ? undefined : this.nearest(this.plot);
      if (point !== undefined) this.pick(point.member);
    });
  }

  private draw(plot: uPlot): void {
    const { ctx } = plot;
    const points = this.timing?.points ?? [];
    // Where there are many, each takes less room.
    const scale = devicePixelRatio * (points.length > 200 ? 0.65 : 1);
    ctx.save();
    ctx.lineWidth = 1.4 * scale;
    for (const point of points) {
      const x = plot.valToPos(point.x, "x", true);
      const y = (ns: number): number => Math.max(plot.valToPos(ns, "y", true), plot.bbox.top + 5 * scale);
      const { standing, number } = point.member;
      ctx.strokeStyle = this.colours[standing];
      ctx.beginPath();
      ctx.moveTo(x, y(point.lowNs));
      ctx.lineTo(x, y(point.highNs));
      ctx.stroke();
      if (number === this.best || number === this.chosen) this.halo(ctx, x, y(point.medianNs), scale, number === this.chosen);
      this.mark(ctx, standing, x, y(point.medianNs), scale);
    }
    ctx.restore();
  }

  private halo(ctx: CanvasRenderingContext2D, x: number, y: number, scale: number, isChosen: boolean): void {
    ctx.save();
    ctx.beginPath();
    ctx.arc(x, y, 9 * scale, 0, 2 * Math.PI);
    ctx.strokeStyle = isChosen ? this.colours.accent : this.colours.faster;
    ctx.lineWidth = (isChosen ? 2 : 1.2) * scale;
    ctx.stroke();
    ctx.restore();
  }

  private mark(ctx: CanvasRenderingContext2D, standing: Standing, x: number, y: number, scale: number): void {
    const size = 0.8 * scale;
    ctx.save();
    ctx.translate(x - 6 * size, y - 6 * size);
    ctx.scale(size, size);
    const outline = new Path2D(OUTLINES[standing]);
    if (HOLLOW.has(standing)) {
      ctx.fillStyle = this.colours.surface;
      ctx.strokeStyle = this.colours[standing];
      ctx.lineWidth = 2;
      ctx.fill(outline);
      ctx.stroke(outline);
    } else {
      ctx.fillStyle = this.colours[standing];
      ctx.strokeStyle = this.colours.surface;
      ctx.lineWidth = 1;
      ctx.stroke(outline);
      ctx.fill(outline);
    }
    ctx.restore();
  }

  private nearest(plot: uPlot): TimingPoint | undefined {
    const { left, top } = plot.cursor;
    if (left === undefined || top === undefined || left < 0) return undefined;
    let found: { point: TimingPoint; distance: number } | undefined;
    for (const point of this.timing?.points ?? []) {
      const distance = Math.hypot(plot.valToPos(point.x, "x") - left, Math.max(5, plot.valToPos(point.medianNs, "y")) - top);
      if (distance < (found?.distance ?? REACH)) found = { point, distance };
    }
    return found?.point;
  }

  private hover(plot: uPlot): void {
    const point = this.nearest(plot);
    this.tip.hidden = point === undefined;
    plot.over.classList.toggle("pointed", point !== undefined);
    if (point === undefined) return;
    const { member, medianNs, lowNs, highNs } = point;
    const figure = this.isForecast ? `forecast ${time(medianNs)}` : spread(medianNs, lowNs, highNs);
    this.tip.textContent = `#${member.number}, generation ${member.generation}: ${figure}, ${member.outcome}\n${plain(member.title)}`;
    const [x, y] = [plot.valToPos(point.x, "x"), Math.max(5, plot.valToPos(medianNs, "y"))];
    const { clientWidth, clientHeight } = plot.over;
    this.tip.style.left = `${Math.max(0, Math.min(x + 12, clientWidth - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${y > clientHeight / 2 ? y - this.tip.offsetHeight - 10 : y + 12}px`;
  }
}

/** Level from each point to the next better one. */
function stepped(): Pick<uPlot.Series, "paths"> {
  const paths = uPlot.paths.stepped?.({ align: 1 });
  return paths === undefined ? {} : { paths };
}

/** Generations that are written on the axis: as many as there is room for. */
function generations(last: number, width: number): number[] {
  const step = Math.ceil((last + 1) / Math.max(2, Math.floor(width / 28)));
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, index) => index * step);
}

/** The theme's colours; each standing has its own in the style sheet. */
function colours(at: HTMLElement): Colours {
  // A canvas knows no variables and no mixtures: an element is asked what they come to.
  const probe = at.appendChild(document.createElement("span"));
  const of = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const names = ["original", "faster", "slower", "same", "inconclusive", "failed", "not_run", "text", "soft", "grid", "surface", "accent"] as const;
  const all = Object.fromEntries(names.map((name) => [name, of(name)])) as Colours;
  probe.remove();
  return all;
}
