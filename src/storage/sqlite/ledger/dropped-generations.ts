import type { Database } from "bun:sqlite";
import { RejectedRecordError } from "../../../base/failures/store-error.ts";
import { readIdTime } from "../../../base/secrets/ids.ts";
import type { RecordEntry } from "../../../core/usage/records/records.ts";

/** Knows which generations may have been deleted. */
export class DroppedGenerations {
  private readonly end;
  private readonly isStored;

  constructor(database: Database) {
    this.end = database.query<{ before_id: string }, []>("SELECT before_id FROM retention");
    this.isStored = database.query<{ id: string }, [string]>("SELECT id FROM generations WHERE id = ?");
  }

  /** Returns whether the generations of a generation's time were deleted, apart from open ones. */
  includes(id: string): boolean {
    const end = this.end.get()?.before_id;
    return end !== undefined && id < end && readIdTime(id) !== null;
  }

  /**
   * Checks that none of the generations may have been deleted.
   * @throws RejectedRecordError
   */
  check(entries: readonly RecordEntry[]): void {
    const end = this.end.get()?.before_id;
    if (end === undefined) return;
    for (const { record } of entries)
      if (record.id < end && readIdTime(record.id) !== null && this.isStored.get(record.id) === null)
        throw new RejectedRecordError(
          new Error(
            `the generations of the time of ${record.id} were deleted by the retention policy, so it is unknown whether this one was charged`,
          ),
        );
  }
}
