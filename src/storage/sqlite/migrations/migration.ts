/** One step that creates or changes tables. The statements of a released step are never changed. */
export interface SqliteMigration {
  readonly sql: string;
  /**
   * The lowest schema version whose code still works after this step. A step that only adds keeps the value of the step before it, so
   * that the version before starts again on the file.
   */
  readonly oldestVersion: number;
}
