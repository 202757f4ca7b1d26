// What the server is doing for the user: shown as notifications with a way to stop it, and known to `when` clauses.

import * as vscode from "vscode";

interface Begin {
  kind: "begin";
  title: string;
  message?: string;
  percentage?: number;
}
interface Report {
  kind: "report";
  message?: string;
  percentage?: number;
}
type Heard = Begin | Report | { kind: "end" };

/** A job of the server. */
export interface Job {
  /** Its number. */
  id: number;
  /** What it is, such as `Time saxpy`. */
  title: string;
  /** What it is doing. */
  doing: string;
}

/** The number of the job that a display of progress is for. */
export function jobOf(token: string | number): number | undefined {
  const number = /^kernel-scientist\/job\/(\d+)$/.exec(String(token))?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The jobs under way and their displays. */
export class JobDisplay implements vscode.Disposable {
  private readonly shown = new Map<number, Shown>();
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly endings = new vscode.EventEmitter<void>();
  /** Some job began, went on or ended. */
  readonly onDidChange = this.changes.event;
  /** Some job is over, and holds nothing any more: its run can be resumed, where it has one. */
  readonly onDidEnd = this.endings.event;

  constructor(private readonly stop: (job: number) => Thenable<unknown>) {}

  /** The jobs under way, the oldest first. */
  get running(): Job[] {
    return [...this.shown.values()].map(({ job }) => job);
  }

  /** The server told of a job's way. */
  heard(token: string | number, params: Heard): void {
    const id = jobOf(token);
    if (id === undefined) return;
    if (params.kind === "begin") this.begins({ id, title: params.title, doing: params.message ?? "" });
    else if (params.kind === "report") this.shown.get(id)?.report(params);
    else this.ends(id);
    this.changes.fire();
  }

  /** The server is gone, and all that it did. */
  allEnded(): void {
    for (const id of [...this.shown.keys()]) this.ends(id);
    this.changes.fire();
  }

  dispose(): void {
    this.allEnded();
    this.changes.dispose();
    this.endings.dispose();
  }

  private begins(job: Job): void {
    this.shown.set(job.id, new Shown(job, () => void this.stop(job.id)));
    this.tellContext();
  }

  private ends(id: number): void {
    this.shown.get(id)?.end();
    this.shown.delete(id);
    this.tellContext();
    this.endings.fire();
  }

  private tellContext(): void {
    void vscode.commands.executeCommand("setContext", "kernelScientist.isWorking", this.shown.size > 0);
  }
}

/** One job's notification. */
class Shown {
  private progress: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  private percent = 0;
  private over: (() => void) | undefined;
  private isOver = false;

  constructor(
    readonly job: Job,
    stop: () => void,
  ) {
    const options = { location: vscode.ProgressLocation.Notification, title: job.title, cancellable: true };
    void vscode.window.withProgress(options, (progress, token) => {
      this.progress = progress;
      progress.report({ message: job.doing });
      token.onCancellationRequested(stop);
      return new Promise<void>((resolve) => {
        this.over = resolve;
        if (this.isOver) resolve();
      });
    });
  }

  report({ message, percentage }: Report): void {
    if (message !== undefined) this.job.doing = message;
    const increment = Math.max(0, (percentage ?? 0) - this.percent);
    this.percent += increment;
    this.progress?.report({ message: this.job.doing, ...(increment > 0 ? { increment } : {}) });
  }

  end(): void {
    this.isOver = true;
    this.over?.();
  }
}
