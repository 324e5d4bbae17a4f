import {
  DRAIN_SETTING,
  type Drain,
  type DrainStore,
  type DrainTarget,
  drainNameOf,
} from "../../core/routing/health/drain-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { SettingGroup } from "./statements/setting-group.ts";

/** Drains in the settings. */
export class SqlDrainStore implements DrainStore {
  private readonly settings: SettingGroup;

  constructor(database: SqlDatabase) {
    this.settings = new SettingGroup(database, { prefix: DRAIN_SETTING, revision: "drains" });
  }

  drainRevision() {
    return this.settings.revision();
  }

  async listDrains() {
    return (await this.settings.list()).map((value) => JSON.parse(value) as Drain);
  }

  putDrain(drain: Drain) {
    return this.settings.put(drainNameOf(drain), JSON.stringify(drain));
  }

  deleteDrain(target: DrainTarget) {
    return this.settings.delete(drainNameOf(target));
  }
}
