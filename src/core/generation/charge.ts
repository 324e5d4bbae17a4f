import { toDollars } from "../../base/money.ts";
import type { UsageReport } from "../../wire/canonical/format.ts";
import { estimateTokens, NO_TOKENS, type TokenUsage } from "../../wire/conversation/usage.ts";
import { findEndpoint } from "../catalog/find-endpoint.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import { findPrices, type PricedAdvisor, priceAdvisor, priceWhole } from "../catalog/price-usage.ts";
import type { Prices } from "../catalog/records.ts";
import type { Candidate } from "../routing/plan.ts";
import type { AdvisorRecord, UsageRecord } from "../usage/records.ts";
import type { Allowance } from "./allowance.ts";
import type { GenerationDeps } from "./call.ts";

/** Token usage and its cost: what the account pays, and the provider's list price. Nanodollars. */
export interface Charge {
  readonly usage: TokenUsage;
  /** Models that the provider consulted as advisors. */
  readonly advisors: readonly AdvisorRecord[];
  /** Null if the endpoint has none. */
  readonly prices: Prices | null;
  readonly paid: number;
  readonly list: number;
  /** A BYOK key was used: the provider bills the account directly. */
  readonly isByok: boolean;
}

/**
 * Prices token usage at the candidate that produced it, as of the request's time. Free models and BYOK keys cost nothing, and no
 * account pays more than its allowance covers.
 */
export function chargeFor(
  { endpoint, provider, key, model }: Candidate,
  usage: TokenUsage,
  { requestedAt, allowance, serving }: ChargeContext,
): Charge {
  const findByName = (name: string) => findEndpoint(serving().catalog, provider.record.slug, name);
  const served = usage.countedFor === undefined ? null : findByName(usage.countedFor);
  const prices = findPrices(served?.endpoint ?? endpoint, usage.promptTokens, requestedAt);
  const advisors = (usage.advisors ?? []).map((advisor) => {
    const found = findByName(advisor.model);
    const row = findPrices(found?.endpoint ?? endpoint, advisor.promptTokens, requestedAt);
    return { ...advisor, modelId: found?.model.id ?? null, prices: row };
  });
  const list = priceWhole({ prices, usage, advisors });
  const isByok = key.byokId !== null;
  const paid = isByok || isFreeId(model.id) ? 0 : allowance.cover(list);
  return {
    usage,
    advisors: advisors.map((one) => chargeAdvisor(one, paid === list)),
    prices,
    paid,
    list,
    isByok,
  };
}

/** The time, the allowance and the catalog by which a generation is charged. */
export interface ChargeContext {
  readonly requestedAt: number;
  readonly allowance: Pick<Allowance, "cover">;
  readonly serving: GenerationDeps["serving"];
}

/** Returns an advisor's share of the cost. If the cost is not paid in full, all that is paid counts for the generation's own model. */
function chargeAdvisor(
  advisor: PricedAdvisor & Pick<AdvisorRecord, "modelId">,
  isPaid: boolean,
): AdvisorRecord {
  const cost = priceAdvisor(advisor);
  return { ...advisor, costNanodollars: isPaid ? cost : 0, upstreamCostNanodollars: cost };
}

/** Returns usage and cost as the client sees them. */
export function reportUsage({ usage, paid, list, isByok }: Charge): UsageReport {
  return { usage, cost: toDollars(paid), upstreamInferenceCost: toDollars(list), isByok };
}

/** Estimates the usage of an answer without counts of its vendor, or one that broke off, by the size of its text. */
export function estimateUsage(promptTextBytes: number, producedBytes: number, searches = 0): TokenUsage {
  return {
    ...NO_TOKENS,
    promptTokens: estimateTokens(promptTextBytes),
    completionTokens: estimateTokens(producedBytes),
    searches,
    estimated: true,
  };
}

/** Completes usage by what only the request, and therefore the record, knows. */
export function completeUsage(
  usage: TokenUsage,
  { images, searchContext }: Pick<UsageRecord, "images" | "searchContext">,
): TokenUsage {
  if (images === 0 && searchContext === null) return usage;
  return { ...usage, images, searchContext: usage.searchContext ?? searchContext };
}

/**
 * Returns a record with token usage, and with advisors that are priced. The counters are named one by one, because a second spread
 * into so many fields takes five times as long as the copy.
 */
export function withUsage(
  record: UsageRecord,
  { usage, advisors }: Pick<Charge, "usage" | "advisors">,
): UsageRecord {
  const counted = {
    ...record,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
    cachedTokens: usage.cachedTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    cacheWrite1hTokens: usage.cacheWrite1hTokens,
    reasoningTokens: usage.reasoningTokens,
    audioPromptTokens: usage.audioPromptTokens,
    audioCompletionTokens: usage.audioCompletionTokens,
    imageCompletionTokens: usage.imageCompletionTokens,
    images: usage.images,
    searches: usage.searches,
    searchContext: usage.searchContext,
    estimated: usage.estimated,
  };
  const { countedFor } = usage;
  const named = countedFor === undefined ? counted : { ...counted, countedFor };
  return advisors.length === 0 ? named : { ...named, advisors };
}
