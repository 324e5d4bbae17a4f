/** The statements that merge hourly sums into daily sums, which SQLite and PostgreSQL share. */
import { describeRaise, KEY_COLUMNS, type SumTable, WHOLE_DAY } from "./columns.ts";

/** Returns a statement that adds the sums of hours in `hours` to those of their days. */
export function describeMerge(table: SumTable<never, never>, hours: string): string {
  const keys = table.keys.map((name) => (name === KEY_COLUMNS.hour ? String(WHOLE_DAY) : name));
  const otherKeys = table.keys.filter((name) => name !== KEY_COLUMNS.hour);
  const sums = table.columns.map((name) => `sum(${name})`);
  return describeRaise(
    table,
    `SELECT ${[...keys, ...sums].join(", ")} FROM ${hours} WHERE true GROUP BY ${otherKeys.join(", ")}`,
  );
}

/**
 * Returns a statement that finds the first day with sums of hours before a day, its parameter. It looks up each day that has sums in an
 * index, and its latest hour, and reads no sums. `mark` begins a parameter: `?` in SQLite, `$` in PostgreSQL.
 */
export function describeHoursSearch({ name }: SumTable<never, never>, mark: "?" | "$"): string {
  // Not EXISTS: SQLite would turn it into a join that reads all rows of every day.
  return `WITH RECURSIVE days (day) AS (
      SELECT min(day) FROM ${name}
      UNION ALL SELECT (SELECT min(day) FROM ${name} WHERE day > days.day) FROM days WHERE day < ${mark}1
    )
    SELECT day FROM days WHERE day < ${mark}1
      AND (SELECT max(hour) FROM ${name} AS sums WHERE sums.day = days.day) > ${WHOLE_DAY}
    ORDER BY day LIMIT 1`;
}
