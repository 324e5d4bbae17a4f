import { MINUTE_MS } from "../../../base/time/time.ts";
import type { Rejection } from "./rejection.ts";
import { ANY_REJECTION, type RejectionQuery } from "./rejection-store.ts";

/** How far back each reading begins: a sum is written up to a minute after its last request. Milliseconds. */
const OVERLAP_MS = MINUTE_MS + 10_000;
/** The maximum number of rejections of one reading. */
const MAX_READ = 500;

/** Finds the rejections that are new since the last reading. */
export class NewRejections {
  private known: ReadonlySet<string> = new Set();

  /** Returns those that were not there at the last reading, the earliest first. Rejects with a `StoreError`. */
  async read(
    list: { list(query: RejectionQuery): Promise<readonly Rejection[]> },
    now: number,
  ): Promise<readonly Rejection[]> {
    const query = { ...ANY_REJECTION, fromMs: now - OVERLAP_MS, before: null, limit: MAX_READ };
    const rows = await list.list(query);
    const { known } = this;
    this.known = new Set(rows.map(({ id }) => id));
    return rows.filter(({ id }) => !known.has(id)).reverse();
  }
}
