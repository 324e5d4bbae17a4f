import type { Database } from "bun:sqlite";
import type { ProviderKeyStore } from "../../core/provider-keys/provider-key-store.ts";
import type {
  KeyFailure,
  KeyUse,
  ProviderKeyRecord,
  SealedSecret,
} from "../../core/provider-keys/records.ts";
import { Revision } from "./revision.ts";

interface ProviderKeyRow {
  id: string;
  account_id: string;
  provider: string;
  name: string;
  last_four: string;
  master_key_id: string;
  box: string;
  place: number;
  enabled: number;
  models: string | null;
  members: string | null;
  created_at: number;
  updated_at: number;
  last_used_at: number | null;
  last_error: string | null;
}

/** BYOK keys in SQLite. Every change that other processes must notice raises the revision in the same transaction. */
export class SqliteProviderKeyStore implements ProviderKeyStore {
  private readonly revision: Revision;

  constructor(private readonly database: Database) {
    this.revision = new Revision(database, "provider_key_revision");
  }

  async insertProviderKey(key: ProviderKeyRecord) {
    const { masterKeyId, ciphertext: box } = key.sealed;
    const fields = { ...encodeChangeable(key), ...encodeFixed(key), masterKeyId, box };
    this.change(() => this.database.query(INSERT_KEY).run(fields).changes);
  }

  async updateProviderKey(key: ProviderKeyRecord, sealed: SealedSecret | null) {
    return this.change(() => {
      const { changes } = this.database.query(UPDATE_KEY).run({ ...encodeChangeable(key), id: key.id });
      if (sealed !== null)
        this.database
          .query("UPDATE provider_keys SET master_key_id = ?, box = ? WHERE id = ?")
          .run(sealed.masterKeyId, sealed.ciphertext, key.id);
      return changes;
    });
  }

  async removeProviderKey(id: string) {
    return this.change(() => this.database.query("DELETE FROM provider_keys WHERE id = ?").run(id).changes);
  }

  async findProviderKey(id: string) {
    const row = this.database
      .query<ProviderKeyRow, [string]>("SELECT * FROM provider_keys WHERE id = ?")
      .get(id);
    return row === null ? null : readRow(row);
  }

  async listProviderKeys(accountId: string) {
    const rows = this.database.query<ProviderKeyRow, [string]>(
      "SELECT * FROM provider_keys WHERE account_id = ? ORDER BY provider, place, id",
    );
    return rows.all(accountId).map(readRow);
  }

  async providerKeyRevision() {
    return this.revision.read();
  }

  async recordKeyUses(uses: readonly KeyUse[]) {
    const record = this.database.query(
      `UPDATE provider_keys SET last_used_at = max(coalesce(last_used_at, 0), $usedAt),
         last_error = CASE WHEN $error IS NULL OR last_error ->> 'at' > $error ->> 'at' THEN last_error ELSE $error END
       WHERE id = $id`,
    );
    this.inTransaction(() => {
      for (const { id, usedAt, error } of uses)
        record.run({ id, usedAt, error: error === null ? null : JSON.stringify(error) });
    });
  }

  async listSealedByOthers(masterKeyId: string | null, afterId: string | null, limit: number) {
    const rows = this.database.query<ProviderKeyRow, [string, string, number]>(
      "SELECT * FROM provider_keys WHERE master_key_id <> ? AND id > ? ORDER BY id LIMIT ?",
    );
    return rows.all(masterKeyId ?? "", afterId ?? "", limit).map(readRow);
  }

  async reseal(id: string, from: SealedSecret, to: SealedSecret) {
    const update = this.database.query(
      `UPDATE provider_keys SET master_key_id = $toMaster, box = $toBox
       WHERE id = $id AND master_key_id = $fromMaster AND box = $fromBox`,
    );
    const before = { fromMaster: from.masterKeyId, fromBox: from.ciphertext };
    return update.run({ id, ...before, toMaster: to.masterKeyId, toBox: to.ciphertext }).changes > 0;
  }

  async listMasterKeysInUse() {
    const ids = this.database.query<{ id: string }, []>(
      "SELECT DISTINCT master_key_id AS id FROM provider_keys",
    );
    return ids.all().map(({ id }) => id);
  }

  /** Makes a change and raises the revision in one transaction. Returns whether anything changed. */
  private change(make: () => number): boolean {
    return this.inTransaction(() => {
      const changes = make();
      if (changes > 0) this.revision.raise();
      return changes > 0;
    });
  }

  private inTransaction<Result>(work: () => Result): Result {
    return this.database.transaction(work).immediate();
  }
}

const INSERT_KEY = `INSERT INTO provider_keys
    (id, account_id, provider, name, last_four, master_key_id, box, place, enabled, models, members,
     created_at, updated_at)
  VALUES
    ($id, $accountId, $provider, $name, $lastFour, $masterKeyId, $box, $place, $enabled, $models, $members,
     $createdAt, $updatedAt)`;

const UPDATE_KEY = `UPDATE provider_keys SET name = $name, last_four = $lastFour, place = $place, enabled = $enabled,
    models = $models, members = $members, updated_at = $updatedAt WHERE id = $id`;

/** The columns that never change. */
function encodeFixed({ id, accountId, provider, createdAt }: ProviderKeyRecord) {
  return { id, accountId, provider, createdAt };
}

/** The columns that an update may change. */
function encodeChangeable(key: ProviderKeyRecord) {
  return {
    name: key.name,
    lastFour: key.lastFour,
    place: key.order,
    enabled: key.enabled ? 1 : 0,
    models: encodeList(key.models),
    members: encodeList(key.members),
    updatedAt: key.updatedAt,
  };
}

function encodeList(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}

function readList(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

function readRow(row: ProviderKeyRow): ProviderKeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    name: row.name,
    lastFour: row.last_four,
    sealed: { masterKeyId: row.master_key_id, ciphertext: row.box },
    order: row.place,
    enabled: row.enabled === 1,
    models: readList(row.models),
    members: readList(row.members),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastUsedAt: row.last_used_at,
    lastError: row.last_error === null ? null : (JSON.parse(row.last_error) as KeyFailure),
  };
}
