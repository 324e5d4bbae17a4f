import { describe, expect, test } from "bun:test";
import { formatCsv } from "../../src/core/usage/reports/format-csv.ts";
import { hoursOfDays, type UsageQuery } from "../../src/core/usage/reports/report.ts";
import { describeReport, describeTimes } from "../../src/storage/sql/usage/report.ts";
import { useSqlite } from "./sqlite-connections.ts";

const connect = useSqlite();

describe("a usage report in SQLite", () => {
  test.each<[string, Partial<UsageQuery>, string]>([
    ["all accounts", {}, "INDEX TABLE_day (day>? AND day<?)"],
    ["an account", { accountId: "user_a" }, "PRIMARY KEY (account_id=? AND day>? AND day<?)"],
    ["a key", { keyId: "key_a" }, "INDEX TABLE_key (key_id=? AND day>? AND day<?)"],
    ["a team", { teamId: "team_a" }, "INDEX TABLE_key (key_id=? AND day>? AND day<?)"],
    ["all teams", { groups: ["team"] }, "INDEX TABLE_day (day>? AND day<?)"],
  ])("of %s reads only the days that it is about", (_whose, scope, index) => {
    const all = {
      groups: ["model"],
      ...hoursOfDays(0, 10),
      accountId: null,
      userId: null,
      keyId: null,
    } as const;
    const database = connect();
    const query = { ...all, ...scope };
    const plans = [describeReport(query, "?"), describeTimes(query, "?", null)].flatMap(
      ({ text, values }) => {
        return database.query<{ detail: string }, typeof values>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
      },
    );
    const reads = plans.map(({ detail }) => detail).filter((detail) => detail.includes("usage_"));
    expect(reads).toEqual(
      ["usage_sums", "usage_days", "usage_times"].map(
        (table) => `SEARCH ${table} USING ${index.replace("TABLE", table)}`,
      ),
    );
  });
});

describe("a usage report about tags in SQLite", () => {
  test.each<[string, Partial<UsageQuery>, readonly string[]]>([
    ["a tag", { tag: "a" }, ["usage_tags USING INDEX usage_tags_tag (tag=? AND day>? AND day<?)"]],
    [
      "all tags of an account",
      { groups: ["tag"], accountId: "user_a" },
      ["usage_tags", "usage_sums", "usage_days", "usage_tags"].map(
        (table) => `${table} USING PRIMARY KEY (account_id=? AND day>? AND day<?)`,
      ),
    ],
  ])("of %s reads only the days that it is about", (_what, query, expected) => {
    const { text, values } = describeReport(
      { groups: ["model"], ...hoursOfDays(0, 10), accountId: null, userId: null, keyId: null, ...query },
      "?",
    );
    const plan = connect()
      .query<{ detail: string }, typeof values>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values);
    const reads = plan.map(({ detail }) => detail).filter((detail) => detail.includes("usage_"));
    expect(reads).toEqual(expected.map((read) => `SEARCH ${read}`));
  });
});

test("CSV output quotes cells that need it and marks cells that a spreadsheet would read as formulas", () => {
  const rows = [
    ["plain", 'a "word"', "a,b", "two\nlines", -5],
    ["=1+1", "+x", "-x", "@x", "\tx"],
    ['=HYPERLINK("x","y")', "", "a=b", "a-b", 0],
  ];
  expect(formatCsv(rows)).toBe(
    `plain,"a ""word""","a,b",two\\u000alines,-5\r\n'=1+1,'+x,'-x,'@x,'\\u0009x\r\n"'=HYPERLINK(""x"",""y"")",,a=b,a-b,0\r\n`,
  );
});
