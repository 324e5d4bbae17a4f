/** Stores settings that the gateway keeps about itself, by name. */
export interface SettingsStore {
  findSetting(name: string): Promise<string | null>;
  /** Adds a setting. Returns false, and changes nothing, if it exists. */
  addSetting(name: string, value: string): Promise<boolean>;
  /** Adds or replaces a setting. */
  putSetting(name: string, value: string): Promise<void>;
}
