import type { AnswerFilter } from "../../wire/canonical/filter-answer.ts";
import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { NO_CHARGES } from "../../wire/conversation/charges.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import { chargesBesideTokens, findPrices } from "../catalog/price-usage.ts";
import type { Candidate } from "../routing/plan.ts";
import type { UsageRecord } from "../usage/records.ts";
import { addRecordedWarning, addRecordedWarnings } from "../usage/work-record.ts";
import type { Allowance } from "./allowance.ts";
import type { GenerationCall } from "./call.ts";

/**
 * Returns the record of a generation before any attempt. It is one literal without spreads, because it has so many fields that the
 * engine copies spread ones slowly and does the same for every copy of the record.
 */
export function openRecord(
  call: GenerationCall,
  generation: Pick<UsageRecord, "id" | "requestedModel" | "plan" | "lease" | "sessionId" | "endUser"> & {
    readonly requestedAt: number;
  },
): UsageRecord {
  const { principal, request } = call;
  const { id, requestedModel, plan, lease, sessionId, endUser, requestedAt } = generation;
  const isAnonymous = principal.kind === "anonymous";
  return {
    id,
    requestId: call.requestId,
    accountId: isAnonymous ? null : principal.account.id,
    keyId: isAnonymous ? null : principal.key.id,
    userId: isAnonymous ? null : principal.key.userId,
    sessionId,
    endUser,
    tags: request.tags.length === 0 ? undefined : request.tags,
    addressHash: isAnonymous ? principal.addressHash : null,
    api: request.api,
    streamed: request.stream,
    requestedModel,
    model: null,
    provider: null,
    upstreamModel: null,
    outcome: "open",
    lease,
    error: null,
    status: null,
    finishReason: null,
    nativeFinishReason: null,
    promptTokens: estimateTokens(request.promptTextBytes),
    completionTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    audioPromptTokens: 0,
    audioCompletionTokens: 0,
    imageCompletionTokens: 0,
    images: 0,
    searches: 0,
    searchContext: null,
    estimated: true,
    costNanodollars: 0,
    upstreamCostNanodollars: 0,
    isByok: false,
    prices: null,
    createdAt: requestedAt,
    firstTokenAt: null,
    finishedAt: null,
    attempts: [],
    plan,
  };
}

/** Returns a record with the candidate that is tried, and what of the request costs extra there: images and searches. */
export function withCandidate(
  record: UsageRecord,
  candidate: Candidate,
  request: Pick<InferenceRequest, "listCharges">,
): UsageRecord {
  const { endpoint, tariff } = candidate;
  const charged = tariff?.charged ?? endpoint;
  const { images, search } = chargesBesideTokens(charged) ? request.listCharges() : NO_CHARGES;
  return {
    ...record,
    images,
    searchContext: search?.context ?? null,
    model: candidate.model.id,
    provider: candidate.provider.record.slug,
    upstreamModel: endpoint.name,
    isByok: candidate.key.byokId !== null,
    prices: findPrices(charged, record.promptTokens, record.createdAt),
    listPrices:
      tariff === undefined ? undefined : findPrices(tariff.listed, record.promptTokens, record.createdAt),
  };
}

/** Returns a record with a warning that is known only at the end of an answer, if there is one. */
export function withWarning(record: UsageRecord, warning: Warning | null): UsageRecord {
  return warning === null ? record : { ...record, work: addRecordedWarning(record.work, warning) };
}

/** Returns a record with what the filter of its answer has found. */
export function withFilterWarnings(
  record: UsageRecord,
  filter: Pick<AnswerFilter, "listWarnings"> | null,
  retention: { readonly zeroRetention: boolean },
): UsageRecord {
  if (filter === null) return record;
  const warnings = filter.listWarnings();
  return warnings.length === 0
    ? record
    : { ...record, work: addRecordedWarnings(record.work, warnings, retention) };
}

/** Returns a record with its hold, the maximum of its cost if the process dies, and the leases that the hold is from. */
export function withHeld(
  record: UsageRecord,
  { held, leasedFrom }: Pick<Allowance, "held" | "leasedFrom">,
): UsageRecord {
  if (held === null) return record;
  return { ...record, heldNanodollars: held, leasedFrom };
}
