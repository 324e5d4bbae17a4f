/** A setting that differs between the configuration in force and the file. */
export interface ConfigChange {
  /** The path of the setting: `limits.attempts`. */
  readonly name: string;
  /** The value in force, and that of the file; null for none. Secrets are masked. */
  readonly before: unknown;
  readonly after: unknown;
  readonly isSecret: boolean;
  /** Whether only a restart puts the value in force. */
  readonly needsRestart: boolean;
}

/** The result of a reload. */
export interface ConfigReload {
  readonly changes: readonly ConfigChange[];
  /** Whether the changes that need no restart are in force. */
  readonly applied: boolean;
}

/** How to reload. */
export interface ReloadOptions {
  /** Whether only the changes are wanted. */
  readonly dryRun: boolean;
}

/** Returns a reload as the management API and the commands show it. */
export function presentReload({ changes, applied }: ConfigReload) {
  return { applied, changes: changes.map(presentChange) };
}

/** Returns a change of a setting as the management API and the commands show it. */
export function presentChange({ name, before, after, isSecret, needsRestart }: ConfigChange) {
  return { name, before, after, is_secret: isSecret, needs_restart: needsRestart };
}

/** Returns the changes of a reload as the audit log records them: of each setting that is in force now, the values before and after. */
export function describeReload({ changes, applied }: ConfigReload): Readonly<Record<string, unknown>> {
  if (!applied) return { dry_run: true };
  const made = changes.filter(({ needsRestart }) => !needsRestart);
  return Object.fromEntries(made.map(({ name, before, after }) => [name, { before, after }]));
}
