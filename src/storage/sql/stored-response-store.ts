import { StoreError } from "../../base/failures/store-error.ts";
import type {
  IdempotencyClaim,
  IdempotencyKey,
  StoredResponse,
  StoredResponseStore,
} from "../../core/idempotency/stored-response-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { sql } from "./statements/statement.ts";
import { type Integer, readInteger, readNullableInteger } from "./statements/values.ts";

interface ResponseRow {
  fingerprint: string;
  status: Integer | null;
  body: string | null;
}

type Claim = Parameters<StoredResponseStore["claimKey"]>[1];

/** Another process may claim and release a key between the statements that find it taken and read it. */
const MAX_TRIES = 3;
/** The maximum number of other expired keys that a claim deletes. Each claim adds at most one key. */
const MAX_SWEPT = 100;

/** The stored responses of idempotency keys. */
export class SqlStoredResponseStore implements StoredResponseStore {
  private readonly table;

  constructor(private readonly database: SqlDatabase) {
    this.table = database.traits.names.storedResponses;
  }

  /** Needs no transaction. Concurrent requests may exceed the maximum of a scope by their number. */
  async claimKey(key: IdempotencyKey, claim: Claim): Promise<IdempotencyClaim> {
    await this.sweep(key, claim.expiredAt);
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const found = await this.find(key);
      if (found !== null) return readClaim(found);
      if (await this.add(key, claim)) return { kind: "first" };
      if (await this.isFull(key, claim)) return { kind: "full" };
    }
    throw new StoreError("the idempotency key is being claimed and released by other processes");
  }

  async isClaimed({ scope, name }: IdempotencyKey, expiredAt: number): Promise<boolean> {
    const found = await this.database.run(
      sql`SELECT name FROM ${this.table}
        WHERE scope = ${scope} AND name = ${name} AND created_at >= ${expiredAt}::bigint`,
    );
    return found.length === 1;
  }

  async storeResponse({ scope, name }: IdempotencyKey, { status, body }: StoredResponse) {
    await this.database.run(
      sql`UPDATE ${this.table} SET status = ${status}, body = ${body} WHERE scope = ${scope} AND name = ${name}`,
    );
  }

  async releaseKey({ scope, name }: IdempotencyKey) {
    await this.database.run(sql`DELETE FROM ${this.table} WHERE scope = ${scope} AND name = ${name}`);
  }

  /** Deletes expired keys that no other process is deleting, and a key if it has expired. */
  private async sweep({ scope, name }: IdempotencyKey, expiredAt: number): Promise<void> {
    await this.database.run(
      sql`DELETE FROM ${this.table} WHERE (scope, name) IN
          (SELECT scope, name FROM ${this.table} WHERE created_at < ${expiredAt}::bigint LIMIT ${MAX_SWEPT}::bigint
            FOR UPDATE SKIP LOCKED)
        OR (scope = ${scope} AND name = ${name} AND created_at < ${expiredAt}::bigint)`,
    );
  }

  private async find({ scope, name }: IdempotencyKey): Promise<ResponseRow | null> {
    const [row] = await this.database.run(
      sql<ResponseRow>`SELECT fingerprint, status, body FROM ${this.table}
        WHERE scope = ${scope} AND name = ${name}`,
    );
    return row ?? null;
  }

  /** Returns false if the key is claimed or its scope is full. */
  private async add(
    { scope, name }: IdempotencyKey,
    { fingerprint, at, expiredAt, maxNames }: Claim,
  ): Promise<boolean> {
    const added = await this.database.run(
      sql`INSERT INTO ${this.table} (scope, name, fingerprint, created_at)
        SELECT ${scope}::text, ${name}::text, ${fingerprint}::text, ${at}::bigint
        WHERE (SELECT count(*) FROM ${this.table} WHERE scope = ${scope} AND created_at >= ${expiredAt}::bigint)
          < ${maxNames}::bigint
        ON CONFLICT DO NOTHING RETURNING name`,
    );
    return added.length === 1;
  }

  private async isFull({ scope }: IdempotencyKey, { expiredAt, maxNames }: Claim): Promise<boolean> {
    const [row] = await this.database.run(
      sql<{ names: Integer }>`SELECT count(*) AS names FROM ${this.table}
        WHERE scope = ${scope} AND created_at >= ${expiredAt}::bigint`,
    );
    return readInteger(row?.names ?? 0) >= maxNames;
  }
}

function readClaim({ fingerprint, status, body }: ResponseRow): IdempotencyClaim {
  const code = readNullableInteger(status);
  return { kind: "repeated", fingerprint, answer: code === null ? null : { status: code, body } };
}
