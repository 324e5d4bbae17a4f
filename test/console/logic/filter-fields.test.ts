import { describe, expect, test } from "bun:test";
import {
  applyChip,
  type FilterField,
  labelOf,
  listChips,
  listValues,
} from "../../../src/console/parts/filters/filter-fields.ts";

const MODEL: FilterField = {
  id: "model",
  label: "Model",
  parameters: { is: "model", contains: "model_contains" },
  options: () => [
    { value: "a/one", label: "a/one" },
    { value: "a/two", label: "a/two" },
  ],
};
const OUTCOME: FilterField = {
  id: "outcome",
  label: "Outcome",
  parameters: { is: "outcome" },
  options: () => [{ value: "failed", label: "Failed" }],
  isClosed: true,
};
const FIELDS = [OUTCOME, MODEL];
const valuesOf = (...given: Parameters<typeof listValues>) => listValues(...given).map(({ value }) => value);

describe("a filter bar", () => {
  test("every parameter that is set is a chip, also two of the same field", () => {
    const chips = listChips(FIELDS, { model: "a/one", model_contains: "o", outcome: "failed", other: "x" });
    expect(chips.map(({ parameter, operator, value }) => [parameter, operator, value])).toEqual([
      ["outcome", "is", "failed"],
      ["model", "is", "a/one"],
      ["model_contains", "contains", "o"],
    ]);
    expect(listChips(FIELDS, { model: "" })).toEqual([]);
  });

  test("a chip that gets another comparison leaves its former parameter", () => {
    const [chip] = listChips(FIELDS, { model: "a/one" });
    const changes = applyChip(MODEL, { operator: "contains", value: "one" }, chip ?? null);
    expect(changes).toEqual({ model: null, model_contains: "one" });
    expect(applyChip(MODEL, { operator: "is", value: "a/two" }, chip ?? null)).toEqual({ model: "a/two" });
    expect(applyChip(OUTCOME, { operator: "contains", value: "x" }, null)).toEqual({});
  });

  test("a field takes a suggested value or any text, a closed one only suggested values", () => {
    expect(valuesOf(MODEL, "is", "")).toEqual(["a/one", "a/two"]);
    expect(valuesOf(MODEL, "is", "one")).toEqual(["a/one", "one"]);
    expect(valuesOf(MODEL, "is", "a/one")).toEqual(["a/one"]);
    expect(valuesOf(MODEL, "contains", " one ")).toEqual(["one"]);
    expect(valuesOf(OUTCOME, "is", "fail")).toEqual(["failed"]);
    expect(valuesOf(OUTCOME, "is", "odd")).toEqual([]);
  });

  test("a value is shown by its label, and by itself while the suggestions are not there", () => {
    expect(labelOf(OUTCOME, "failed")).toBe("Failed");
    expect(labelOf({ ...OUTCOME, options: () => [] }, "failed")).toBe("failed");
  });
});
