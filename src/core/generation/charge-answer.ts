import type { TokenUsage } from "../../wire/conversation/usage.ts";
import type { Candidate } from "../routing/plan.ts";
import type { UsageRecord } from "../usage/records.ts";
import type { Allowance } from "./allowance.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { type Charge, chargeFor, completeUsage } from "./charge.ts";
import { type CheckedUsage, checkUsage, estimateSeen, type SeenAnswer } from "./check-usage.ts";

/** The candidate that answers, and what the answer may cost. */
export interface Answering {
  readonly deps: Pick<GenerationDeps, "log" | "serving">;
  readonly call: Pick<GenerationCall, "request">;
  readonly candidate: Candidate;
  readonly record: UsageRecord;
  readonly allowance: Allowance;
}

/** Returns the token usage of an answer: the vendor's counts as far as they are plausible, else an estimate. `counts` is null if it gave none. */
export function countUsage(
  { call, candidate, record, allowance }: Answering,
  counts: TokenUsage | null,
  seen: SeenAnswer,
): CheckedUsage {
  const { request } = call;
  const bounds = { request, deployment: candidate, sentMaxTokens: allowance.boundFor(candidate) };
  const checked =
    counts === null ? { usage: estimateSeen(bounds, seen), rejected: [] } : checkUsage(counts, bounds, seen);
  const usage = completeUsage(checked.usage, record);
  return usage === checked.usage ? checked : { usage, rejected: checked.rejected };
}

/**
 * Prices the token usage of a complete answer, as far as the account covers it. A promise only if money must be borrowed first: a
 * provider may count more than was held for.
 */
export function chargeComplete(answering: Answering, checked: CheckedUsage): Charge | Promise<Charge> {
  const charge = chargeFor(answering, checked.usage);
  if (charge.paid >= charge.owed) return logged(answering, checked, charge);
  return coverAndCharge(answering, checked, charge.owed);
}

async function coverAndCharge(answering: Answering, checked: CheckedUsage, owed: number): Promise<Charge> {
  await answering.allowance.coverSoon(owed);
  return chargeAnswer(answering, checked);
}

/** Prices token usage, as far as the account covers it. Logs counts that were rejected, and costs that are not covered. */
export function chargeAnswer(answering: Answering, checked: CheckedUsage): Charge {
  return logged(answering, checked, chargeFor(answering, checked.usage));
}

function logged(answering: Answering, { rejected }: CheckedUsage, charge: Charge): Charge {
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
