import type { Database } from "bun:sqlite";
import {
  DRAIN_SETTING,
  type Drain,
  type DrainStore,
  type DrainTarget,
  drainNameOf,
} from "../../core/routing/health/drain-store.ts";
import { SettingGroup } from "./setting-group.ts";

/** Drains in the settings of SQLite. */
export class SqliteDrainStore implements DrainStore {
  private readonly settings: SettingGroup;

  constructor(database: Database) {
    this.settings = new SettingGroup(database, { prefix: DRAIN_SETTING, revision: "drain_revision" });
  }

  async drainRevision() {
    return this.settings.revision();
  }

  async listDrains() {
    return this.settings.list().map((value) => JSON.parse(value) as Drain);
  }

  async putDrain(drain: Drain) {
    this.settings.put(drainNameOf(drain), JSON.stringify(drain));
  }

  async deleteDrain(target: DrainTarget) {
    return this.settings.delete(drainNameOf(target));
  }
}
