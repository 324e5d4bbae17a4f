import type { StepReport } from "../records/retention.ts";
import type { RejectionBounds, RejectionStore } from "./rejection-store.ts";

/** The number of rows that are kept, whatever their age: 100 MB at most. */
const MOST_ROWS: RejectionBounds = { known: 100_000, unknown: 50_000 };
/** The number of rows that one statement deletes. */
const DELETED_AT_ONCE = 1_000;

/** Deletes rows of requests before a time, and the oldest over the bound, in one bounded step. Rejects with a `StoreError`. */
export async function sweepRejections(
  store: Pick<RejectionStore, "deleteRejectionsBefore" | "deleteExcessRejections">,
  beforeMs: number,
  bounds: RejectionBounds = MOST_ROWS,
): Promise<StepReport> {
  const old = await store.deleteRejectionsBefore(beforeMs, DELETED_AT_ONCE);
  const excess = await store.deleteExcessRejections(bounds, DELETED_AT_ONCE);
  return { hasMore: Math.max(old, excess) >= DELETED_AT_ONCE };
}
