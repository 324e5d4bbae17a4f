import { StoreError } from "../../base/failures/store-error.ts";
import type {
  IdempotencyClaim,
  IdempotencyKey,
  StoredResponse,
  StoredResponseStore,
} from "../../core/idempotency/stored-response-store.ts";
import type { SqlRunner } from "./client.ts";

interface ResponseRow {
  fingerprint: string;
  status: number | null;
  body: string | null;
}

type Claim = Parameters<StoredResponseStore["claimKey"]>[1];

/** Another process may release a key between the two statements that find it taken and read it. */
const MAX_TRIES = 3;

/** The stored responses of idempotency keys in PostgreSQL. */
export class PostgresStoredResponseStore implements StoredResponseStore {
  constructor(private readonly database: SqlRunner) {}

  async claimKey({ scope, name }: IdempotencyKey, claim: Claim): Promise<IdempotencyClaim> {
    const { fingerprint, at, expiredAt, maxNames } = claim;
    await this.database.run(SWEEP, [expiredAt, scope, name]);
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const [found] = await this.database.run<ResponseRow>(
        "SELECT fingerprint, status, body FROM stored_responses WHERE scope = $1 AND name = $2",
        [scope, name],
      );
      if (found !== undefined) return readClaim(found);
      const values = [scope, name, fingerprint, at, expiredAt, maxNames];
      const [outcome] = await this.database.run<{ is_full: boolean; is_added: boolean }>(CLAIM, values);
      if (outcome?.is_added === true) return { kind: "first" };
      if (outcome?.is_full === true) return { kind: "full" };
    }
    throw new StoreError("the idempotency key is being claimed and released by other processes");
  }

  async storeResponse({ scope, name }: IdempotencyKey, { status, body }: StoredResponse) {
    await this.database.run(
      "UPDATE stored_responses SET status = $3, body = $4 WHERE scope = $1 AND name = $2",
      [scope, name, status, body],
    );
  }

  async releaseKey({ scope, name }: IdempotencyKey) {
    await this.database.run("DELETE FROM stored_responses WHERE scope = $1 AND name = $2", [scope, name]);
  }
}

/** Deletes expired keys that no other process is deleting, and the claimed one if it has expired. */
const SWEEP = `DELETE FROM stored_responses WHERE (scope, name) IN
    (SELECT scope, name FROM stored_responses WHERE created_at < $1 LIMIT 1000 FOR UPDATE SKIP LOCKED)
  OR (scope = $2 AND name = $3 AND created_at < $1)`;

/** Claims a key unless it is claimed or its scope is full. Requests at the same time may exceed the maximum by their number. */
const CLAIM = `WITH scope_size AS (
    SELECT count(*) >= $6::bigint AS is_full FROM stored_responses WHERE scope = $1 AND created_at >= $5::bigint
  ), added AS (
    INSERT INTO stored_responses (scope, name, fingerprint, created_at)
    SELECT $1, $2, $3, $4::bigint FROM scope_size WHERE NOT is_full ON CONFLICT DO NOTHING RETURNING 1
  )
  SELECT is_full, EXISTS (SELECT FROM added) AS is_added FROM scope_size`;

function readClaim({ fingerprint, status, body }: ResponseRow): IdempotencyClaim {
  return { kind: "repeated", fingerprint, answer: status === null ? null : { status, body } };
}
