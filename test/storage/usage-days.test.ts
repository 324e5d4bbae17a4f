import { describe, expect, test } from "bun:test";
import { formatCsv } from "../../src/core/usage/format-csv.ts";
import type { UsageQuery } from "../../src/core/usage/report.ts";
import { reportStatement } from "../../src/storage/sqlite/usage-days.ts";
import { useSqlite } from "./sqlite-connections.ts";

const connect = useSqlite();

describe("a usage report in SQLite", () => {
  test.each<[string, Partial<UsageQuery>, RegExp]>([
    ["all accounts", {}, /SEARCH usage_days USING INDEX usage_days_day \(day>\? AND day<\?\)/],
    [
      "an account",
      { accountId: "user_a" },
      /SEARCH usage_days USING PRIMARY KEY \(account_id=\? AND day>\? AND day<\?\)/,
    ],
    [
      "a key",
      { keyId: "key_a" },
      /SEARCH usage_days USING INDEX usage_days_key \(key_id=\? AND day>\? AND day<\?\)/,
    ],
  ])("of %s reads only the days that it is about", (_whose, scope, plan) => {
    const all = { fromDay: 0, toDay: 10, accountId: null, userId: null, keyId: null };
    const { text, values } = reportStatement({ ...all, groupBy: "model", ...scope });
    const rows = connect()
      .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values);
    expect(rows.map(({ detail }) => detail).join("\n")).toMatch(plan);
    expect(rows.some(({ detail }) => detail.startsWith("SCAN"))).toBe(false);
  });
});

test("CSV output quotes cells that need it and marks cells that a spreadsheet would read as formulas", () => {
  const rows = [
    ["plain", 'a "word"', "a,b", "two\nlines", -5],
    ["=1+1", "+x", "-x", "@x", "\tx"],
    ['=HYPERLINK("x","y")', "", "a=b", "a-b", 0],
  ];
  expect(formatCsv(rows)).toBe(
    `plain,"a ""word""","a,b","two\nlines",-5\r\n'=1+1,'+x,'-x,'@x,'\tx\r\n"'=HYPERLINK(""x"",""y"")",,a=b,a-b,0\r\n`,
  );
});
