import { expect, test } from "bun:test";
import { fitTable } from "../../../src/cli/render/format-table.ts";

const HEADINGS = ["id", "model", "note"];
const ROW = ["gen_01jd0123456789abcdefghij", "openai/gpt-4o-mini", "a refund for the outage of last week"];

const widthOf = (rows: readonly (readonly string[])[]) =>
  Math.max(...rows.map((row) => row.reduce((sum, cell) => sum + cell.length, 0) + 2 * (row.length - 1)));

test("a table that fits the terminal is not cut", () => {
  expect(fitTable([HEADINGS, ROW], 120)).toEqual([HEADINGS, ROW]);
});

test("a wide table is cut to the terminal: ids in the middle, sentences at their end", () => {
  const fitted = fitTable([HEADINGS, ROW], 60);
  expect(widthOf(fitted)).toBe(60);
  const [id = "", model = "", note = ""] = fitted[1] ?? [];
  expect(id).toMatch(/^gen_01jd\w*…\w*ghij$/);
  expect(note).toMatch(/^a refund.*…$/);
  expect(model).toContain("openai");
});

test("no column is cut to nothing, however narrow the terminal is", () => {
  const [headings, row] = fitTable([HEADINGS, ROW], 5);
  expect(headings).toEqual(HEADINGS);
  expect(row?.map(({ length }) => length)).toEqual([8, 8, 8]);
});
