import { failureOf } from "../../../base/failures/errors.ts";
import type { Log } from "../../../base/failures/log.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import { MINUTE_MS } from "../../../base/time/time.ts";
import type { Rejection } from "./rejection.ts";
import type { RejectionQuery, RejectionStore } from "./rejection-store.ts";
import { RejectionWindow } from "./rejection-window.ts";

/** How long rows wait, so that they are written in groups. Milliseconds. */
const WRITE_MS = 500;
/** How long rows wait after a failed write. Milliseconds. */
const RETRY_MS = 5_000;
/** The maximum number of rows that wait while the store is unavailable. The oldest are dropped first. */
const MAX_WAITING = 1_000;
const ROWS_AT_ONCE = 100;

/** The dependencies of a log. */
interface LogParts {
  readonly store: Pick<RejectionStore, "addRejections" | "findRejection" | "listRejections">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** Whether rejected requests are recorded at all (`storage.rejected_days`). */
  readonly isEnabled: () => boolean;
}

/**
 * Records rejected requests. A caller does not wait for it, and cannot fill the store with it: requests over a rate are summed
 * (`RejectionWindow`). Rows are diagnosis and not money, so they are lost if the process is killed before they are written.
 */
export class RejectionLog {
  private waiting: Rejection[] = [];
  private window: RejectionWindow | null = null;
  private windowTimer: Timer | null = null;
  private writeTimer: Timer | null = null;
  private writing: Promise<void> | null = null;
  private hasFailed = false;

  constructor(private readonly parts: LogParts) {}

  record(rejection: Rejection): void {
    if (!this.parts.isEnabled()) return;
    if (this.openWindow().takes(rejection)) this.add([rejection]);
  }

  /** Finds the row of a request, also if it waits to be written. Rejects with a `StoreError`. */
  async find(id: string): Promise<Rejection | null> {
    await this.drain();
    return this.parts.store.findRejection(id);
  }

  /** Lists rows, the newest first. Rejects with a `StoreError`. */
  async list(query: RejectionQuery): Promise<readonly Rejection[]> {
    await this.drain();
    return this.parts.store.listRejections(query);
  }

  /** Writes the rows that wait now. Resolves when they are written, or cannot be. */
  async drain(): Promise<void> {
    while (this.waiting.length > 0 || this.writing !== null) if (!(await this.write())) return;
  }

  /** Writes everything, also the sums of the minute that has not ended. */
  async close(): Promise<void> {
    this.closeWindow();
    await this.drain();
    this.writeTimer?.cancel();
  }

  private openWindow(): RejectionWindow {
    if (this.window !== null) return this.window;
    this.windowTimer = this.parts.clock.after(MINUTE_MS, () => this.closeWindow());
    this.window = new RejectionWindow();
    return this.window;
  }

  private closeWindow(): void {
    this.windowTimer?.cancel();
    const sums = this.window?.listSums() ?? [];
    this.window = null;
    if (sums.length > 0) this.add(sums);
  }

  private add(rows: readonly Rejection[]): void {
    this.waiting.push(...rows);
    const excess = this.waiting.length - MAX_WAITING;
    if (excess > 0) this.waiting.splice(0, excess);
    this.writeSoon(WRITE_MS);
  }

  private writeSoon(ms: number): void {
    this.writeTimer ??= this.parts.clock.after(ms, () => {
      this.writeTimer = null;
      void this.write();
    });
  }

  /** Writes a group of rows, or waits for the group that is being written. Returns whether it was written. */
  private async write(): Promise<boolean> {
    this.writing ??= this.writeGroup().finally(() => {
      this.writing = null;
    });
    await this.writing;
    return !this.hasFailed;
  }

  private async writeGroup(): Promise<void> {
    const { store, log } = this.parts;
    const rows = this.waiting.splice(0, ROWS_AT_ONCE);
    try {
      if (rows.length > 0) await store.addRejections(rows);
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed)
        log.warn("rejected requests could not be recorded; they are recorded later", {
          detail: failureOf(error).internal,
        });
      this.hasFailed = true;
      this.waiting.unshift(...rows);
    }
    if (this.waiting.length > 0) this.writeSoon(this.hasFailed ? RETRY_MS : WRITE_MS);
  }
}
