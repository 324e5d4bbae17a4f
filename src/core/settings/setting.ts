/** The source of a setting's value: the default, the configuration file, a variable, or the stores. */
export const SETTING_SOURCES = ["default", "file", "environment", "database"] as const;
type SettingSource = (typeof SETTING_SOURCES)[number];

/** A setting in force, and the source of its value. */
export interface Setting {
  /** Its path in the configuration: `limits.body_bytes`. */
  readonly name: string;
  /** The value in force; secrets are masked. Null if it has none. */
  readonly value: unknown;
  readonly source: SettingSource;
  /** The configuration file and the line of the setting, if the source is the file. */
  readonly file: string | null;
  readonly line: number | null;
  /** The name of the environment variable, if that is the source. */
  readonly variable: string | null;
  /** The references in the file's value: names of variables, and `file:` with the path of a file. */
  readonly references: readonly string[];
  readonly isSecret: boolean;
  /** Whether a new value is in force only after a restart. */
  readonly needsRestart: boolean;
  /** Whether the file has another value, which is in force after a restart. */
  readonly awaitsRestart: boolean;
  /** What the setting does; empty if it has no description of its own. */
  readonly description: string;
}

/** Returns a setting as the management API and the commands show it. */
export function presentSetting(setting: Setting) {
  const { isSecret, needsRestart, awaitsRestart, name, value, source, file, line, variable } = setting;
  const { references, description } = setting;
  const flags = { is_secret: isSecret, needs_restart: needsRestart, awaits_restart: awaitsRestart };
  return { name, value, source, file, line, variable, references, ...flags, description };
}
