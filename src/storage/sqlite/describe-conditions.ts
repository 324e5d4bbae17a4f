/**
 * Returns the WHERE clause of the conditions whose values are given, and these values by their names. Each condition ends with the name of
 * its value. With conditions for values that are not given, as `$a IS NULL OR a = $a`, SQLite would use no index.
 */
export function describeConditions(conditions: Readonly<Record<string, string | null | undefined>>): {
  readonly where: string;
  readonly values: Readonly<Record<string, string>>;
} {
  const given = Object.entries(conditions).flatMap(([condition, value]) =>
    value === undefined || value === null ? [] : [{ condition, value }],
  );
  const nameOf = (condition: string): string => /\$(\w+)/.exec(condition)?.[1] ?? "";
  return {
    where: given.length === 0 ? "" : `WHERE ${given.map(({ condition }) => condition).join(" AND ")}`,
    values: Object.fromEntries(given.map(({ condition, value }) => [nameOf(condition), value])),
  };
}
