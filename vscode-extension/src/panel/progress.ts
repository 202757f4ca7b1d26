// What a run is doing, in one line, from its events.

import type { Event } from "../protocol";

/** Follows the events of a run. */
export class ProgressLine {
  private generation = "";
  private doing = "";

  /** Takes an event in. Says whether what is shown of the run has changed beyond this line. */
  hear(event: Event): boolean {
    switch (event.event) {
      case "working":
        this.doing = event.doing;
        return false;
      case "generation":
        this.generation = `generation ${event.generation} of ${event.of}`;
        this.doing = "";
        return true;
      case "designed":
        this.doing = `${event.plans.filter(({ chosen }) => chosen !== null).length} experiments planned`;
        return false;
      case "confirmed":
        this.generation = "confirming";
        return true;
      case "finished":
        [this.generation, this.doing] = ["", ""];
        return true;
      case "selected":
        return false;
      default:
        return true;
    }
  }

  /** `generation 2 of 5 · building 3 drafts`; `null` where nothing is done. */
  get line(): string | null {
    const line = [this.generation, this.doing].filter((part) => part !== "").join(" · ");
    return line === "" ? null : line;
  }
}
