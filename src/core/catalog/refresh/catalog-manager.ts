import type { RefreshState } from "./catalog-store.ts";
import type { HeldChange } from "./merge-refresh.ts";

/** The settings of catalog refreshes and the outcome of the last one. */
export interface CatalogStatus extends Omit<RefreshState, "waiting" | "rejected"> {
  /** URL or file path. */
  readonly source: string;
  /** Hours between two refreshes; 0 refreshes only on request. */
  readonly refreshHours: number;
  /** Price changes by more than this factor are held. */
  readonly priceFactor: number;
  /** How many days models that the source no longer lists are still served. */
  readonly graceDays: number;
  /** Number of price changes that await a decision. */
  readonly waiting: number;
  /** Number of price changes that were rejected and that the source still has. */
  readonly rejected: number;
}

/** The outcome of one refresh. A failed refresh has changed nothing. */
export interface RefreshReport {
  readonly ok: boolean;
  /** Whether the stored catalog was replaced. */
  readonly written: boolean;
  /** Why it failed; null if it succeeded. */
  readonly problem: string | null;
  /** The changes, one line each. */
  readonly lines: readonly string[];
  /** Number of models added. */
  readonly added: number;
  /** Number of models changed. */
  readonly changed: number;
  /** Price changes that await a decision. */
  readonly waiting: readonly HeldChange[];
}

/** A decision on a held price change. */
export type Verdict = "approve" | "reject";

/** Keeps the stored catalog up to date with its source. */
export interface CatalogManager {
  status(): Promise<CatalogStatus>;
  /** Returns the price changes that await a decision, and the rejected ones that the source still has. */
  listHeld(): Promise<{ readonly waiting: readonly HeldChange[]; readonly rejected: readonly HeldChange[] }>;
  /** @throws GatewayError `conflict` while another refresh or decision is running. */
  refresh(options: { readonly dryRun: boolean }): Promise<RefreshReport>;
  /**
   * Approves or rejects one held change, or all of them. Approved prices apply immediately. Returns the changes decided on.
   * @throws GatewayError `not_found` for an unknown id; `conflict` like `refresh`.
   */
  decide(id: string | "all", verdict: Verdict): Promise<readonly HeldChange[]>;
}
