/** Notices changes that other processes make in a store, for the caches in memory. */
export interface ChangeSource {
  /** How often `read` is to be called. Milliseconds. */
  readonly periodMs: number;
  /**
   * Reads the revisions of everything that is cached in one call. The stores return the revisions of the last call. Rejects with a
   * `StoreError` if the store is unavailable.
   */
  read(): Promise<void>;
  /**
   * Calls `onHint` soon after another process has changed something. Hints may be late, lost or repeated: `read` is the truth.
   * `isAboutGateways`: a gateway has registered or ended.
   */
  listen(onHint: (isAboutGateways: boolean) => void): void;
}

/** How often changes of other processes are looked for in stores of one machine. Milliseconds. */
const LOCAL_PERIOD_MS = 1_000;

/** For stores whose revisions cost nothing to read: each cache reads its own when it is refreshed. */
export const LOCAL_CHANGES: ChangeSource = {
  periodMs: LOCAL_PERIOD_MS,
  read: async () => {},
  listen() {},
};
