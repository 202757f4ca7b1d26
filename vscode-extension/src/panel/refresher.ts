// Does a thing again when it is asked for, but not more often than it should: once at the beginning of a burst, and once after it.

/** A clock that tests can steer. */
export interface Clock {
  now: () => number;
  later: (run: () => void, milliseconds: number) => () => void;
}

/** The system's. */
export const CLOCK: Clock = {
  now: () => Date.now(),
  later: (run, milliseconds) => {
    const timer = setTimeout(run, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Runs `step` when asked to: never twice at once, and with a pause between two. */
export class Refresher {
  private isUnderWay = false;
  private isWanted = false;
  private last = -Infinity;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly step: () => Promise<void>,
    private readonly pauseMs: number,
    private readonly clock: Clock = CLOCK,
  ) {}

  /** Asks for a run; one that is under way or waits already counts for what happens from now on only if it has not begun. */
  ask(): void {
    if (this.isUnderWay) this.isWanted = true;
    else this.cancel ??= this.clock.later(() => void this.run(), Math.max(0, this.last + this.pauseMs - this.clock.now()));
  }

  dispose(): void {
    this.cancel?.();
    this.isWanted = false;
  }

  private async run(): Promise<void> {
    this.cancel = undefined;
    this.isUnderWay = true;
    try {
      await this.step();
    } finally {
      this.isUnderWay = false;
      this.last = this.clock.now();
      if (this.isWanted) {
        this.isWanted = false;
        this.ask();
      }
    }
  }
}
