import type { BudgetRecord } from "../../core/accounts/records/budget-records.ts";
import {
  type BudgetMark,
  type BudgetQuery,
  type BudgetStore,
  type BudgetSum,
  type BudgetSumQuery,
  MAX_BUDGETS,
  type TopSumsQuery,
} from "../../core/accounts/stores/budget-store.ts";
import { daysOfBudget, LATE_METERS } from "../../core/ledger/limits/budget-limits.ts";
import { BUDGETS } from "./budget-rows.ts";
import { contains } from "./statements/contains.ts";
import type { SqlDatabase, SqlTraits } from "./statements/database.ts";
import { requireKnown } from "./statements/require-known.ts";
import { Revision } from "./statements/revision.ts";
import { raw, type Sql, sql, type Work, where } from "./statements/statement.ts";
import { type Integer, readInteger } from "./statements/values.ts";

/** Budgets. A change that may affect many rows is one statement here; SQLite does it in slices instead (`sqlite/budget-store.ts`). */
export class SqlBudgetStore implements BudgetStore {
  protected readonly revision: Revision;

  constructor(protected readonly database: SqlDatabase) {
    this.revision = new Revision(database, "accounts");
  }

  async listBudgets(accountId: string) {
    return (await this.database.run(BUDGETS.select(sql`WHERE account_id = ${accountId} ORDER BY id`))).map(
      BUDGETS.read,
    );
  }

  async listAllBudgets({ search, afterId, limit }: BudgetQuery) {
    const conditions = where(
      sql`id > ${afterId ?? ""}`,
      search === undefined ? null : contains(["name"], search),
    );
    const page = BUDGETS.select(sql`${conditions} ORDER BY id LIMIT ${limit}`);
    return (await this.database.run(page)).map(BUDGETS.read);
  }

  async findBudget(id: string) {
    return BUDGETS.readFirst(await this.database.run(BUDGETS.select(sql`WHERE id = ${id}`)));
  }

  insertBudget(budget: BudgetRecord) {
    return this.revision.change(
      () => insertBudget(this.database.traits, budget),
      (isInserted) => isInserted,
    );
  }

  changeBudget(id: string, change: (budget: BudgetRecord) => BudgetRecord) {
    return this.revision.change(
      () => changeBudget(id, change),
      (budget) => budget !== null,
    );
  }

  deleteBudget(id: string): Promise<boolean> {
    return this.revision.change(
      () => deleteBudget(id),
      (isDeleted) => isDeleted,
    );
  }

  async sumBudgets(sums: readonly BudgetSumQuery[]) {
    const wanted = this.database.traits.listAs(
      "wanted",
      { id: "text", value: "text", first: "integer", last: "integer" },
      sums.map(({ budgetId, value, days }) => [budgetId, value, days.from, days.to]),
    );
    const rows = await this.database.run(
      sql<{ spent: Integer }>`SELECT coalesce((SELECT sum(spent) FROM budget_days AS sums
            WHERE sums.budget_id = wanted.id AND sums.value = wanted.value
              AND sums.day BETWEEN wanted.first AND wanted.last), 0) AS spent
        FROM ${wanted} ORDER BY wanted.place`,
    );
    return rows.map(({ spent }) => readInteger(spent));
  }

  async listTopSums({ budgetId, days, limit }: TopSumsQuery): Promise<readonly BudgetSum[]> {
    const rows = await this.database.run(
      sql<{ value: string; spent: Integer }>`SELECT value, sum(spent) AS spent FROM budget_days
        WHERE budget_id = ${budgetId} AND day BETWEEN ${days.from} AND ${days.to}
        GROUP BY value ORDER BY sum(spent) DESC, value LIMIT ${limit}`,
    );
    return rows.map(({ value, spent }) => ({ value, spent: readInteger(spent) }));
  }

  /** Inserts rows in a fixed order, so that two gateways cannot deadlock. A mark that is listed twice is claimed once. */
  async claimMarks(marks: readonly BudgetMark[]) {
    const { traits } = this.database;
    const rows = marks.map(({ budgetId, value, since, level }) => [
      budgetId,
      traits.toStored(value),
      since,
      level,
    ]);
    const columns = { budget_id: "text", value: "text", since: "integer", level: "text" } as const;
    const claimed = await this.database.run(
      sql<MarkRow>`INSERT INTO budget_marks (budget_id, value, since, level)
        SELECT wanted.budget_id, wanted.value, wanted.since, wanted.level
        FROM ${traits.listAs("wanted", columns, rows)} WHERE true ORDER BY 1, 2, 3, 4
        ON CONFLICT DO NOTHING RETURNING budget_id, value, since, level`,
    );
    const left = new Set(
      claimed.map((row) => JSON.stringify([row.budget_id, row.value, readInteger(row.since), row.level])),
    );
    return rows.map((row) => left.delete(JSON.stringify(row)));
  }

  mergeDays(day: number): Promise<void> {
    return this.database.transaction(() => mergeDays(day));
  }
}

interface MarkRow {
  budget_id: string;
  value: string;
  since: Integer;
  level: BudgetMark["level"];
}

function* insertBudget(traits: SqlTraits, budget: BudgetRecord): Work<boolean> {
  const { accountId } = budget;
  const [row] = yield* sql<{ count: Integer }>`
    SELECT count(*) AS count FROM budgets WHERE account_id = ${accountId}`;
  if (readInteger(row?.count ?? 0) >= MAX_BUDGETS) return false;
  yield* requireKnown(traits, "budget", null, budget);
  // A save of a cost locks the balance first: it is in the usage sums by now, or finds the budget.
  if (traits.isShared) yield* lockBalance(accountId);
  yield* BUDGETS.insert(budget);
  yield* countEarlier(budget);
  return true;
}

function* changeBudget(
  id: string,
  change: (budget: BudgetRecord) => BudgetRecord,
): Work<BudgetRecord | null> {
  const before = BUDGETS.readFirst(yield* BUDGETS.select(sql`WHERE id = ${id}`));
  if (before === null) return null;
  const after = change(before);
  const set = BUDGETS.set(after, ["name", "limit", "action", "warnAt"]);
  yield* sql`UPDATE budgets ${set} WHERE id = ${id}`;
  return after;
}

function* deleteBudget(id: string): Work<boolean> {
  const before = BUDGETS.readFirst(yield* BUDGETS.select(sql`WHERE id = ${id}`));
  if (before === null) return false;
  // Saves and borrows of the account, which lock its balance first, wait for the end.
  yield* lockBalance(before.accountId);
  yield* sql`DELETE FROM budgets WHERE id = ${id}`;
  yield* sql`DELETE FROM budget_days WHERE budget_id = ${id}`;
  yield* sql`DELETE FROM budget_marks WHERE budget_id = ${id}`;
  // The leased amounts are given back, and deleted with old periods.
  const meter = LATE_METERS + id;
  yield* sql`DELETE FROM spending
    WHERE (meter = ${meter} OR (meter > ${`${meter}/`} AND meter < ${`${meter}0`})) AND leased = 0`;
  return true;
}

/** Locks the balance of an account before all rows of its limits and budgets. Creates the balance if there is none. */
function lockBalance(accountId: string): Sql {
  return sql`INSERT INTO balances AS known (account_id) VALUES (${accountId})
    ON CONFLICT (account_id) DO UPDATE SET account_id = known.account_id`;
}

/** Adds earlier spending from usage sums, as far back as the budget's present period counts. */
function* countEarlier(budget: BudgetRecord): Work<void> {
  const { from } = daysOfBudget(budget, budget.createdAt);
  for (const { table, value, condition } of listEarlierSums(budget))
    yield* sql`INSERT INTO budget_days AS known (budget_id, value, day, spent)
      SELECT ${budget.id}::text, ${raw(value)} AS named, day, sum(cost) FROM ${raw(table)}
      WHERE account_id = ${budget.accountId}::text AND day >= ${from}::integer AND ${condition}
      GROUP BY named, day HAVING sum(cost) > 0
      ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = known.spent + excluded.spent`;
}

/** The statement that sums the rows also deletes them, so that no row that is added in between is lost. */
function* mergeDays(day: number): Work<void> {
  yield* sql`WITH merged AS (
      DELETE FROM budget_days WHERE day > 0 AND day < ${day} RETURNING budget_id, value, spent
    )
    INSERT INTO budget_days AS known (budget_id, value, day, spent)
    SELECT budget_id, value, 0, sum(spent) FROM merged
    WHERE budget_id IN (SELECT id FROM budgets WHERE period = 'total') GROUP BY budget_id, value
    ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = known.spent + excluded.spent`;
  yield* sql`DELETE FROM budget_marks WHERE since > 0 AND since < ${day}`;
}

/** The sums by which a new budget finds what was spent before: a table, and a condition after that of the account. */
interface EarlierSums {
  readonly table: "usage_sums" | "usage_days" | "usage_tags";
  /** What the sums are called in the budget: an expression. */
  readonly value: string;
  readonly condition: Sql;
}

/** Returns the sums that tell a budget's subject; none for end users. Earlier versions have saved the sums of days. */
function listEarlierSums(budget: BudgetRecord): readonly EarlierSums[] {
  const { subject, accountId, subjectId } = budget;
  if (subject === "end_user") return [];
  // Not the sums of all tags and of further tags, whose names no tag has.
  if (subject === "tag")
    return [
      subjectId === null
        ? { table: "usage_tags", value: "tag", condition: sql`tag NOT IN ('', '(other)')` }
        : { table: "usage_tags", value: "''", condition: sql`tag = ${subjectId}::text` },
    ];
  if (subject === "team") {
    const ofTeam = sql`key_id IN (SELECT id FROM api_keys WHERE team_id = ${subjectId}::text)`;
    return (["usage_sums", "usage_days"] as const).map((table) => ({
      table,
      value: "''",
      condition: ofTeam,
    }));
  }
  const column = { account: "account_id", key: "key_id", member: "user_id" }[subject];
  const condition = sql`${raw(column)} = ${subjectId ?? accountId}::text`;
  return (["usage_sums", "usage_days"] as const).map((table) => ({ table, value: "''", condition }));
}
