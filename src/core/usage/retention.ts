/** What a step of a deletion did. */
export interface DropReport {
  /** Whether there is more to delete at once. */
  readonly hasMore: boolean;
}

/** Deletes old generation records. */
export interface UsageRetention {
  /**
   * Deletes generations of the days before `day`, and their charges, in one bounded step. The sums of days, balances, and what is left
   * of grants stay as they are; the sums of the deleted charges are kept for checks of the ledger. Open generations stay, as may others
   * of their day. From the first call on, a generation of those days that is not stored is rejected when it is saved: it may have been
   * charged before.
   */
  dropUsage(day: number): Promise<DropReport>;
}
