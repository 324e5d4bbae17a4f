/** Small facts that a gateway keeps about itself, made once. */
export interface SettingsStore {
  findSetting(name: string): Promise<string | null>;
  /** Stores a setting unless it is there; true when it was stored. */
  addSetting(name: string, value: string): Promise<boolean>;
}
