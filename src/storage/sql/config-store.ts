import type { SealedSecret } from "../../core/provider-keys/records.ts";
import {
  type ConfigChangeSet,
  type ConfigRevision,
  type ConfigSecret,
  type ConfigStore,
  MAX_REVISIONS,
  type RevisionHead,
} from "../../core/stored-config/config-store.ts";
import { listMasterKeys } from "./list-master-keys.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { Revision } from "./statements/revision.ts";
import { type Sql, sql, type Work } from "./statements/statement.ts";
import { integer, json, Table, text } from "./statements/table.ts";
import { type Integer, readInteger } from "./statements/values.ts";

const REVISIONS = new Table<ConfigRevision>("config_revisions", {
  revision: integer,
  document: json,
  changedAt: integer,
  changedBy: text,
  changed: json,
});

interface HeadRow {
  revision: Integer;
  changed_at: Integer;
  changed_by: string;
  changed: string;
}

interface SecretRow {
  id: string;
  last_four: string;
  master_key_id: string;
  ciphertext: string;
  created_at: Integer;
  updated_at: Integer;
}

/** The stored configuration, its former revisions, and its secrets. */
export class SqlConfigStore implements ConfigStore {
  private readonly changes: Revision;

  constructor(private readonly database: SqlDatabase) {
    this.changes = new Revision(database, "config");
  }

  configChanges() {
    return this.changes.read();
  }

  async findLatestConfig() {
    return REVISIONS.readFirst(
      await this.database.run(REVISIONS.select(sql`ORDER BY revision DESC LIMIT 1`)),
    );
  }

  async findConfigRevision(revision: number) {
    return REVISIONS.readFirst(await this.database.run(REVISIONS.select(sql`WHERE revision = ${revision}`)));
  }

  async listConfigRevisions(before: number | null, limit: number) {
    const rows = await this.database.run(
      sql<HeadRow>`SELECT revision, changed_at, changed_by, changed FROM config_revisions
        WHERE revision < ${before ?? Number.MAX_SAFE_INTEGER} ORDER BY revision DESC LIMIT ${limit}`,
    );
    return rows.map(readHead);
  }

  beginConfig(revisions: readonly Omit<ConfigRevision, "revision">[]) {
    return this.changes.change(
      function* () {
        if ((yield* readLatest()) !== 0) return false;
        for (const [index, one] of revisions.entries())
          yield* REVISIONS.insert({ ...one, revision: index + 1 });
        return true;
      },
      (hasBegun) => hasBegun,
    );
  }

  putConfig({ from, next, secrets, removedSecrets }: ConfigChangeSet) {
    const revision = from + 1;
    return this.changes.change(
      function* () {
        if ((yield* readLatest()) !== from) return null;
        yield* REVISIONS.insert({ ...next, revision });
        yield* sql`DELETE FROM config_revisions WHERE revision <= ${revision - MAX_REVISIONS}`;
        for (const secret of secrets) yield* putSecret(secret);
        for (const id of removedSecrets) yield* sql`DELETE FROM config_secrets WHERE id = ${id}`;
        return revision;
      },
      (made) => made !== null,
    );
  }

  listConfigSecrets() {
    return this.readSecrets(sql`ORDER BY id`);
  }

  listSealedByOthers(masterKeyId: string | null, afterId: string | null, limit: number) {
    return this.readSecrets(
      sql`WHERE master_key_id <> ${masterKeyId ?? ""} AND id > ${afterId ?? ""} ORDER BY id LIMIT ${limit}`,
    );
  }

  async reseal(id: string, from: SealedSecret, to: SealedSecret) {
    const replaced = await this.database.run(
      sql`UPDATE config_secrets SET master_key_id = ${to.masterKeyId}, ciphertext = ${to.ciphertext}
        WHERE id = ${id} AND master_key_id = ${from.masterKeyId} AND ciphertext = ${from.ciphertext}
        RETURNING id`,
    );
    return replaced.length > 0;
  }

  listMasterKeysInUse() {
    return listMasterKeys(this.database, "config_secrets");
  }

  private async readSecrets(rest: Sql): Promise<readonly ConfigSecret[]> {
    const rows = await this.database.run(sql<SecretRow>`SELECT * FROM config_secrets ${rest}`);
    return rows.map(readSecret);
  }
}

/** Returns the number of the latest revision; 0 if there is none. */
function* readLatest(): Work<number> {
  const [latest] = yield* sql<{ revision: Integer | null }>`
    SELECT max(revision) AS revision FROM config_revisions`;
  return readInteger(latest?.revision ?? 0);
}

function readHead(row: HeadRow): RevisionHead {
  return {
    revision: readInteger(row.revision),
    changedAt: readInteger(row.changed_at),
    changedBy: row.changed_by,
    changed: JSON.parse(row.changed) as RevisionHead["changed"],
  };
}

function putSecret({ id, lastFour, sealed, createdAt, updatedAt }: ConfigSecret): Sql {
  return sql`INSERT INTO config_secrets (id, last_four, master_key_id, ciphertext, created_at, updated_at)
    VALUES (${id}, ${lastFour}, ${sealed.masterKeyId}, ${sealed.ciphertext}, ${createdAt}, ${updatedAt})
    ON CONFLICT (id) DO UPDATE SET last_four = excluded.last_four, master_key_id = excluded.master_key_id,
      ciphertext = excluded.ciphertext, updated_at = excluded.updated_at`;
}

function readSecret(row: SecretRow): ConfigSecret {
  return {
    id: row.id,
    accountId: null,
    lastFour: row.last_four,
    sealed: { masterKeyId: row.master_key_id, ciphertext: row.ciphertext },
    createdAt: readInteger(row.created_at),
    updatedAt: readInteger(row.updated_at),
  };
}
