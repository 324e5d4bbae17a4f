import type { Checked, ImportedCatalog } from "../served/validate-catalog.ts";
import type { HeldChange } from "./merge-refresh.ts";

/** The outcome of the last refresh, and the price changes that await a decision. Times in milliseconds since the epoch. */
export interface RefreshState {
  readonly attemptedAt: number | null;
  /** When the source was last read and accepted. */
  readonly refreshedAt: number | null;
  /** Why the last attempt changed nothing; null if it succeeded. */
  readonly problem: string | null;
  /** The changes of the last refresh that changed anything, one line each. */
  readonly difference: readonly string[];
  readonly waiting: readonly HeldChange[];
  readonly rejected: readonly HeldChange[];
}

export const NO_REFRESH: RefreshState = {
  attemptedAt: null,
  refreshedAt: null,
  problem: null,
  difference: [],
  waiting: [],
  rejected: [],
};

/**
 * Stores the imported catalog, which replaces the shipped models, and the state of its refreshes. Each write is atomic: readers, even in
 * other processes, see either the previous value or the new one.
 */
export interface CatalogStore {
  /** Names the stored catalog in messages, such as the path of its file. */
  readonly location: string;
  /** Returns a version that changes with every write of the catalog, and when the catalog becomes readable or unreadable. Never throws. */
  readVersion(): Promise<string>;
  /** Returns the imported catalog, or the problem with it; null if none was imported. Never throws. */
  readCatalog(): Promise<Checked<ImportedCatalog> | null>;
  writeCatalog(catalog: ImportedCatalog): Promise<void>;
  /**
   * Returns the state of refreshes; `NO_REFRESH` if there is none or it cannot be read. Losing it is harmless: the old prices still apply,
   * so the next refresh holds the same changes again.
   */
  readRefreshState(): Promise<RefreshState>;
  writeRefreshState(state: RefreshState): Promise<void>;
}
