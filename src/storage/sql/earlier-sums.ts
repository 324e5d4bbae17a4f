import type { BudgetRecord } from "../../core/accounts/records/budget-records.ts";
import { raw, type Sql, sql } from "./statements/statement.ts";

/** The sums that tell a new budget what was spent before: a table, and a condition in addition to the account. */
interface EarlierSums {
  readonly table: "usage_sums" | "usage_days" | "usage_tags";
  /** The name of the sums in the budget: an expression. */
  readonly value: string;
  readonly condition: Sql;
}

/** Returns the sums with the earlier spending of a budget's subject; none for end users. Earlier versions have saved only daily sums. */
export function listEarlierSums(budget: BudgetRecord): readonly EarlierSums[] {
  const { subject, accountId, subjectId } = budget;
  if (subject === "end_user") return [];
  // Not the sums of all tags and of further tags, whose names no tag has.
  if (subject === "tag")
    return [
      subjectId === null
        ? { table: "usage_tags", value: "tag", condition: sql`tag NOT IN ('', '(other)')` }
        : { table: "usage_tags", value: "''", condition: sql`tag = ${subjectId}::text` },
    ];
  const column = { account: "account_id", key: "key_id", member: "user_id" }[subject];
  const condition = sql`${raw(column)} = ${subjectId ?? accountId}::text`;
  return (["usage_sums", "usage_days"] as const).map((table) => ({ table, value: "''", condition }));
}
