import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { joinPages, type RequestRow } from "../../../src/console/api/request-row.ts";
import {
  formatDuration,
  formatExactMoney,
  formatMoney,
  formatPricePerMillion,
  formatRelative,
  formatShortCount,
  formatSpeed,
  shortenId,
} from "../../../src/console/parts/values/format.ts";
import { printCsv } from "../../../src/console/state/csv.ts";
import { filterOptions } from "../../../src/console/state/filter-options.ts";
import { mergeRows, splitKnown } from "../../../src/console/state/merge-rows.ts";

const rowsOf = (...ids: string[]) => ids.map((id) => ({ id, version: 1 }));

describe("the rows of the live list", () => {
  test("new rows come first, in the order of their ids, and the oldest are left out over the bound", () => {
    const merged = mergeRows(rowsOf("c", "b", "a"), rowsOf("d", "e"), 4);
    expect(merged.map(({ id }) => id)).toEqual(["e", "d", "c", "b"]);
  });

  test("a row that is listed is replaced in its place", () => {
    const merged = mergeRows(rowsOf("c", "b", "a"), [{ id: "b", version: 2 }], 3);
    expect(merged).toEqual([
      { id: "c", version: 1 },
      { id: "b", version: 2 },
      { id: "a", version: 1 },
    ]);
  });

  test("a list that gets no rows is the same object, so that nothing is drawn again", () => {
    const rows = rowsOf("a");
    expect(mergeRows(rows, [], 10)).toBe(rows);
  });

  test("every merged list is sorted, without repeated ids, and bounded", () => {
    // What comes before an underscore does not sort.
    const ids = fc.array(fc.stringMatching(/^[^_]{1,3}$/));
    fc.assert(
      fc.property(ids, ids, fc.integer({ min: 1, max: 20 }), (before, incoming, most) => {
        const found = mergeRows(rowsOf(...before), rowsOf(...incoming), most).map(({ id }) => id);
        if (incoming.length === 0) return;
        const all = [...new Set([...before, ...incoming])].sort((a, b) => (a < b ? 1 : -1));
        expect(found).toEqual(all.slice(0, most));
      }),
    );
  });

  test("generations and rejected requests are sorted together by their time", () => {
    const merged = mergeRows(rowsOf("gen_3", "gen_1"), rowsOf("req_2", "req_4"), 10);
    expect(merged.map(({ id }) => id)).toEqual(["req_4", "gen_3", "req_2", "gen_1"]);
  });

  test("a page of both ends where the first list has a next page, so that no row is missed", () => {
    const rows = (...ids: string[]) => ids.map((id) => ({ id }) as RequestRow);
    const page = joinPages(
      { data: rows("gen_9", "gen_5"), next: "gen_5" },
      { data: rows("req_8", "req_4"), next: null },
    );
    expect(page).toEqual({ data: rows("gen_9", "req_8", "gen_5"), next: "gen_5" });
    const rest = joinPages({ data: rows("gen_3"), next: null }, { data: rows("req_4"), next: null });
    expect(rest).toEqual({ data: rows("req_4", "gen_3"), next: null });
    const empty = joinPages({ data: [], next: "gen_2" }, { data: rows("req_8", "req_1"), next: "req_1" });
    expect(empty).toEqual({ data: rows("req_8"), next: "gen_2" });
  });

  test("rows of the feed are divided into those that the list has and those that it does not have", () => {
    const { known, unknown } = splitKnown(rowsOf("b", "a"), rowsOf("c", "a"));
    expect([known.map(({ id }) => id), unknown.map(({ id }) => id)]).toEqual([["a"], ["c"]]);
  });
});

describe("the texts of numbers", () => {
  test("money has five decimals below a dollar, two from there on, and none from a thousand on", () => {
    const amounts = [0, 1, 6_416_400, 129_000_000, 1_500_000_000, 1_234_567_890_000, -2_500_000_000];
    expect(amounts.map(formatMoney)).toEqual([
      "$0.00",
      "<$0.00001",
      "$0.00642",
      "$0.12900",
      "$1.50",
      "$1,235",
      "−$2.50",
    ]);
  });

  test("the exact amount of money has every nanodollar", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e15, max: 1e15 }), (nanodollars) => {
        const text = formatExactMoney(nanodollars).replace(/[$,]/g, "").replace("−", "-");
        const [whole, rest = ""] = text.split(".");
        expect(Number(`${whole}${rest.padEnd(9, "0")}`)).toBe(nanodollars);
      }),
    );
  });

  test("prices are shown for a million tokens", () => {
    expect(["0.0000025", "0.00000000175", "0"].map(formatPricePerMillion)).toEqual([
      "$2.50",
      "$0.0018",
      "$0.00",
    ]);
  });

  test("durations have three digits or fewer", () => {
    expect([null, 0.4, 840, 1_240, 22_540, 125_000, 7_500_000].map(formatDuration)).toEqual([
      "–",
      "0 ms",
      "840 ms",
      "1.24 s",
      "22.5 s",
      "2 min 5 s",
      "2 h 5 min",
    ]);
  });

  test("large counts are short", () => {
    expect([9_999, 12_345, 1_230_000, 4_500_000_000].map(formatShortCount)).toEqual([
      "9,999",
      "12.3k",
      "1.23M",
      "4.5B",
    ]);
  });

  test("times are relative in both directions", () => {
    expect([0, 12_000, -90_000, 3 * 86_400_000].map((ms) => formatRelative(1e12 - ms, 1e12))).toEqual([
      "now",
      "12 s ago",
      "in 1 min",
      "3 d ago",
    ]);
  });

  test("the speed of an answer without tokens or time is unknown", () => {
    expect([
      formatSpeed(0, 100),
      formatSpeed(10, null),
      formatSpeed(50, 1_000),
      formatSpeed(500, 2_000),
    ]).toEqual(["–", "–", "50.0", "250"]);
  });

  test("a long id is shortened to its prefix and its end", () => {
    expect(shortenId("gen_01m83xs0znhz09bnhhcf1yyqp6")).toBe("gen_…1yyqp6");
  });
});

describe("the export as CSV", () => {
  test("commas and quotes are quoted, and line breaks are written as codes", () => {
    expect(printCsv(["a", "b"], [['x "y", z', "1\n2"]])).toBe('a,b\r\n"x ""y"", z",1\\u000a2\r\n');
  });

  test("a text that a spreadsheet would run as a formula gets an apostrophe", () => {
    expect(printCsv(["name"], [["=1+1"], ["@sum"], [-5], [null]])).toBe(
      "name\r\n'=1+1\r\n'@sum\r\n-5\r\n\r\n",
    );
  });
});

describe("the options of a combobox", () => {
  const options = ["openai/gpt-5", "openai/gpt-5-mini", "azure gpt"].map((id) => ({ value: id, label: id }));

  test("all words must occur, and labels that begin with the first word come first", () => {
    expect(filterOptions(options, "gpt 5").map(({ value }) => value)).toEqual([
      "openai/gpt-5",
      "openai/gpt-5-mini",
    ]);
    expect(filterOptions(options, "az").map(({ value }) => value)).toEqual(["azure gpt"]);
  });
});
