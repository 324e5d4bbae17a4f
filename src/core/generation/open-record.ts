import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { NO_CHARGES } from "../../wire/conversation/charges.ts";
import { estimateTokens, NO_TOKENS } from "../../wire/conversation/usage.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import { chargesBesideTokens, findPrices } from "../catalog/price-usage.ts";
import type { Candidate } from "../routing/plan.ts";
import type { UsageRecord } from "../usage/records.ts";
import type { Allowance } from "./allowance.ts";
import type { GenerationCall } from "./call.ts";

/** Returns the record of a generation before any attempt. */
export function openRecord(
  call: GenerationCall,
  generation: Pick<UsageRecord, "id" | "requestedModel" | "plan" | "lease"> & {
    readonly requestedAt: number;
  },
): UsageRecord {
  const { principal, request } = call;
  const { id, requestedModel, plan, lease, requestedAt } = generation;
  return {
    id,
    requestId: call.requestId,
    ...describeCaller(principal),
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
    ...NO_TOKENS,
    promptTokens: estimateTokens(request.promptTextBytes),
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

function describeCaller(
  principal: InferencePrincipal,
): Pick<UsageRecord, "accountId" | "keyId" | "userId" | "addressHash"> {
  if (principal.kind === "anonymous")
    return { accountId: null, keyId: null, userId: null, addressHash: principal.addressHash };
  const { account, key } = principal;
  return { accountId: account.id, keyId: key.id, userId: key.userId, addressHash: null };
}

/** Returns a record with the candidate that is tried, and what of the request costs extra there: images and searches. */
export function withCandidate(
  record: UsageRecord,
  candidate: Candidate,
  request: Pick<InferenceRequest, "listCharges">,
): UsageRecord {
  const { images, search } = chargesBesideTokens(candidate.endpoint) ? request.listCharges() : NO_CHARGES;
  return {
    ...record,
    images,
    searchContext: search?.context ?? null,
    model: candidate.model.id,
    provider: candidate.provider.record.slug,
    upstreamModel: candidate.endpoint.name,
    isByok: candidate.key.byokId !== null,
    prices: findPrices(candidate.endpoint, record.promptTokens, record.createdAt),
  };
}

/** Returns a record with its hold, the maximum of its cost if the process dies. */
export function withHeld(record: UsageRecord, { held }: Pick<Allowance, "held">): UsageRecord {
  return held === null ? record : { ...record, heldNanodollars: held };
}
