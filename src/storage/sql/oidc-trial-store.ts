import {
  type EndedTrial,
  MAX_TRIALS,
  type OidcTrial,
  type OidcTrialStore,
} from "../../core/console/oidc-trial-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { type Sql, sql, type Work } from "./statements/statement.ts";
import { integer, json, Table, text } from "./statements/table.ts";

const TRIALS = new Table<OidcTrial>("oidc_trials", {
  id: text,
  stateHash: text,
  configHash: text,
  sessionId: text,
  keyId: text,
  sealed: text,
  outcome: json,
  succeeded: integer,
  expiresAt: integer,
});

/** Trial sign-ins at OpenID Connect providers. */
export class SqlOidcTrialStore implements OidcTrialStore {
  constructor(private readonly database: SqlDatabase) {}

  insertTrial(trial: OidcTrial, now: number) {
    return this.database.transaction(() => insertTrial(trial, now));
  }

  findTrial(id: string) {
    return this.find(sql`id = ${id}`);
  }

  findTrialByState(stateHash: string) {
    return this.find(sql`state_hash = ${stateHash}`);
  }

  async endTrial({ id, outcome, succeeded, expiresAt }: EndedTrial) {
    const ended = await this.database.run(
      sql`UPDATE oidc_trials SET sealed = NULL, outcome = ${JSON.stringify(outcome)},
        succeeded = ${succeeded}::bigint, expires_at = ${expiresAt}::bigint
        WHERE id = ${id} AND outcome IS NULL RETURNING id`,
    );
    return ended.length === 1;
  }

  async hasSucceeded(configHash: string, now: number) {
    const found = await this.database.run(
      sql`SELECT id FROM oidc_trials
        WHERE config_hash = ${configHash} AND succeeded = 1 AND expires_at > ${now}::bigint LIMIT 1`,
    );
    return found.length === 1;
  }

  private async find(condition: Sql): Promise<OidcTrial | null> {
    return TRIALS.readFirst(await this.database.run(TRIALS.select(sql`WHERE ${condition}`)));
  }
}

/** Inserts a trial. Deletes expired ones, and the oldest. */
function* insertTrial(trial: OidcTrial, now: number): Work<void> {
  yield* sql`DELETE FROM oidc_trials WHERE expires_at <= ${now}::bigint`;
  yield* sql`DELETE FROM oidc_trials WHERE id NOT IN
    (SELECT id FROM oidc_trials ORDER BY id DESC LIMIT ${MAX_TRIALS - 1}::bigint)`;
  yield* TRIALS.insert(trial);
}
