import { createTurnLine } from "../../base/time/next-turn.ts";
import type { KeyRecord } from "../../core/accounts/records/records.ts";
import { KEYS, SqlKeyStore } from "../sql/key-store.ts";
import { sql } from "../sql/statements/statement.ts";

/** The number of keys that one slice of a search through all keys reads. Each slice has a turn of the event loop of its own. */
const SLICE = 2_000;
/** Follows every id. */
const LAST_ID = "\u{10ffff}";

/** API keys in SQLite. A search through all keys is done in slices. */
export class SqliteKeyStore extends SqlKeyStore {
  private readonly turn = createTurnLine();

  override async listExpiringKeys(after: number, until: number, limit: number) {
    let found: KeyRecord[] = [];
    for (let from: string | null = ""; from !== null; ) {
      const to: string | null = await this.findEnd(from);
      const rows = await this.database.run(
        KEYS.select(
          sql`WHERE id > ${from} AND id <= ${to ?? LAST_ID}
            AND expires_at > ${after} AND expires_at <= ${until} AND revoked_at IS NULL
          ORDER BY expires_at, id LIMIT ${limit}`,
        ),
      );
      found = sortByExpiry([...found, ...rows.map(KEYS.read)]).slice(0, limit);
      from = to;
      if (from !== null) await this.turn();
    }
    return found;
  }

  /** Returns the last id of the slice after an id; null if there are no further slices. */
  private async findEnd(from: string): Promise<string | null> {
    const [row] = await this.database.run(
      sql<{ id: string }>`SELECT id FROM api_keys WHERE id > ${from} ORDER BY id LIMIT 1 OFFSET ${SLICE} - 1`,
    );
    return row?.id ?? null;
  }
}

function sortByExpiry(keys: KeyRecord[]): KeyRecord[] {
  return keys.sort((a, b) => (a.expiresAt ?? 0) - (b.expiresAt ?? 0) || (a.id < b.id ? -1 : 1));
}
