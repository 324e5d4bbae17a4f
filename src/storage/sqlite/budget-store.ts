import { createTurnLine } from "../../base/time/next-turn.ts";
import type { BudgetSum, TopSumsQuery } from "../../core/accounts/stores/budget-store.ts";
import { SqlBudgetStore } from "../sql/budget-store.ts";
import { type Sql, sql } from "../sql/statements/statement.ts";
import { TopSums } from "./top-sums.ts";

/** The number of rows that one slice reads, merges or deletes: few, because other work waits for the database. */
const SLICE = 2_000;

/** Budgets in SQLite. Changes that may affect many rows are made in slices, each in a turn of the event loop of its own. */
export class SqliteBudgetStore extends SqlBudgetStore {
  private readonly turn = createTurnLine();

  override async deleteBudget(id: string) {
    const remove = sql`DELETE FROM budgets WHERE id = ${id} RETURNING id`;
    const isOne = (rows: readonly object[]) => rows.length > 0;
    const isDeleted = isOne(await this.revision.change(() => remove, isOne));
    // No cost is added to a deleted budget. If a crash leaves rows here, they are deleted with old days.
    await this.deleteSums(id);
    return isDeleted;
  }

  override async listTopSums({ budgetId, days, limit }: TopSumsQuery) {
    const top = new TopSums(limit);
    for (let from: Place | null = START; from !== null; ) {
      const to: Place | null = await this.findFirst(endSlice(budgetId, from));
      const last = to ?? END;
      top.add(
        await this.database.run(
          sql<BudgetSum>`SELECT value, sum(spent) AS spent FROM budget_days
            WHERE budget_id = ${budgetId} AND (value, day) > (${from.value}, ${from.day})
              AND (value, day) <= (${last.value}, ${last.day}) AND day BETWEEN ${days.from} AND ${days.to}
            GROUP BY value ORDER BY value`,
        ),
      );
      from = to;
      if (from !== null) await this.turn();
    }
    return top.end();
  }

  override async mergeDays(day: number) {
    while ((await this.database.transaction(() => mergeSlice(day))) === SLICE) await this.turn();
    for (let one = await this.findFirst(ORPHAN); one !== null; one = await this.findFirst(ORPHAN))
      await this.deleteSums(one.id);
    await this.deleteMarks(day);
  }

  private async deleteSums(budgetId: string): Promise<void> {
    for (const statement of [deleteBudgetDays(budgetId), deleteBudgetMarks(budgetId)])
      while ((await this.database.run(statement)).length === SLICE) await this.turn();
  }

  /** Deletes the marks of periods that began before a day. They are in the order of their budgets, so all are read. */
  private async deleteMarks(day: number): Promise<void> {
    for (let from: MarkPlace | null = { id: "", value: "", since: -1 }; from !== null; ) {
      const to: MarkPlace | null = await this.findFirst(endMarks(from));
      const last = to ?? { id: END.value, value: "", since: 0 };
      await this.database.run(
        sql`DELETE FROM budget_marks
          WHERE (budget_id, value, since) > (${from.id}, ${from.value}, ${from.since})
            AND (budget_id, value, since) <= (${last.id}, ${last.value}, ${last.since})
            AND since > 0 AND since < ${day}`,
      );
      from = to;
      if (from !== null) await this.turn();
    }
  }

  private async findFirst<Row extends object>(statement: Sql<Row>): Promise<Row | null> {
    return (await this.database.run(statement))[0] ?? null;
  }
}

/** A position in the sums of a budget: after the row of that value and day. */
interface Place {
  readonly value: string;
  readonly day: number;
}

/** A position in the marks: after the mark of this budget, value and period. */
interface MarkPlace {
  readonly id: string;
  readonly value: string;
  readonly since: number;
}

const START: Place = { value: "", day: -1 };
/** No value and no id begins with this character, which none can follow. */
const END: Place = { value: "\u{10ffff}", day: 0 };

function endSlice(budgetId: string, from: Place): Sql<Place> {
  return sql`SELECT value, day FROM budget_days WHERE budget_id = ${budgetId} AND (value, day) > (${from.value}, ${from.day})
    ORDER BY value, day LIMIT 1 OFFSET ${SLICE} - 1`;
}

function endMarks(from: MarkPlace): Sql<MarkPlace> {
  return sql`SELECT budget_id AS id, value, since FROM budget_marks
    WHERE (budget_id, value, since) > (${from.id}, ${from.value}, ${from.since})
    ORDER BY budget_id, value, since LIMIT 1 OFFSET ${SLICE} - 1`;
}

/** Merges the oldest days. Both statements find the same rows, because merged ones have the day 0. Returns the number of rows found. */
function* mergeSlice(day: number) {
  const old = sql`SELECT budget_id, value, day FROM budget_days WHERE day > 0 AND day < ${day}
    ORDER BY day, budget_id, value LIMIT ${SLICE}`;
  yield* sql`INSERT INTO budget_days (budget_id, value, day, spent)
    SELECT budget_id, value, 0, sum(spent) FROM budget_days WHERE (budget_id, value, day) IN (${old})
      AND budget_id IN (SELECT id FROM budgets WHERE period = 'total') GROUP BY budget_id, value
    ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = spent + excluded.spent`;
  const merged = yield* sql`DELETE FROM budget_days WHERE (budget_id, value, day) IN (${old}) RETURNING 1`;
  return merged.length;
}

function deleteBudgetDays(budgetId: string): Sql {
  return sql`DELETE FROM budget_days WHERE (budget_id, value, day) IN
    (SELECT budget_id, value, day FROM budget_days WHERE budget_id = ${budgetId} LIMIT ${SLICE}) RETURNING 1`;
}

function deleteBudgetMarks(budgetId: string): Sql {
  return sql`DELETE FROM budget_marks WHERE (budget_id, value, since, level) IN
    (SELECT budget_id, value, since, level FROM budget_marks WHERE budget_id = ${budgetId} LIMIT ${SLICE}) RETURNING 1`;
}

/** Finds sums of budgets that do not exist, with one lookup for each budget that has sums. */
const ORPHAN = sql<{ id: string }>`WITH RECURSIVE counted (id) AS (
    SELECT min(budget_id) FROM budget_days
    UNION ALL SELECT (SELECT min(budget_id) FROM budget_days WHERE budget_id > counted.id)
      FROM counted WHERE counted.id IS NOT NULL
  )
  SELECT id FROM counted WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM budgets) LIMIT 1`;
