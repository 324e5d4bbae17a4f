import type { HeldChange } from "./merge-refresh.ts";

/** How the catalog stands to its source. Times in milliseconds since the epoch. */
export interface CatalogStatus {
  /** Address or file. */
  readonly source: string;
  /** Hours between two refreshes; 0: only when asked. */
  readonly refreshHours: number;
  readonly priceFactor: number;
  readonly graceDays: number;
  readonly attemptedAt: number | null;
  /** When the source was last read and found sound. */
  readonly refreshedAt: number | null;
  /** Why the last attempt changed nothing; null where it did not fail. */
  readonly problem: string | null;
  /** What the last refresh changed, a line each. */
  readonly difference: readonly string[];
  readonly waiting: number;
  readonly rejected: number;
}

/** What came of a refresh; a failed one has changed nothing. */
export interface RefreshReport {
  readonly ok: boolean;
  /** The catalog was written anew. */
  readonly written: boolean;
  /** Why it failed. */
  readonly problem: string | null;
  /** The difference, a line each, and what the source's list is like. */
  readonly lines: readonly string[];
  readonly added: number;
  readonly changed: number;
  /** Changes of prices that wait for the operator. */
  readonly waiting: readonly HeldChange[];
}

/** What the operator says to a change that waits. */
export type Verdict = "approve" | "reject";

/** Keeps the catalog in step with its source. */
export interface CatalogKeeper {
  status(): CatalogStatus;
  /** Changes that wait, and those that were rejected and that the source still has. */
  listHeld(): { readonly waiting: readonly HeldChange[]; readonly rejected: readonly HeldChange[] };
  /** @throws GatewayError `conflict` while another refresh or decision is under way. */
  refresh(options: { readonly dryRun: boolean }): Promise<RefreshReport>;
  /**
   * Decides on one change that waits, or on all; an approved one is in force at once. Gives those decided on.
   * @throws GatewayError `not_found`; `conflict` as above.
   */
  decide(id: string | "all", verdict: Verdict): Promise<readonly HeldChange[]>;
}
