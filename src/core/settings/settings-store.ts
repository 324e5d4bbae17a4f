/** Small facts that a gateway keeps about itself. */
export interface SettingsStore {
  findSetting(name: string): Promise<string | null>;
  /** Stores a setting unless it is there; true when it was stored. */
  addSetting(name: string, value: string): Promise<boolean>;
  /** Stores a setting in place of what is there. */
  putSetting(name: string, value: string): Promise<void>;
}
