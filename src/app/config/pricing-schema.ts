import { z } from "zod";
import { parsePrice } from "../../base/numbers/money.ts";
import { PLAN_NAME } from "../../core/accounts/records/records.ts";
import {
  type PricingEffect,
  type PricingRule,
  PricingRules,
} from "../../core/catalog/prices/pricing-rules.ts";
import { pricesSchema, readPrices, tiersOfPricesSchema } from "./override-schema.ts";

/** The maximum number of rules. Each account's requests are compared with the rules that name it. */
const MAX_RULES = 1_000;

/** The maximum percentage that a rule adds. */
const MAX_PERCENT = 10_000;

/** A percentage with at most four decimal places: rules scale prices by millionths. */
const PERCENT = /^-?\d{1,5}(\.\d{1,4})?$/;

function percent(least: number, about: string) {
  return z
    .union([z.string(), z.number()])
    .refine(
      (value) => PERCENT.test(String(value)) && Number(value) >= least && Number(value) <= MAX_PERCENT,
      `must be a percentage from ${least} to ${MAX_PERCENT} with at most four places, such as 12.5`,
    )
    .describe(about);
}

const names = (about: string) =>
  z.array(z.string().min(1).max(256)).min(1).max(1_000).optional().describe(about);

const rule = z
  .strictObject({
    from: z.iso
      .date()
      .optional()
      .describe("First day (UTC), such as 2027-01-01. If absent, it applies from the start."),
    until: z.iso.date().optional().describe("Last day (UTC). If absent, it does not end."),
    accounts: names("Ids of users and organizations."),
    plans: z
      .array(z.string().regex(PLAN_NAME, "must be a plan's name, such as pro"))
      .min(1)
      .max(1_000)
      .optional()
      .describe("Plans of accounts, as `gateway users update --plan` sets them."),
    providers: names("Slugs of providers."),
    models: names("Model ids, or patterns with `*`."),
    markup_percent: percent(
      -100,
      "Added to the provider's price, in per cent. Negative: a discount.",
    ).optional(),
    prices: pricesSchema.optional().describe("Prices instead of the provider's, as in catalog.overrides."),
    price_tiers: tiersOfPricesSchema.optional().describe("Prices of longer prompts, with `prices`."),
    byok_fee_percent: percent(
      0,
      "Fee for requests with the account's own provider key (BYOK), in per cent of the provider's price.",
    ).optional(),
  })
  .refine(({ markup_percent, prices }) => markup_percent === undefined || prices === undefined, {
    message: "must not be given with prices: a rule either adds to the provider's price or replaces it",
    path: ["markup_percent"],
  })
  .refine(({ prices, price_tiers }) => price_tiers === undefined || prices !== undefined, {
    message: "needs prices",
    path: ["price_tiers"],
  })
  .refine(
    ({ markup_percent, prices, byok_fee_percent }) =>
      markup_percent !== undefined || prices !== undefined || byok_fee_percent !== undefined,
    { message: "must have markup_percent, prices or byok_fee_percent" },
  )
  .refine(({ from, until }) => from === undefined || until === undefined || from <= until, {
    message: "must not be before from",
    path: ["until"],
  });

/** The configuration of what accounts pay. */
export const pricingSchema = z
  .strictObject({
    rules: z
      .array(rule)
      .max(MAX_RULES)
      .optional()
      .describe(
        "Rules that set what accounts pay instead of the providers' prices. Only the first rule that matches applies. See docs/pricing.md.",
      ),
    charge_abandoned: z
      .boolean()
      .default(true)
      .describe(
        "Whether a client that disconnects before an answer that is not streamed is charged: for the prompt once the provider has begun to answer, and for the provider's counts if the answer is complete.",
      ),
  })
  .prefault({});

type WrittenRule = z.infer<typeof rule>;

/** Returns the pricing rules of a configuration. */
export function readPricingRules({ rules = [] }: z.infer<typeof pricingSchema>): PricingRules {
  return new PricingRules(rules.map(readRule));
}

function readRule(written: WrittenRule): PricingRule {
  const { from, until, accounts, plans, providers, models, byok_fee_percent: fee } = written;
  return {
    from: from ?? null,
    until: until ?? null,
    accounts: accounts ?? null,
    plans: plans ?? null,
    providers: providers ?? null,
    models: models ?? null,
    platform: readEffect(written),
    byok: fee === undefined ? null : { kind: "scale", factor: millionthsOf(fee) },
  };
}

function readEffect({ markup_percent: markup, prices, price_tiers }: WrittenRule): PricingEffect | null {
  if (prices !== undefined) return { kind: "replace", row: readPrices({ prices, price_tiers }) };
  return markup === undefined ? null : { kind: "scale", factor: 1_000_000n + millionthsOf(markup) };
}

/** Converts a percentage with at most four places to millionths. */
function millionthsOf(written: string | number): bigint {
  const percentage = String(written);
  const isNegative = percentage.startsWith("-");
  const value = parsePrice(isNegative ? percentage.slice(1) : percentage) ?? 0n;
  const millionths = value / 100_000_000_000_000n;
  return isNegative ? -millionths : millionths;
}
