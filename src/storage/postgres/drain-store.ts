import {
  DRAIN_SETTING,
  type Drain,
  type DrainStore,
  type DrainTarget,
  drainNameOf,
} from "../../core/routing/health/drain-store.ts";
import type { Postgres } from "./client.ts";
import type { KnownRevisions } from "./revision.ts";
import { SettingGroup } from "./setting-group.ts";

/** Drains in the settings of PostgreSQL. */
export class PostgresDrainStore implements DrainStore {
  private readonly settings: SettingGroup;

  constructor(database: Postgres, revisions?: KnownRevisions) {
    this.settings = new SettingGroup(database, { prefix: DRAIN_SETTING, revision: "drains" }, revisions);
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
