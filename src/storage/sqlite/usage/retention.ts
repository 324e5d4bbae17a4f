import type { Database } from "bun:sqlite";
import { lowestIdAt } from "../../../base/secrets/ids.ts";
import { DAY_MS } from "../../../base/time/time.ts";
import type { StepReport, UsageRetention } from "../../../core/usage/records/retention.ts";
import { FreePages } from "../connection/free-pages.ts";

/** The number of generations that one step deletes: few, because saved groups wait for it. */
const STEP = 250;

/** Deletes old generations by the times in their ids, and then gives their space back. */
export class SqliteRetention implements UsageRetention {
  private readonly drop;
  private readonly freePages: FreePages;

  constructor(private readonly database: Database) {
    this.freePages = new FreePages(database);
    this.drop = database.transaction((day: number) => this.dropStep(day));
  }

  async dropUsage(day: number): Promise<StepReport> {
    return { hasMore: this.drop.immediate(day) || this.freePages.giveBack() };
  }

  private dropStep(day: number): boolean {
    const end = lowestIdAt("gen", day * DAY_MS);
    this.database
      .query(
        `INSERT INTO retention (only, before_id) VALUES (1, ?)
         ON CONFLICT (only) DO UPDATE SET before_id = max(before_id, excluded.before_id)`,
      )
      .run(end);
    const ids = this.database
      .query<{ id: string }, [string, string, number]>(
        "SELECT id FROM generations WHERE id >= ? AND id < ? AND outcome <> 'open' ORDER BY id LIMIT ?",
      )
      .all(lowestIdAt("gen", 0), end, STEP);
    const [first, last] = [ids.at(0)?.id, ids.at(-1)?.id];
    if (first === undefined || last === undefined) return false;
    for (const statement of [KEEP_SUMS, DELETE_CHARGES, DELETE_TAGS, DELETE_GENERATIONS])
      this.database.query(statement).run(first, last);
    return ids.length === STEP;
  }
}

const DROPPED = "SELECT id FROM generations WHERE id BETWEEN ?1 AND ?2 AND outcome <> 'open'";

const KEEP_SUMS = `INSERT INTO dropped_charges (account_id, after_place, amount)
  SELECT account_id, after_place, sum(amount) FROM (
    SELECT from_account AS account_id, amount, max(
        coalesce((SELECT max(c.place) FROM transfers c
          WHERE c.to_account = t.from_account AND c.kind <> 'usage' AND c.place < t.place), 0),
        coalesce((SELECT max(c.place) FROM transfers c
          WHERE c.from_account = t.from_account AND c.kind <> 'usage' AND c.place < t.place), 0)
      ) AS after_place
    FROM transfers t WHERE kind = 'usage' AND id IN (${DROPPED})
  ) WHERE true GROUP BY account_id, after_place
  ON CONFLICT (account_id, after_place) DO UPDATE SET amount = amount + excluded.amount`;

const DELETE_CHARGES = `DELETE FROM transfers WHERE kind = 'usage' AND id IN (${DROPPED})`;

const DELETE_TAGS = `DELETE FROM generation_tags WHERE (tag, id) IN (
  SELECT tags.value, generations.id FROM generations, json_each(generations.record, '$.tags') AS tags
  WHERE generations.id BETWEEN ?1 AND ?2 AND outcome <> 'open' AND instr(record, '"tags":[') > 0)`;

const DELETE_GENERATIONS = "DELETE FROM generations WHERE id BETWEEN ?1 AND ?2 AND outcome <> 'open'";
