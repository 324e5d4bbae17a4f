import { describe, expect, test } from "bun:test";
import { parseFormerTier } from "../../src/core/catalog/tiers/former-tiers.ts";
import { parseNamedRoute } from "../../src/core/named-routes/named-route-store.ts";

const parseRoute = (definition: unknown) =>
  parseNamedRoute({
    account_id: "",
    name: "route",
    version: 1,
    definition: JSON.stringify(definition),
    created_at: 1,
  })?.definition ?? null;

const pick = { models: ["acme/one"] };
const parseTier = (more: object) => {
  const rule = { by: "balance", paid: pick, else: pick } as const;
  const tier = { id: "gateway-auto/ours", name: "Ours", description: "", rule, ...more };
  return parseFormerTier(JSON.stringify({ tier, updatedAt: 1 }))?.tier ?? null;
};

describe("a stored named route", () => {
  test.each([
    ["an alias for an id that is not ASCII", { kind: "alias", target: "acme/größe" }],
    ["a group with such an id", { kind: "group", targets: [{ model: "acme/größe", weight: 1 }] }],
    ["a preset with such a fallback", { kind: "preset", model: "acme/one", models: ["acme/größe"] }],
  ])(
    "is read as an earlier version has stored it, though it could not be stored now: %s",
    (_, definition) => {
      expect(parseRoute(definition)).toEqual(definition as never);
    },
  );

  test.each([
    ["an unknown member", { kind: "alias", target: "acme/one", when: "night" }],
    ["an unknown kind", { kind: "schedule", target: "acme/one" }],
    ["an unknown value", { kind: "preset", provider: { prompt_caching: "always" } }],
    ["another type", { kind: "group", targets: [{ model: "acme/one", weight: { day: 1 } }] }],
  ])("is left out if it has %s, which only a later version knows", (_, definition) => {
    expect(parseRoute(definition)).toBeNull();
  });
});

describe("a stored tier", () => {
  test("is read as an earlier version has stored it, though its name could not be stored now", () => {
    expect(parseTier({ name: "Ours\nand more" })).toMatchObject({ name: "Ours\nand more" });
  });

  test("is left out if it has a member that only a later version knows", () => {
    expect(parseTier({ region: "eu" })).toBeNull();
  });
});
