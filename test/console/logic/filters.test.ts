import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  FIELDS,
  type Filters,
  isLive,
  printFilters,
  RANGES,
  readFilters,
  toApiQuery,
} from "../../../src/console/state/filters.ts";

const NOW = Date.UTC(2026, 10, 23, 10);

/** Applies the changes of an address to an empty query. */
function toQuery(filters: Filters): Record<string, string> {
  const entries = Object.entries(printFilters(filters)).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as Record<string, string>;
}

const word = fc.stringMatching(/^[a-z0-9_/.:-]{1,20}$/);
const time = fc.oneof(
  fc.constantFrom(...(Object.keys(RANGES) as (keyof typeof RANGES)[])).map((last) => ({ last })),
  fc
    .tuple(fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 1, max: 1e10 }))
    .map(([from, length]) => ({ from, to: from + length })),
);
const filters: fc.Arbitrary<Filters> = fc.record({
  time,
  fields: fc.record(
    Object.fromEntries(
      FIELDS.map((name) => [name, name === "outcome" ? fc.constantFrom("failed", "completed") : word]),
    ),
    { requiredKeys: [] },
  ),
  id: fc.option(word.map((text) => `gen_${text.replace(/\W/g, "")}x`)),
});

describe("the filters of the request list", () => {
  test("filters that are written to an address are read from it unchanged", () => {
    fc.assert(fc.property(filters, (some) => expect(readFilters(toQuery(some))).toEqual(some)));
  });

  test("an address without filters means the last 24 hours and has no query", () => {
    expect(readFilters({})).toEqual({ time: { last: "24h" }, fields: {}, id: null });
    expect(toQuery(readFilters({}))).toEqual({});
  });

  test("values that are not valid count as absent", () => {
    const read = readFilters({
      last: "toString",
      outcome: "good",
      id: "x'; drop",
      from: "no",
      to: "2026-01-01",
    });
    expect(read).toEqual({ time: { last: "24h" }, fields: {}, id: null });
  });

  test("a range that ends before it begins counts as absent", () => {
    expect(readFilters({ from: "2026-02-01", to: "2026-01-01" }).time).toEqual({ last: "24h" });
  });

  test("a range that ends now is sent without an end, so that new generations belong to it", () => {
    const query = toApiQuery(readFilters({ last: "1h", model: "openai/gpt-5" }), NOW);
    expect(query).toEqual({ from: "2026-11-23T09:00:00.000Z", model: "openai/gpt-5" });
    expect(isLive(readFilters({ last: "1h" }))).toBe(true);
  });

  test("a range in the past and an id are not live", () => {
    expect(isLive(readFilters({ from: "2026-01-01", to: "2026-02-01" }))).toBe(false);
    expect(isLive(readFilters({ id: "gen_01" }))).toBe(false);
    expect(toApiQuery(readFilters({ id: "gen_01", model: "a" }), NOW)).toEqual({ id: "gen_01" });
  });
});
