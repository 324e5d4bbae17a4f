import { describe, expect, test } from "bun:test";
import { type FittingColumn, fitTable } from "../../../src/cli/render/fit-table.ts";

const columns: readonly FittingColumn[] = [
  { title: "hour", cells: ["2027-01-31 22:00Z"], kind: "name", rank: 0 },
  { title: "model", cells: ["an-author/a-model-with-a-long-name"], kind: "name", rank: 0 },
  { title: "requests", cells: ["7"], kind: "number", rank: 0 },
  { title: "p50", cells: ["1.20"], kind: "number", rank: 1 },
  { title: "p90", cells: ["3.40"], kind: "number", rank: 2 },
];

describe("a table that fits into a terminal", () => {
  test("has all columns if nothing limits it, with numbers on the right", () => {
    expect(fitTable(columns, null).split("\n")).toEqual([
      "hour               model                               requests   p50   p90",
      "2027-01-31 22:00Z  an-author/a-model-with-a-long-name         7  1.20  3.40",
    ]);
  });

  test("leaves out the columns with the highest rank until it fits", () => {
    expect(fitTable(columns, 70).split("\n")[0]).toEndWith("requests   p50");
    expect(fitTable(columns, 63).split("\n")[0]).toEndWith("requests");
  });

  test("cuts names when that does not suffice, the last one first", () => {
    expect(fitTable(columns, 50).split("\n")[1]).toBe("2027-01-31 22:00Z  an-author/a-model-wi…         7");
    expect(fitTable(columns, 37).split("\n")[1]).toBe("2027-01-31 2…  an-author/a…         7");
  });

  test("is only a heading without rows", () => {
    expect(
      fitTable(
        columns.map((column) => ({ ...column, cells: [] })),
        80,
      ),
    ).toBe("hour  model  requests  p50  p90");
  });
});
