import { formatPrice, readAmount, toAttodollars } from "../../../base/numbers/money.ts";
import type { TokenUsage } from "../../../wire/conversation/usage.ts";
import { boundServices, printServiceBound } from "../../catalog/profile/service-bounds.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Allowance } from "../hold/allowance.ts";
import { type Charge, chargeFor, priceCounts } from "./charge.ts";
import { type CheckedUsage, checkUsage, estimateSeen, type SeenAnswer } from "./check-usage.ts";

/** The candidate that answers, and the money that the answer may cost. */
export interface Answering {
  readonly deps: Pick<GenerationDeps, "log" | "serving">;
  readonly call: Pick<GenerationCall, "request">;
  readonly candidate: Candidate;
  readonly record: UsageRecord;
  readonly allowance: Allowance;
}

/**
 * Returns the token usage of an answer: the vendor's counts if they are plausible, otherwise an estimate. `counts` is null if the vendor
 * sent none.
 */
export function countUsage(answering: Answering, counts: TokenUsage | null, seen: SeenAnswer): CheckedUsage {
  const { call, candidate, record, allowance } = answering;
  const { request } = call;
  const bounds = { request, deployment: candidate, sentMaxTokens: allowance.boundFor(candidate) };
  const checked =
    counts === null ? { usage: estimateSeen(bounds, seen), rejected: [] } : checkUsage(counts, bounds, seen);
  const { images, searchContext } = record;
  const { usage, rejected } = checked;
  // Add the facts that come from the request and are in the record.
  const complete =
    images === 0 && searchContext === null
      ? checked
      : { usage: { ...usage, images, searchContext: usage.searchContext ?? searchContext }, rejected };
  return checkCost(answering, complete, counts === null);
}

/**
 * Compares the cost that the provider reports, if any, with the cost of its counts. If it reports none, services without another price are
 * charged at their maximum cost. An answer without counts is priced by the service tier that the request asked for.
 */
function checkCost(
  answering: Answering,
  { usage, rejected }: CheckedUsage,
  isEstimate: boolean,
): CheckedUsage {
  const { candidate, call } = answering;
  const { record } = candidate.provider;
  const { reportedCost } = usage;
  if (reportedCost !== undefined && record.reportsCost) {
    const bound = boundReported(answering, withoutCost(usage));
    const count = readAmount(reportedCost);
    if (count !== null && count <= bound) return { usage, rejected };
    const refused = { field: "cost", count: reportedCost, bound: Number(formatPrice(bound)) } as const;
    return { usage: withoutCost(usage), rejected: [...rejected, refused] };
  }
  const own = reportedCost === undefined ? usage : withoutCost(usage);
  // At most providers only the counts decide the price, and the request need not be examined.
  if (record.factors === undefined && !record.reportsCost) return { usage: own, rejected };
  const { modes, services } = call.request.demands.listCharges();
  const surcharge = record.reportsCost ? printServiceBound(record, services) : undefined;
  const assumed = isEstimate ? modes : undefined;
  if (surcharge === undefined && assumed === undefined) return { usage: own, rejected };
  return {
    usage: {
      ...own,
      ...(assumed === undefined ? {} : { modes: assumed }),
      ...(surcharge === undefined ? {} : { surcharge }),
    },
    rejected,
  };
}

function withoutCost({ reportedCost: _, ...counted }: TokenUsage): TokenUsage {
  return counted;
}

/** The factor by which a provider may exceed its listed prices, because it may choose a more expensive host. */
const PRICE_ALLOWANCE = 10n;
/** A reported cost up to this amount is accepted whatever the counts are. Attodollars: one dollar. */
const LEAST_BOUND = 1_000_000_000_000_000_000n;

/** Returns the maximum that a provider can have charged for a request. Attodollars. */
function boundReported(answering: Answering, usage: TokenUsage): bigint {
  const { candidate, call } = answering;
  const { services } = call.request.demands.listCharges();
  const counted = PRICE_ALLOWANCE * toAttodollars(priceCounts(answering, usage));
  const tokens = counted > LEAST_BOUND ? counted : LEAST_BOUND;
  return tokens + boundServices(candidate.provider.record, services);
}

/**
 * Prices the token usage of a complete answer, up to what the account covers. If the provider counts more than the hold covers, waits a
 * short time for more money.
 */
export async function chargeComplete(answering: Answering, checked: CheckedUsage): Promise<Charge> {
  const charge = chargeFor(answering, checked.usage);
  if (charge.paid >= charge.owed) return logCharge(answering, checked, charge);
  await answering.allowance.coverSoon(charge.owed);
  return chargeAnswer(answering, checked);
}

/** Prices token usage, up to what the account covers. Logs rejected counts, and costs that are not covered. */
export function chargeAnswer(answering: Answering, checked: CheckedUsage): Charge {
  return logCharge(answering, checked, chargeFor(answering, checked.usage));
}

function logCharge(answering: Answering, { rejected }: CheckedUsage, charge: Charge): Charge {
  if (rejected.length === 0 && charge.paid >= charge.owed) return charge;
  const { deps, candidate, record } = answering;
  const about = {
    generation_id: record.id,
    provider: candidate.provider.record.slug,
    model: candidate.model.id,
  };
  for (const { field, count, bound } of rejected)
    deps.log.warn("a provider counts more than a request can have used; an estimate is charged", {
      ...about,
      field,
      count,
      bound,
    });
  if (charge.paid < charge.owed)
    deps.log.error("an answer has cost more than its account covers; the rest is not charged", {
      ...about,
      account_id: record.accountId,
      cost_nanodollars: charge.owed,
      charged_nanodollars: charge.paid,
    });
  return charge;
}
