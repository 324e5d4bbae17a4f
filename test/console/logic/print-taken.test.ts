import { expect, test } from "bun:test";
import type { TakenParameter } from "../../../src/console/api/schema.ts";
import { printTaken } from "../../../src/console/parts/lists/print-taken.ts";

const BESIDE = { parameter: "temperature", values: [0] };

test.each<[string, Partial<TakenParameter>]>([
  ["Every value", { taken: "yes" }],
  ["Left out", { taken: "no" }],
  ["Only 1", { values: [1] }],
  ["Only auto, flex", { values: ["auto", "flex"] }],
  ["Only false while it reasons", { values: [false], while_reasoning: true }],
  ["Left out while it reasons", { values: [], while_reasoning: true }],
  ["0 to 1.5", { min: 0, max: 1.5 }],
  ["At most 1.5", { max: 1.5 }],
  ["At least 16", { min: 16 }],
  ["Not beside temperature 0", { not_with: BESIDE }],
  ["Not beside temperature", { not_with: { parameter: "temperature" } }],
])("a rule of an endpoint reads %p", (printed, rule) => {
  expect(printTaken({ parameter: "x", source: "family", taken: "some", ...rule })).toBe(printed);
});
