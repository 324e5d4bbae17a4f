import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { readTiers } from "../../src/app/catalog/load-tiers.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../src/app/catalog/shipped-files.ts";
import { matchPattern } from "../../src/base/text/match-pattern.ts";
import { isFreeId } from "../../src/core/catalog/records/is-free-id.ts";
import { parseTiers } from "../../src/core/catalog/served/validate-catalog.ts";
import type { TierRule } from "../../src/core/catalog/tiers/tier-records.ts";
import { createTiers, isFreeChoice, listCases } from "../../src/core/catalog/tiers/tiers.ts";

const { models } = loadShippedCatalog();
const data = readTiers(SHIPPED_CATALOG_DIRECTORY);
const tiers = createTiers(data);
const known = new Map(models.map((model) => [model.id, model]));

function ruleOf<By extends TierRule["by"]>(id: string, by: By): Extract<TierRule, { by: By }> {
  const rule = tiers.find(id)?.rule;
  if (rule?.by !== by) throw new Error(`${id} does not pick by ${by}`);
  return rule as Extract<TierRule, { by: By }>;
}

describe("the shipped tiers", () => {
  test("are frontier, balanced, free and small", () => {
    expect(data.tiers.map(({ id }) => id)).toEqual([
      "gateway-auto/frontier",
      "gateway-auto/balanced",
      "gateway-auto/free",
      "gateway-auto/small",
    ]);
  });

  test("contain only models with a price in the catalog, each once in a pick", () => {
    for (const { rule } of data.tiers) {
      for (const { pick } of listCases(rule)) {
        expect(new Set(pick.models).size).toBe(pick.models.length);
        for (const id of pick.models)
          expect([id, known.get(id)?.endpoints.some(({ prices }) => prices !== null)]).toEqual([id, true]);
      }
    }
  });

  test("list only models of the catalog as accepting verbosity", () => {
    expect(data.verbosity.filter((id) => !known.has(id))).toEqual([]);
  });

  test("have the specified providers in the first place of their picks", () => {
    const leads = (rule: TierRule) => listCases(rule).map(({ pick }) => pick.models[0]?.split("/")[0]);
    expect(leads(ruleOf("gateway-auto/frontier", "header"))).toEqual(["anthropic", "anthropic"]);
    expect(leads(ruleOf("gateway-auto/balanced", "api"))).toEqual(["qwen", "openai", "anthropic"]);
  });

  test("include small, which has free models for accounts without credits and paid models for others", () => {
    const small = ruleOf("gateway-auto/small", "balance");
    expect(small.else.models.every(isFreeId)).toBe(true);
    expect(small.paid.models.some(isFreeId)).toBe(false);
  });

  test("contain a model of every vendor with its own API in each pick of paid models", () => {
    const vendors = [
      "anthropic",
      "openai",
      "google",
      "mistral",
      "xai",
      "deepseek",
      "moonshotai",
      "zai",
      "alibaba",
    ];
    const hosts = ["openrouter", "amazon-bedrock", "google-vertex", "azure", "groq", "togetherai", "cohere"];
    for (const { id, rule } of data.tiers) {
      for (const { pick } of listCases(rule).filter(({ pick }) => !pick.models.every(isFreeId))) {
        const served = new Set(
          pick.models.flatMap((model) => known.get(model)?.endpoints.map(({ provider }) => provider) ?? []),
        );
        expect([id, [...vendors, ...hosts].filter((slug) => !served.has(slug))]).toEqual([id, []]);
      }
    }
  });

  test("exclude free models that are not for conversations", () => {
    const rule = ruleOf("gateway-auto/free", "free");
    const choices = models.filter((model) => isFreeChoice(rule, model)).map(({ id }) => id);
    expect(choices.length).toBeGreaterThan(5);
    expect(choices.every(isFreeId)).toBe(true);
    expect(choices.join()).not.toContain("safety");
    // A pattern that matches no model must be removed.
    const met = rule.except.filter((pattern) =>
      models.some(({ id }) => isFreeId(id) && matchPattern(pattern, id)),
    );
    expect(met).toEqual([...rule.except]);
  });
});

describe("the check of tiers.json", () => {
  const TEXT = readFileSync(join(SHIPPED_CATALOG_DIRECTORY, "tiers.json"), "utf8");
  const damage = (change: (data: { tiers: Record<string, unknown>[] } & Record<string, unknown>) => void) => {
    const copy = JSON.parse(TEXT);
    change(copy);
    return parseTiers("tiers.json", JSON.stringify(copy)).problems;
  };

  test("accepts a valid file", () => {
    expect(damage(() => {})).toEqual([]);
    expect(parseTiers("tiers.json", "{").problems[0]).toStartWith("tiers.json: not JSON");
  });

  test.each<[string, Parameters<typeof damage>[0], string]>([
    [
      "an id that does not begin with gateway-auto/",
      ({ tiers: [first] }) => Object.assign(first as object, { id: "auto/x" }),
      "id: must be gateway-auto/",
    ],
    ["a repeated id", ({ tiers }) => tiers.push(tiers[0] as Record<string, unknown>), "is listed twice"],
    [
      "an unknown rule",
      ({ tiers: [first] }) => Object.assign(first as object, { rule: { by: "moon" } }),
      "rule.by: ",
    ],
    [
      "an empty pick",
      ({ tiers: [, second] }) => Object.assign((second as { rule: object }).rule, { else: { models: [] } }),
      "rule.else.models: ",
    ],
    [
      "a tier in a pick",
      ({ tiers: [, second] }) =>
        Object.assign((second as { rule: object }).rule, { else: { models: ["gateway-auto/free"] } }),
      "a tier cannot contain tiers",
    ],
    [
      "a paid model that is last among free ones",
      ({ tiers: [, , free] }) => Object.assign((free as { rule: object }).rule, { last: ["openai/gpt-5.4"] }),
      "ends in :free",
    ],
    ["an unknown field", (all) => Object.assign(all, { surprise: 1 }), "Unrecognized key"],
  ])("reports %s with file and path", (_, change, words) => {
    expect(damage(change).join("\n")).toContain(words);
  });
});

test("the last of several tiers with the same id replaces the first", () => {
  const [first] = data.tiers;
  if (first === undefined) throw new Error("no tiers");
  const mine = { ...first, name: "Mine" };
  const { list, find } = createTiers({ ...data, tiers: [...data.tiers, mine] });
  expect(list.map(({ id }) => id)).toEqual(data.tiers.map(({ id }) => id));
  expect([list[0]?.name, find(first.id.toUpperCase())?.name]).toEqual(["Mine", "Mine"]);
});
