import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { cleanText } from "../../sql/statements/values.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

/** A record that is saved, and the day of its partition. */
interface SavedRecord {
  readonly record: UsageRecord;
  readonly day: number;
}

/**
 * Adds the tags of saved records, in the caller's transaction. Tags of an earlier version of a record are kept. Without tags, runs no
 * statement.
 */
export async function addGenerationTags(sql: SqlRunner, saved: readonly SavedRecord[]): Promise<void> {
  const tagged = saved.filter(({ record }) => record.tags !== undefined);
  if (tagged.length === 0) return;
  const rows = tagged.flatMap(({ day, record }) =>
    (record.tags ?? []).map((tag) => ({ tag, day, id: record.id })),
  );
  await sql.run(
    `INSERT INTO generation_tags (tag, day, id)
     SELECT * FROM unnest($1::text::text[], $2::text::integer[], $3::text::text[]) ON CONFLICT DO NOTHING`,
    [
      encodeList(rows.map(({ tag }) => cleanText(tag))),
      encodeList(rows.map(({ day }) => day)),
      encodeList(rows.map(({ id }) => id)),
    ],
  );
}
