import {
  formatPrice,
  readAmount,
  scaleAmount,
  toAttodollars,
  toDollars,
} from "../../../base/numbers/money.ts";
import type { UsageReport } from "../../../wire/canonical/model/format.ts";
import type { AdvisorUsage, TokenUsage } from "../../../wire/conversation/usage.ts";
import { pricesForModes } from "../../catalog/prices/factors.ts";
import {
  findPrices,
  type PricedAdvisor,
  priceAdvisor,
  priceTokens,
  priceWhole,
  type RateMemory,
} from "../../catalog/prices/price-usage.ts";
import type { Tariff } from "../../catalog/prices/pricing-rules.ts";
import type { ModelEndpoint, Prices } from "../../catalog/records/records.ts";
import type { FoundEndpoint } from "../../catalog/served/endpoint-index.ts";
import { chargedEndpoint } from "../../ledger/holds/worst-case.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { AdvisorRecord, UsageRecord } from "../../usage/records/records.ts";
import type { GenerationDeps } from "../call/call.ts";
import type { Allowance } from "../hold/allowance.ts";
import type { OpenRecord } from "../records/open-record.ts";

/** Token usage and its cost: what the account owes and pays, and the provider's list price. Nanodollars. */
export interface Charge {
  readonly usage: TokenUsage;
  /** Models that the provider consulted as advisors. */
  readonly advisors: readonly AdvisorRecord[];
  /** The account's price for each token; null if the endpoint has no prices. */
  readonly prices: Prices | null;
  /** The provider's prices if they differ from `prices`. */
  readonly listPrices?: Prices | null | undefined;
  /** The cost by `prices`; 0 for free models, and for BYOK keys without a fee. */
  readonly owed: number;
  /** The part of `owed` that the account's allowance covers. */
  readonly paid: number;
  readonly list: number;
  /** The list prices as the caller sees them. They include a mark-up on platform keys, which is not shown separately. */
  readonly shown: PricedWhole;
  /** Whether a BYOK key was used. The provider then bills the account directly. */
  readonly isByok: boolean;
}

/** The facts that decide the price of an answer. */
interface Priced {
  readonly deps: Pick<GenerationDeps, "serving">;
  readonly candidate: Candidate;
  readonly record: Pick<UsageRecord, "createdAt">;
  readonly allowance: Pick<Allowance, "cover">;
}

/**
 * Prices token usage at the candidate that produced it and at the request's time, both by the account's prices and by the list prices. Free
 * models cost nothing, and BYOK keys cost no more than a fee. An account never pays more than its allowance covers.
 */
export function chargeFor(answer: Priced, usage: TokenUsage): Charge {
  const { tariff, key, served } = answer.candidate;
  const counted = priceUsage(answer, usage, listedEndpoint);
  const listed = withReported(counted, usage);
  const charged = tariff === undefined ? listed : priceTariff(answer, { usage, counted, tariff });
  const isByok = key.byokId !== null;
  const owed = served.isFree || (isByok && tariff === undefined) ? 0 : charged.cost;
  const paid = owed === 0 ? 0 : answer.allowance.cover(owed);
  return {
    usage,
    advisors: chargeAdvisors(charged, listed, paid === charged.cost),
    prices: charged.prices,
    listPrices: tariff === undefined ? undefined : listed.prices,
    owed,
    paid,
    list: listed.cost,
    shown: tariff === undefined || isByok ? listed : charged,
    isByok,
  };
}

/**
 * Prices usage by the account's tariff. A tariff with a factor multiplies the reported cost by it. A tariff with its own prices adds the
 * amount by which the reported cost exceeds the list price.
 */
function priceTariff(
  answer: Priced,
  { usage, counted, tariff }: { usage: TokenUsage; counted: PricedWhole; tariff: Tariff },
): PricedWhole {
  const charged = priceUsage(answer, usage, chargedEndpoint);
  const { reportedCost } = usage;
  if (reportedCost === undefined || charged.prices === null) return charged;
  const reported = readAmount(reportedCost) ?? 0n;
  if (tariff.factor !== null)
    return priceAs(usage, { ...charged.prices, reported: formatPrice(scaleAmount(reported, tariff.factor)) });
  const excess = reported - toAttodollars(counted.cost);
  return excess <= 0n
    ? charged
    : priceAs(usage, { ...charged.prices, surcharge: formatPrice(excess) }, charged.advisors);
}

/** Replaces the computed cost with the cost that the provider reported, if any. */
function withReported(counted: PricedWhole, usage: TokenUsage): PricedWhole {
  const { reportedCost } = usage;
  if (reportedCost === undefined || counted.prices === null) return counted;
  return priceAs(usage, { ...counted.prices, reported: formatPrice(readAmount(reportedCost) ?? 0n) });
}

/** Returns the cost of usage by the provider's list prices, without regard to its reported cost. Nanodollars. */
export function priceCounts(answer: Priced, usage: TokenUsage): number {
  return priceUsage(answer, usage, listedEndpoint).cost;
}

function priceAs(
  usage: TokenUsage,
  prices: Prices,
  advisors: PricedWhole["advisors"] = NO_ADVISORS,
): PricedWhole {
  return { prices, advisors, cost: priceWhole({ prices, usage, advisors }) };
}

/** Returns the endpoint that prices a model of the candidate's provider. `found` is null for the candidate's own model. */
type PriceBook = (found: FoundEndpoint | null, candidate: Candidate) => ModelEndpoint;

const listedEndpoint: PriceBook = (found, { tariff, endpoint }) =>
  found?.endpoint ?? tariff?.listed ?? endpoint;

/** Priced token usage, including that of advisors, and its total cost. Nanodollars. */
interface PricedWhole {
  readonly prices: Prices | null;
  readonly advisors: readonly (PricedAdvisor & Pick<AdvisorRecord, "modelId">)[];
  readonly cost: number;
}

/** Finds the prices of a generation's tokens, including those of advisors, and returns the total cost. */
function priceUsage(answer: Priced, usage: TokenUsage, endpointOf: PriceBook): PricedWhole {
  const { countedFor } = usage;
  const found = countedFor === undefined ? null : findByName(countedFor, answer);
  const served = endpointOf(found, answer.candidate);
  const usual = findPrices(served, usage.promptTokens, answer.record.createdAt);
  const named = { record: answer.candidate.provider.record, name: served.name };
  const inMode = pricesForModes(usual, usage.modes, named);
  const { surcharge } = usage;
  const prices = surcharge === undefined || inMode === null ? inMode : { ...inMode, surcharge };
  const advisors =
    usage.advisors === undefined ? NO_ADVISORS : priceAdvisors(usage.advisors, answer, endpointOf);
  return { prices, advisors, cost: priceWhole({ prices, usage, advisors }, answer.candidate.served.rates) };
}

function priceAdvisors(
  advisors: readonly AdvisorUsage[],
  answer: Priced,
  endpointOf: PriceBook,
): PricedWhole["advisors"] {
  return advisors.map((advisor) => {
    const found = findByName(advisor.model, answer);
    const endpoint = endpointOf(found, answer.candidate);
    const prices = findPrices(endpoint, advisor.promptTokens, answer.record.createdAt);
    return { ...advisor, modelId: found?.model.id ?? null, prices };
  });
}

function findByName(name: string, { candidate, deps }: Priced): FoundEndpoint | null {
  return deps.serving().catalog.findEndpoint(candidate.provider.record.slug, name);
}

const NO_ADVISORS: readonly never[] = [];

/**
 * Joins the charges and list prices of advisors. If the cost is not paid in full, the whole payment counts for the generation's own model.
 */
function chargeAdvisors(
  charged: PricedWhole,
  listed: PricedWhole,
  isPaid: boolean,
): readonly AdvisorRecord[] {
  if (charged.advisors.length === 0) return NO_ADVISORS;
  return charged.advisors.map((advisor, at) => {
    const list = listed.advisors[at] ?? advisor;
    return {
      ...advisor,
      ...(list === advisor ? {} : { listPrices: list.prices }),
      costNanodollars: isPaid ? priceAdvisor(advisor) : 0,
      upstreamCostNanodollars: priceAdvisor(list),
    };
  });
}

/** Returns usage and cost as the client sees them. */
export function reportUsage({ usage, paid, shown, isByok }: Charge, rates: RateMemory): UsageReport {
  const byTokens = priceTokens({ prices: shown.prices, usage, advisors: shown.advisors }, rates);
  return {
    usage,
    cost: toDollars(paid),
    upstreamInferenceCost: toDollars(shown.cost),
    upstreamPromptCost: toDollars(byTokens.prompt),
    upstreamCompletionCost: toDollars(byTokens.completion),
    isByok,
  };
}

/**
 * Replaces the recorded token usage and priced advisors. The counters are assigned one by one, because `Object.assign` takes several times
 * as long.
 */
export function setUsage(record: OpenRecord, { usage, advisors }: Pick<Charge, "usage" | "advisors">): void {
  record.promptTokens = usage.promptTokens;
  record.completionTokens = usage.completionTokens;
  record.cachedTokens = usage.cachedTokens;
  record.cacheWriteTokens = usage.cacheWriteTokens;
  record.cacheWrite1hTokens = usage.cacheWrite1hTokens;
  record.reasoningTokens = usage.reasoningTokens;
  record.audioPromptTokens = usage.audioPromptTokens;
  record.audioCompletionTokens = usage.audioCompletionTokens;
  record.imageCompletionTokens = usage.imageCompletionTokens;
  record.images = usage.images;
  record.searches = usage.searches;
  record.searchContext = usage.searchContext;
  record.estimated = usage.estimated;
  const priced = advisors.length > 0 ? advisors : undefined;
  // Few records have these fields, and adding them costs more than the comparison.
  if (record.units !== usage.units) record.units = usage.units;
  if (record.countedFor !== usage.countedFor) record.countedFor = usage.countedFor;
  if (record.advisors !== priced) record.advisors = priced;
}
