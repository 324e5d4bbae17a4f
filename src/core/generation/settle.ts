import type { Failure } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import type { UsageReport } from "../../wire/canonical/format.ts";
import { NO_CHARGES } from "../../wire/conversation/charges.ts";
import { estimateTokens, NO_TOKENS, type TokenUsage } from "../../wire/conversation/usage.ts";
import type { InferenceRequest } from "../../wire/dialects/inference-request.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { Prices } from "../catalog/records.ts";
import type { Candidate } from "../routing/plan.ts";
import type { Outcome, UsageRecord } from "../usage/records.ts";
import type { Allowance } from "./allowance.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { chargesBesideTokens, findPrices, priceAt } from "./price-usage.ts";

/** How a generation ended. */
export interface Ending {
  readonly outcome: Exclude<Outcome, "open" | "interrupted">;
  /** The failure that the client saw, or null. */
  readonly failure: Failure | null;
  /** HTTP status that the client saw. */
  readonly status: number;
  /** Null where nothing was produced. */
  readonly charge: Charge | null;
  readonly finish: { readonly client: string; readonly native: string } | null;
  readonly firstTokenAt: number | null;
}

/** What was used and what it costs: what the account pays, and the provider's list price. Nanodollars. */
export interface Charge {
  readonly usage: TokenUsage;
  /** Null where the endpoint has none. */
  readonly prices: Prices | null;
  readonly paid: number;
  readonly list: number;
  /** The account's own key has served, whose bill is not ours. */
  readonly isByok: boolean;
}

/**
 * Prices a usage at the candidate that produced it, as of the request's time. Free models and the account's own keys cost
 * nothing, and nobody pays more than the allowance covers.
 */
export function chargeFor(
  { endpoint, key, model }: Candidate,
  usage: TokenUsage,
  requestedAt: number,
  allowance: Pick<Allowance, "cover">,
): Charge {
  const prices = findPrices(endpoint, usage.promptTokens, requestedAt);
  const list = prices === null ? 0 : priceAt(prices, usage);
  const isByok = key.ownId !== null;
  return { usage, prices, paid: isByok || isFreeId(model.id) ? 0 : allowance.cover(list), list, isByok };
}

/** What the client is told of usage and cost. */
export function reportUsage({ usage, paid, list, isByok }: Charge): UsageReport {
  return { usage, cost: toDollars(paid), upstreamInferenceCost: toDollars(list), isByok };
}

/** What was used by an answer whose vendor gave no numbers, or that broke off: counted by its text. */
export function estimateUsage(promptTextBytes: number, producedBytes: number, searches = 0): TokenUsage {
  return {
    ...NO_TOKENS,
    promptTokens: estimateTokens(promptTextBytes),
    completionTokens: estimateTokens(producedBytes),
    searches,
    estimated: true,
  };
}

/** A usage with what only the request tells, and the record therefore knows. */
export function completeUsage(
  usage: TokenUsage,
  { images, searchContext }: Pick<UsageRecord, "images" | "searchContext">,
): TokenUsage {
  if (images === 0 && searchContext === null) return usage;
  return { ...usage, images, searchContext: usage.searchContext ?? searchContext };
}

/** The record as it stands before any attempt. */
export function openRecord(
  call: GenerationCall,
  generation: Pick<UsageRecord, "id" | "requestedModel" | "plan"> & { readonly requestedAt: number },
): UsageRecord {
  const { caller, request } = call;
  const { id, requestedModel, plan, requestedAt } = generation;
  return {
    id,
    requestId: call.requestId,
    accountId: caller.kind === "key" ? caller.account.id : null,
    keyId: caller.kind === "key" ? caller.key.id : null,
    userId: caller.kind === "key" ? caller.key.userId : null,
    addressHash: caller.kind === "anonymous" ? caller.addressHash : null,
    api: request.api,
    streamed: request.stream,
    requestedModel,
    model: null,
    provider: null,
    upstreamModel: null,
    outcome: "open",
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

/** The record with the candidate that is being tried, and what of the request that one may charge for. */
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
    isByok: candidate.key.ownId !== null,
    prices: findPrices(candidate.endpoint, record.promptTokens, record.createdAt),
  };
}

/** The record with what is held for it: what it costs at most, should the process die. */
export function withHeld(record: UsageRecord, { held }: Pick<Allowance, "held">): UsageRecord {
  return held === null ? record : { ...record, heldNanodollars: held };
}

const NO_CHARGE = { usage: NO_TOKENS, prices: null, paid: 0, list: 0 };

/** Writes the end of a generation into its record, gives its hold back and tells whoever listens. */
export function settle(
  deps: GenerationDeps,
  call: GenerationCall,
  record: UsageRecord,
  ending: Ending,
): void {
  const settled = endRecord(deps, record, ending);
  deps.recorder.write(settled);
  // What the journal does not take now waits in memory for the store: the client has had its answer.
  deps.recorder.flush();
  tellSettled(deps, call, settled, ending);
}

/** The same, where the client's last bytes can wait until the end of this turn of the event loop; resolves then. */
export async function settleSoon(
  deps: GenerationDeps,
  call: GenerationCall,
  record: UsageRecord,
  ending: Ending,
): Promise<void> {
  const { settled } = await secureEnd(deps, record, ending);
  tellSettled(deps, call, settled, ending);
}

/**
 * The same, for an answer of which the client has nothing yet. False when the end would not outlive the process; then
 * nothing is told, and the generation is to be settled otherwise.
 */
export async function trySettle(
  deps: GenerationDeps,
  call: GenerationCall,
  record: UsageRecord,
  ending: Ending,
): Promise<boolean> {
  const { settled, isSecure } = await secureEnd(deps, record, ending);
  if (isSecure) tellSettled(deps, call, settled, ending);
  return isSecure;
}

/** Writes the end of a generation into its record; `isSecure`: it outlives the process. */
async function secureEnd({ recorder, clock }: GenerationDeps, record: UsageRecord, ending: Ending) {
  const settled = endRecord({ clock }, record, ending);
  recorder.write(settled);
  return { settled, isSecure: await recorder.secure() };
}

function tellSettled(
  deps: GenerationDeps,
  call: GenerationCall,
  settled: UsageRecord,
  { failure }: Ending,
): void {
  deps.ledger.settle(settled.id, settled.costNanodollars);
  deps.rateLimits.settle(settled.id, settled.promptTokens + settled.completionTokens);
  call.onSettled(settled, failure);
}

function endRecord(deps: Pick<GenerationDeps, "clock">, record: UsageRecord, ending: Ending): UsageRecord {
  const { usage, prices, paid, list } = ending.charge ?? NO_CHARGE;
  return {
    ...record,
    outcome: ending.outcome,
    error: ending.failure?.code ?? null,
    status: ending.status,
    finishReason: ending.finish?.client ?? null,
    nativeFinishReason: ending.finish?.native ?? null,
    ...usage,
    costNanodollars: paid,
    upstreamCostNanodollars: list,
    prices,
    firstTokenAt: ending.firstTokenAt,
    finishedAt: deps.clock.now(),
  };
}
