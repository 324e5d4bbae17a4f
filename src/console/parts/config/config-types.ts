import type { Setting, StoredConfig } from "../../api/schema.ts";

/** A path of the configuration. Entries stand by their ids: `["providers", "mine", "models", "author/model"]`. */
export type ConfigPath = readonly string[];

/** A change of the stored configuration: a value at a path, or its removal. */
export type ConfigEdit =
  | { readonly path: ConfigPath; readonly value: unknown }
  | { readonly path: ConfigPath; readonly remove: true };

/** The stored configuration, with the settings in force. */
export interface LoadedConfig {
  readonly stored: StoredConfig;
  readonly settings: readonly Setting[];
}
