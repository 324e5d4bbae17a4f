import { failureOf } from "../../base/failures/errors.ts";
import type { Log } from "../../base/failures/log.ts";

/** Writes to a store that continue after the answer of their generation. A failed write is logged and given up. */
export class PendingWrites {
  private readonly writes = new Set<Promise<void>>();

  /** `problem` is the event of the log for a write that fails. */
  constructor(
    private readonly log: Pick<Log, "warn">,
    private readonly problem: string,
  ) {}

  /** Adds a write for some generations. */
  add(write: Promise<void>, ...generationIds: readonly string[]): void {
    const followed = write
      .catch((error: unknown) => {
        for (const id of generationIds) this.warn(id, failureOf(error).internal);
      })
      .finally(() => this.writes.delete(followed));
    this.writes.add(followed);
  }

  /** Logs that data of a generation could not be stored. */
  warn(generationId: string, detail: string | undefined): void {
    this.log.warn(this.problem, { generation_id: generationId, detail });
  }

  /** Resolves when all writes in progress have ended. */
  async drain(): Promise<void> {
    await Promise.all(this.writes);
  }
}
