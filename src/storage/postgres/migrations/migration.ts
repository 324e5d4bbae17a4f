/** One step that creates or changes tables. The statements of a released step are never changed. */
export interface Migration {
  /** The name of its file. */
  readonly name: string;
  readonly sql: string;
  /**
   * The lowest schema version whose code still works after this step. A step that only adds has the same value as the previous step, so
   * that gateways of both versions run during an upgrade.
   */
  readonly oldestVersion: number;
}
