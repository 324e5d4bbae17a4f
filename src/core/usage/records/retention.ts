/** The result of a step of a deletion or a roll-up. */
export interface StepReport {
  /** Whether there is more to do immediately. */
  readonly hasMore: boolean;
}

/** Deletes old generation records. */
export interface UsageRetention {
  /**
   * Deletes generations of the days before `day`, and their charges, in one bounded step. The sums of usage, the balances, and the rests of
   * grants do not change. The sums of the deleted charges are kept for checks of the ledger. Open generations stay, as may others of their
   * day. From the first call on, unknown generations of those days are rejected when they are saved, because they may have been charged
   * before.
   */
  dropUsage(day: number): Promise<StepReport>;
}

/** Rolls sums of usage up. */
export interface UsageRollUp {
  /**
   * Merges the hourly sums of the days before `day` into daily sums, in one bounded step. Reports and spending do not change, except that
   * hours are no longer known. Sums of records that are saved later for such a day are merged by a later call.
   */
  rollUpHours(day: number): Promise<StepReport>;
}
