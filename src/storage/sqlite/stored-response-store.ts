import type { Database } from "bun:sqlite";
import type {
  IdempotencyClaim,
  IdempotencyKey,
  StoredResponseStore,
} from "../../core/idempotency/stored-response-store.ts";

interface AnswerRow {
  fingerprint: string;
  status: number | null;
  body: string | null;
}

/** Deletes the claimed key if it has expired, and some of the other expired keys: each claim adds one at most. */
const SWEEP = `DELETE FROM kept_answers WHERE (scope, name) IN
    (SELECT scope, name FROM kept_answers WHERE created_at < ?1 LIMIT 100)
  OR (scope = ?2 AND name = ?3 AND created_at < ?1)`;

/** The stored responses of idempotency keys in SQLite. */
export function createSqliteStoredResponseStore(database: Database): StoredResponseStore {
  const sweep = database.query(SWEEP);
  const find = database.query<AnswerRow, [string, string]>(
    "SELECT fingerprint, status, body FROM kept_answers WHERE scope = ? AND name = ?",
  );
  const count = database.query<{ names: number }, [string, number]>(
    "SELECT count(*) AS names FROM kept_answers WHERE scope = ? AND created_at >= ?",
  );
  const insert = database.query(
    "INSERT INTO kept_answers (scope, name, fingerprint, created_at) VALUES (?, ?, ?, ?)",
  );
  const keep = database.query("UPDATE kept_answers SET status = ?, body = ? WHERE scope = ? AND name = ?");
  const release = database.query("DELETE FROM kept_answers WHERE scope = ? AND name = ?");

  type Claim = Parameters<StoredResponseStore["claimKey"]>[1];
  const claimKey = database.transaction(({ scope, name }: IdempotencyKey, claim: Claim): IdempotencyClaim => {
    sweep.run(claim.expiredAt, scope, name);
    const row = find.get(scope, name);
    if (row !== null) {
      const answer = row.status === null ? null : { status: row.status, body: row.body };
      return { kind: "repeated", fingerprint: row.fingerprint, answer };
    }
    if ((count.get(scope, claim.expiredAt)?.names ?? 0) >= claim.maxNames) return { kind: "full" };
    insert.run(scope, name, claim.fingerprint, claim.at);
    return { kind: "first" };
  });

  return {
    async claimKey(request, claim) {
      return claimKey.immediate(request, claim);
    },
    async storeResponse({ scope, name }, { status, body }) {
      keep.run(status, body, scope, name);
    },
    async releaseKey({ scope, name }) {
      release.run(scope, name);
    },
  };
}
