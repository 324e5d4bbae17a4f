import type { SqlTraits } from "../statements/database.ts";
import { type Sql, sql, type Work } from "../statements/statement.ts";
import type { Integer } from "../statements/values.ts";

/**
 * A chain has a row as long as it has objects or is a conversation. All of it expires at the time in that row, so that a chain that is used
 * again costs one change, however long it is.
 *
 * A transaction locks chains first, then what is in them, and the sums of accounts last, by their ids: all objects that are added to an
 * account wait for its sum. So transactions wait for each other, but never in a circle.
 */

/** What a change does to a chain. */
interface ChainChange {
  readonly rootId: string;
  readonly expiresAt: number;
  /** The day of an object that is added; null for a conversation, which has none yet. */
  readonly day: number | null;
}

/** Creates a chain, or lets an existing one expire later. Counts an object that is added, and its day. Locks the chain. */
export function putChain({ rootId, expiresAt, day }: ChainChange): Sql {
  return sql`INSERT INTO response_chains AS chain (root_id, expires_at, objects, first_day, last_day)
    VALUES (${rootId}, ${expiresAt}, ${day === null ? 0 : 1}, ${day}, ${day})
    ON CONFLICT (root_id) DO UPDATE SET
      expires_at = CASE WHEN excluded.expires_at > chain.expires_at THEN excluded.expires_at ELSE chain.expires_at END,
      objects = chain.objects + excluded.objects,
      first_day = CASE WHEN chain.first_day < excluded.first_day THEN chain.first_day
        ELSE coalesce(excluded.first_day, chain.first_day) END,
      last_day = CASE WHEN chain.last_day > excluded.last_day THEN chain.last_day
        ELSE coalesce(excluded.last_day, chain.last_day) END`;
}

/** Lets a chain expire later. */
export function extendChain(rootId: string, expiresAt: number): Sql {
  return sql`UPDATE response_chains SET expires_at = ${expiresAt}
    WHERE root_id = ${rootId} AND expires_at < ${expiresAt}`;
}

/** Subtracts removed objects from their chains, and deletes chains that have nothing left. */
export function* leaveChains(traits: SqlTraits, removed: ReadonlyMap<string, number>): Work<void> {
  const list = traits.listAs("gone", { root_id: "text", objects: "bigint" }, [...removed]);
  yield* sql`UPDATE response_chains AS chain SET objects = chain.objects - gone.objects
    FROM ${list} WHERE chain.root_id = gone.root_id`;
  yield* deleteEmptyChains(traits, [...removed.keys()]);
}

/** Deletes those of the chains that have neither objects nor a conversation. The transaction has locked them. */
export function deleteEmptyChains(traits: SqlTraits, rootIds: readonly string[]): Sql {
  return sql`DELETE FROM response_chains WHERE ${traits.isOneOf("root_id", rootIds)} AND objects = 0
    AND NOT EXISTS (SELECT 1 FROM response_conversations AS v WHERE v.id = response_chains.root_id)`;
}

/** Bytes of a row that count for an account. */
export interface AccountBytes {
  readonly account_id: string;
  readonly bytes: Integer;
}

/**
 * Adds bytes to the sums of accounts, or subtracts them, and returns the new sums. An account gets a row with its first object or
 * conversation.
 */
export function addBytes(traits: SqlTraits, added: ReadonlyMap<string, number>): Sql<{ bytes: Integer }> {
  const list = traits.listAs("added", { account_id: "text", bytes: "bigint" }, [...added]);
  return sql`INSERT INTO response_accounts AS account (account_id, bytes)
    SELECT added.account_id, added.bytes FROM ${list} WHERE true ORDER BY added.account_id
    ON CONFLICT (account_id) DO UPDATE SET bytes = account.bytes + excluded.bytes RETURNING bytes`;
}
