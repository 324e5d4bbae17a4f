import type { Database, SQLQueryBindings } from "bun:sqlite";
import { createTurnLine } from "../../base/time/next-turn.ts";
import type { BudgetRecord } from "../../core/accounts/records/budget-records.ts";
import {
  type BudgetMark,
  type BudgetStore,
  type BudgetSum,
  type BudgetSumQuery,
  MAX_BUDGETS,
  type TopSumsQuery,
} from "../../core/accounts/stores/budget-store.ts";
import { daysOfBudget, sumByBudget } from "../../core/ledger/limits/budget-limits.ts";
import type { UsageRecord } from "../../core/usage/records/records.ts";
import {
  BUDGET_COLUMNS,
  type BudgetRow,
  encodeBudget,
  listEarlierSums,
  readBudget,
} from "../usage-sql/budget-rows.ts";
import { Revision } from "./revision.ts";
import { TopSums } from "./top-sums.ts";

/** Rows that one slice reads, merges or deletes: few, because other work waits for the database. */
const SLICE = 2_000;

/** Budgets in SQLite. What may touch many rows is done in slices, each in a turn of the event loop of its own. */
export class SqliteBudgetStore implements BudgetStore {
  private readonly revision: Revision;
  private readonly turn = createTurnLine();

  constructor(private readonly database: Database) {
    this.revision = new Revision(database, "account_revision");
  }

  async listBudgets(accountId: string) {
    return this.read("WHERE account_id = ? ORDER BY id", accountId);
  }

  async listAllBudgets(afterId: string | null, limit: number) {
    return this.read("WHERE id > ? ORDER BY id LIMIT ?", afterId ?? "", limit);
  }

  async findBudget(id: string) {
    return this.find(id);
  }

  async insertBudget(budget: BudgetRecord) {
    return this.change(() => {
      const { accountId } = budget;
      const count = this.database.query<{ count: number }, [string]>(COUNT).get(accountId)?.count ?? 0;
      if (count >= MAX_BUDGETS) return false;
      this.put(budget);
      this.countEarlier(budget);
      return true;
    });
  }

  async changeBudget(id: string, change: (budget: BudgetRecord) => BudgetRecord) {
    return this.change(() => {
      const before = this.find(id);
      if (before === null) return null;
      const after = change(before);
      this.put(after);
      return after;
    });
  }

  async deleteBudget(id: string) {
    const isDeleted = this.change(
      () => this.database.query("DELETE FROM budgets WHERE id = ?").run(id).changes > 0,
    );
    // No cost is added to a budget that is gone. What a crash leaves here is deleted with old days.
    await this.deleteSums(id);
    return isDeleted;
  }

  async sumBudgets(sums: readonly BudgetSumQuery[]) {
    const wanted = sums.map(({ budgetId, value, days }) => [budgetId, value, days.from, days.to]);
    const rows = this.database.query<{ spent: number }, [string]>(SUMS).all(JSON.stringify(wanted));
    return rows.map(({ spent }) => spent);
  }

  async listTopSums({ budgetId, days, limit }: TopSumsQuery) {
    const end = this.database.query<Place, (string | number)[]>(SLICE_END);
    const slice = this.database.query<BudgetSum, (string | number)[]>(SLICE_SUMS);
    const top = new TopSums(limit);
    for (let from: Place | null = START; from !== null; ) {
      const to: Place | null = end.get(budgetId, from.value, from.day, SLICE);
      const last = to ?? END;
      top.add(slice.all(budgetId, from.value, from.day, last.value, last.day, days.from, days.to));
      from = to;
      if (from !== null) await this.turn();
    }
    return top.end();
  }

  async claimMarks(marks: readonly BudgetMark[]) {
    const insert = this.database.query("INSERT INTO budget_marks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
    const claim = this.database.transaction(() =>
      marks.map(({ budgetId, value, since, level }) => insert.run(budgetId, value, since, level).changes > 0),
    );
    return claim.immediate();
  }

  async mergeDays(day: number) {
    const merge = this.database.query(MERGE_DAYS);
    const remove = this.database.query(DELETE_DAYS);
    const step = this.database.transaction(() => {
      merge.run(day, SLICE);
      return remove.run(day, SLICE).changes;
    });
    while (step.immediate() === SLICE) await this.turn();
    const orphan = this.database.query<{ id: string }, []>(ORPHAN);
    for (let one = orphan.get(); one !== null; one = orphan.get()) await this.deleteSums(one.id);
    await this.deleteMarks(day);
  }

  private async deleteSums(budgetId: string): Promise<void> {
    for (const statement of [DELETE_BUDGET_DAYS, DELETE_BUDGET_MARKS])
      while (this.database.query(statement).run(budgetId, SLICE).changes === SLICE) await this.turn();
  }

  /** Deletes the marks of periods that began before a day. They are in the order of their budgets, so all are read. */
  private async deleteMarks(day: number): Promise<void> {
    const end = this.database.query<MarkPlace, (string | number)[]>(MARKS_END);
    const remove = this.database.query(DELETE_MARKS);
    for (let from: MarkPlace | null = { id: "", value: "", since: -1 }; from !== null; ) {
      const to: MarkPlace | null = end.get(from.id, from.value, from.since, SLICE);
      const last = to ?? { id: END.value, value: "", since: 0 };
      remove.run(from.id, from.value, from.since, last.id, last.value, last.since, day);
      from = to;
      if (from !== null) await this.turn();
    }
  }

  private find(id: string): BudgetRecord | null {
    return this.read("WHERE id = ?", id)[0] ?? null;
  }

  private read(rest: string, ...values: (string | number)[]): readonly BudgetRecord[] {
    const rows = this.database.query<BudgetRow, SQLQueryBindings[]>(`SELECT * FROM budgets ${rest}`);
    return rows.all(...values).map(readBudget);
  }

  private put(budget: BudgetRecord): void {
    const values = encodeBudget(budget);
    const marks = values.map(() => "?").join(", ");
    this.database
      .query(`INSERT OR REPLACE INTO budgets (${BUDGET_COLUMNS}) VALUES (${marks})`)
      .run(...values);
  }

  /** Adds what usage sums tell of earlier spending, as far back as the budget's present period counts. */
  private countEarlier(budget: BudgetRecord): void {
    const { from } = daysOfBudget(budget, budget.createdAt);
    for (const { table, value, condition } of listEarlierSums(budget))
      this.database
        .query(
          `INSERT INTO budget_days (budget_id, value, day, spent)
           SELECT ?1, ${value}, day, sum(cost) FROM ${table}
           WHERE account_id = ?2 AND day >= ?4 AND ${condition("?3")}
           GROUP BY 2, day HAVING sum(cost) > 0
           ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = spent + excluded.spent`,
        )
        .run(budget.id, budget.accountId, budget.subjectId ?? budget.accountId, from);
  }

  private change<Result>(work: () => Result): Result {
    const change = this.database.transaction(() => {
      this.revision.raise();
      return work();
    });
    return change.immediate();
  }
}

const COUNT = "SELECT count(*) AS count FROM budgets WHERE account_id = ?";

/** A position in the sums of a budget: after the row of that value and day. */
interface Place {
  readonly value: string;
  readonly day: number;
}

/** A position in the marks: after those of that budget, value and period. */
interface MarkPlace {
  readonly id: string;
  readonly value: string;
  readonly since: number;
}

const START: Place = { value: "", day: -1 };
/** No value and no id begins with this character, which none can follow. */
const END: Place = { value: "\u{10ffff}", day: 0 };

const SUMS = `SELECT (SELECT coalesce(sum(spent), 0) FROM budget_days
    WHERE budget_id = wanted.value ->> 0 AND value = wanted.value ->> 1
      AND day BETWEEN wanted.value ->> 2 AND wanted.value ->> 3) AS spent
  FROM json_each(?1) AS wanted ORDER BY wanted.key`;

const SLICE_END = `SELECT value, day FROM budget_days WHERE budget_id = ?1 AND (value, day) > (?2, ?3)
  ORDER BY value, day LIMIT 1 OFFSET ?4 - 1`;

const SLICE_SUMS = `SELECT value, sum(spent) AS spent FROM budget_days
  WHERE budget_id = ?1 AND (value, day) > (?2, ?3) AND (value, day) <= (?4, ?5) AND day BETWEEN ?6 AND ?7
  GROUP BY value ORDER BY value`;

/** The rows of one step. Both statements of it find the same ones: merged rows have the day 0. */
const OLD_DAYS = `SELECT budget_id, value, day FROM budget_days WHERE day > 0 AND day < ?1
  ORDER BY day, budget_id, value LIMIT ?2`;

const MERGE_DAYS = `INSERT INTO budget_days (budget_id, value, day, spent)
  SELECT budget_id, value, 0, sum(spent) FROM budget_days WHERE (budget_id, value, day) IN (${OLD_DAYS})
    AND budget_id IN (SELECT id FROM budgets WHERE period = 'total') GROUP BY budget_id, value
  ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = spent + excluded.spent`;

const DELETE_DAYS = `DELETE FROM budget_days WHERE (budget_id, value, day) IN (${OLD_DAYS})`;

const DELETE_BUDGET_DAYS = `DELETE FROM budget_days WHERE (budget_id, value, day) IN
  (SELECT budget_id, value, day FROM budget_days WHERE budget_id = ?1 LIMIT ?2)`;

const DELETE_BUDGET_MARKS = `DELETE FROM budget_marks WHERE (budget_id, value, since, level) IN
  (SELECT budget_id, value, since, level FROM budget_marks WHERE budget_id = ?1 LIMIT ?2)`;

/** Finds sums of a budget that does not exist, with one look-up for each budget that has sums. */
const ORPHAN = `WITH RECURSIVE counted (id) AS (
    SELECT min(budget_id) FROM budget_days
    UNION ALL SELECT (SELECT min(budget_id) FROM budget_days WHERE budget_id > counted.id)
      FROM counted WHERE counted.id IS NOT NULL
  )
  SELECT id FROM counted WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM budgets) LIMIT 1`;

const MARKS_END = `SELECT budget_id AS id, value, since FROM budget_marks WHERE (budget_id, value, since) > (?1, ?2, ?3)
  ORDER BY budget_id, value, since LIMIT 1 OFFSET ?4 - 1`;

const DELETE_MARKS = `DELETE FROM budget_marks
  WHERE (budget_id, value, since) > (?1, ?2, ?3) AND (budget_id, value, since) <= (?4, ?5, ?6)
    AND since > 0 AND since < ?7`;

/** Adds costs of generations to the sums of budgets. The caller begins and commits the transaction. */
export class BudgetSums {
  private readonly first;
  private readonly ofAccounts;
  private readonly raise;

  constructor(database: Database) {
    this.first = database.query("SELECT 1 FROM budgets LIMIT 1");
    this.ofAccounts = database.query<BudgetRow, [string]>(
      "SELECT * FROM budgets WHERE account_id IN (SELECT value FROM json_each(?))",
    );
    this.raise = database.query(
      `INSERT INTO budget_days (budget_id, value, day, spent) VALUES (?, ?, ?, ?)
       ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = spent + excluded.spent`,
    );
  }

  /** Adds records that end now. */
  add(ended: readonly UsageRecord[]): void {
    if (ended.length === 0 || this.first.get() === null) return;
    const accounts = [...new Set(ended.flatMap(({ accountId }) => accountId ?? []))];
    const budgets = this.ofAccounts.all(JSON.stringify(accounts)).map(readBudget);
    for (const { budget, value, day, cost } of sumByBudget(budgets, ended))
      this.raise.run(budget.id, value, day, cost);
  }
}
