import type { Database } from "bun:sqlite";
import type { ProviderKeyStore } from "../../core/provider-keys/provider-key-store.ts";
import type { KeyFailure, KeyUse, ProviderKeyRecord } from "../../core/provider-keys/records.ts";

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

/** Accounts' own keys at providers, in SQLite. Every change that others must hear of raises the revision in the same transaction. */
export function createSqliteProviderKeyStore(database: Database): ProviderKeyStore {
  const insert = database.query(
    `INSERT INTO provider_keys
       (id, account_id, provider, name, last_four, master_key_id, box, place, enabled, models, members,
        created_at, updated_at)
     VALUES
       ($id, $accountId, $provider, $name, $lastFour, $masterKeyId, $box, $place, $enabled, $models, $members,
        $createdAt, $updatedAt)`,
  );
  const update = database.query(
    `UPDATE provider_keys SET name = $name, last_four = $lastFour, place = $place, enabled = $enabled, models = $models,
       members = $members, updated_at = $updatedAt WHERE id = $id`,
  );
  const replaceSecret = database.query("UPDATE provider_keys SET master_key_id = ?, box = ? WHERE id = ?");
  const remove = database.query("DELETE FROM provider_keys WHERE id = ?");
  const byId = database.query<ProviderKeyRow, [string]>("SELECT * FROM provider_keys WHERE id = ?");
  const ofAccount = database.query<ProviderKeyRow, [string]>(
    "SELECT * FROM provider_keys WHERE account_id = ? ORDER BY provider, place, id",
  );
  const revision = database.query<{ value: string }, []>(
    "SELECT value FROM settings WHERE name = 'provider_key_revision'",
  );
  const raise = database.query("UPDATE settings SET value = value + 1 WHERE name = 'provider_key_revision'");
  const recordUse = database.query(
    `UPDATE provider_keys SET last_used_at = max(coalesce(last_used_at, 0), $usedAt),
       last_error = coalesce($error, last_error) WHERE id = $id`,
  );
  const byOthers = database.query<ProviderKeyRow, [string, string, number]>(
    "SELECT * FROM provider_keys WHERE master_key_id <> ? AND id > ? ORDER BY id LIMIT ?",
  );
  const reseal = database.query(
    `UPDATE provider_keys SET master_key_id = $toMaster, box = $toBox
     WHERE id = $id AND master_key_id = $fromMaster AND box = $fromBox`,
  );
  const inUse = database.query<{ id: string }, []>("SELECT DISTINCT master_key_id AS id FROM provider_keys");

  /** A change and the revision that tells of it, or neither. */
  const change = database.transaction((make: () => number) => {
    const changes = make();
    if (changes > 0) raise.run();
    return changes > 0;
  });
  const noteAll = database.transaction((uses: readonly KeyUse[]) => {
    for (const { id, usedAt, error } of uses) {
      recordUse.run({ id, usedAt, error: error === null ? null : JSON.stringify(error) });
    }
  });

  return {
    async insertProviderKey(key) {
      const { masterKeyId, ciphertext: box } = key.sealed;
      change(() => insert.run({ ...describe(key), ...identify(key), masterKeyId, box }).changes);
    },
    async updateProviderKey(key, sealed) {
      return change(() => {
        const { changes } = update.run({ ...describe(key), id: key.id });
        if (sealed !== null) replaceSecret.run(sealed.masterKeyId, sealed.ciphertext, key.id);
        return changes;
      });
    },
    async removeProviderKey(id) {
      return change(() => remove.run(id).changes);
    },
    async findProviderKey(id) {
      const row = byId.get(id);
      return row === null ? null : readRow(row);
    },
    async listProviderKeys(accountId) {
      return ofAccount.all(accountId).map(readRow);
    },
    async providerKeyRevision() {
      return Number(revision.get()?.value);
    },
    async recordKeyUses(uses) {
      noteAll(uses);
    },
    async listSealedByOthers(masterKeyId, afterId, limit) {
      return byOthers.all(masterKeyId ?? "", afterId ?? "", limit).map(readRow);
    },
    async reseal(id, from, to) {
      const names = { fromMaster: from.masterKeyId, fromBox: from.ciphertext };
      return reseal.run({ id, ...names, toMaster: to.masterKeyId, toBox: to.ciphertext }).changes > 0;
    },
    async listMasterKeysInUse() {
      return inUse.all().map(({ id }) => id);
    },
  };
}

/** What never changes of a key. */
function identify({ id, accountId, provider, createdAt }: ProviderKeyRecord) {
  return { id, accountId, provider, createdAt };
}

/** What its owner may change of it. */
function describe(key: ProviderKeyRecord) {
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
