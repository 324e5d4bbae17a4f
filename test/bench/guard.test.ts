import { describe, expect, test } from "bun:test";
import {
  acceptFigures,
  FIGURES,
  type FigureName,
  type Figures,
  findLosses,
  renderFigures,
} from "../../bench/guard/compare.ts";
import limits from "../../bench/guard/limits.json" with { type: "json" };

const FOUND: Figures = {
  "allocated.small": 40_000,
  "allocated.stream": 120_000,
  "work.small": 4,
  "work.stream": 3.5,
  "memory.slope": -20,
  "start.work": 4,
  "start.code": 1_000_000,
  "size.packages": 30_000_000,
  "size.tarball": 2_000_000,
};
const ACCEPTED = acceptFigures(FOUND, "2026-01-02");
const lossesOf = (change: Partial<Figures>) => findLosses({ ...FOUND, ...change }, ACCEPTED);

describe("the guard of the benchmarks", () => {
  test("finds no loss in the figures that were accepted, nor in smaller ones", () => {
    expect(lossesOf({})).toEqual([]);
    expect(lossesOf({ "allocated.small": 1, "work.small": 0.1 })).toEqual([]);
  });

  test("allows 10 % more heap for a request, and no more", () => {
    expect(lossesOf({ "allocated.small": 44_000 })).toEqual([]);
    expect(lossesOf({ "allocated.small": 44_001 })).toEqual(["allocated.small"]);
  });

  test("counts a negative slope of memory as none, so that the limit is not below what noise needs", () => {
    expect(lossesOf({ "memory.slope": FIGURES["memory.slope"].more })).toEqual([]);
    expect(lossesOf({ "memory.slope": FIGURES["memory.slope"].more + 1 })).toEqual(["memory.slope"]);
  });

  test("fails for a figure that could not be measured", () => {
    expect(lossesOf({ "start.code": Number.NaN })).toEqual(["start.code"]);
  });

  test("marks each loss in the table", () => {
    const lines = renderFigures({ ...FOUND, "size.tarball": 3_000_000 }, ACCEPTED).split("\n");
    expect(lines.filter((line) => line.includes("TOO MUCH"))).toEqual([
      expect.stringContaining("the program's tarball"),
    ]);
  });

  test("has a committed limit for every figure", () => {
    expect(Object.keys(limits.figures) as FigureName[]).toEqual(Object.keys(FIGURES) as FigureName[]);
  });
});
