import { describe, expect, test } from "bun:test";
import { formatAxisMoney } from "../../../src/console/parts/charts/axis-money.ts";
import {
  DASHES,
  findMaximum,
  moveAlong,
  roundUp,
  roundUpCount,
  sparklinePath,
  splitRunning,
} from "../../../src/console/parts/charts/chart-data.ts";
import { nextOrder, sortRows } from "../../../src/console/parts/lists/sort-rows.ts";

describe("a chart", () => {
  test("the axis ends at a round number that is not below the largest value", () => {
    expect([0, 0.93, 1.06, 7, 10, 1_250].map(roundUp)).toEqual([1, 1, 1.2, 8, 10, 1_600]);
  });

  test("an axis of counts ends at a count whose half is a count, too, unless it is 1", () => {
    expect([0, 1, 2, 3, 7, 9, 59, 61, 1_001].map(roundUpCount)).toEqual([1, 1, 2, 4, 8, 10, 60, 80, 2_000]);
  });

  test("the piece of a line to the running day shares its beginning with the complete part", () => {
    expect(splitRunning([1, 2, 3])).toEqual({ complete: [1, 2, null], running: [null, 2, 3] });
    expect(splitRunning([1])).toEqual({ complete: [null], running: [1] });
    expect(splitRunning([])).toEqual({ complete: [], running: [] });
  });

  test("arrow keys move a cursor within its points, and the first press begins at the last one", () => {
    expect(["ArrowLeft", "ArrowRight", "Home", "End", "x"].map((key) => moveAlong(key, 0, 3))).toEqual([
      0,
      1,
      0,
      2,
      null,
    ]);
    expect(moveAlong("ArrowLeft", null, 3)).toBe(1);
    expect(moveAlong("ArrowLeft", null, 0)).toBeNull();
  });

  test("days without a value do not count for the axis", () => {
    const series = { id: "a", label: "A", style: 1 };
    expect(
      findMaximum([
        { ...series, values: [null, 3] },
        { ...series, values: [2, null] },
      ]),
    ).toBe(3);
    expect(findMaximum([])).toBe(0);
  });

  test("the lines of groups differ without colour, and so do a period and the one before", () => {
    const [before, now, ...groups] = DASHES.map((dash) => dash.join(" "));
    expect(before).not.toBe(now);
    expect(new Set(groups).size).toBe(groups.length);
  });

  test("a sparkline goes from the left edge to the right edge, with the largest value at the top", () => {
    expect(sparklinePath([0, 2, 1], 10, 4)).toBe("M0.0 4.0L5.0 0.0L10.0 2.0");
    expect(sparklinePath([1], 10, 4)).toBe("");
  });

  test("money on an axis has cents, and more decimals only below one cent", () => {
    expect([0, 500_000_000, 250_000_000_000, 12_000_000_000_000, 2_500_000].map(formatAxisMoney)).toEqual([
      "$0.00",
      "$0.50",
      "$250",
      "$12k",
      "$0.0025",
    ]);
  });
});

describe("a sorted table", () => {
  const rows = [{ n: 2 }, { n: null }, { n: 10 }, { n: 1 }];

  test("missing values come last in both directions", () => {
    const sorted = (isDescending: boolean) => sortRows(rows, ({ n }) => n, isDescending).map(({ n }) => n);
    expect(sorted(false)).toEqual([1, 2, 10, null]);
    expect(sorted(true)).toEqual([10, 2, 1, null]);
  });

  test("a column of numbers begins with the largest, a column of names with A, and a second press turns around", () => {
    expect(nextOrder("", "cost", true)).toBe("-cost");
    expect(nextOrder("-cost", "cost", true)).toBe("cost");
    expect(nextOrder("-cost", "name", false)).toBe("name");
    expect(nextOrder("name", "name", false)).toBe("-name");
  });
});
