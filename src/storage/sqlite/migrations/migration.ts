/** One step that creates or changes tables. The statements of a released step are never changed. */
export interface SqliteMigration {
  readonly sql: string;
  /**
   * The lowest schema version whose code still works after this step. A step that only adds has the same value as the previous step, so
   * that the previous version can start again on the file.
   */
  readonly oldestVersion: number;
}
