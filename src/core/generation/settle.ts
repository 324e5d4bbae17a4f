import type { Failure } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import type { UsageReport } from "../../wire/canonical/format.ts";
import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { NO_CHARGES } from "../../wire/conversation/charges.ts";
import { estimateTokens, NO_TOKENS, type TokenUsage } from "../../wire/conversation/usage.ts";
import { findEndpoint } from "../catalog/find-endpoint.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import {
  chargesBesideTokens,
  findPrices,
  type PricedAdvisor,
  priceAdvisor,
  priceWhole,
} from "../catalog/price-usage.ts";
import type { Prices } from "../catalog/records.ts";
import type { Candidate } from "../routing/plan.ts";
import type { AdvisorRecord, Outcome, UsageRecord } from "../usage/records.ts";
import type { Allowance } from "./allowance.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import type { AttachedExtensions } from "./extension.ts";

/** How a generation ended. */
export interface Ending {
  readonly outcome: Exclude<Outcome, "open" | "interrupted">;
  /** The failure that the client saw, or null. */
  readonly failure: Failure | null;
  /** HTTP status that the client saw. */
  readonly status: number;
  /** Null if nothing was produced. */
  readonly charge: Charge | null;
  readonly finish: { readonly client: string; readonly native: string } | null;
  readonly firstTokenAt: number | null;
}

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
    accountId: principal.kind === "key" ? principal.account.id : null,
    keyId: principal.kind === "key" ? principal.key.id : null,
    userId: principal.kind === "key" ? principal.key.userId : null,
    addressHash: principal.kind === "anonymous" ? principal.addressHash : null,
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

/** Returns a record with the candidate that is tried, and what of the request it may charge for. */
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

/** Returns a record with its hold: the most that it costs if the process dies. */
export function withHeld(record: UsageRecord, { held }: Pick<Allowance, "held">): UsageRecord {
  return held === null ? record : { ...record, heldNanodollars: held };
}

/** Returns usage in the form of a record. */
export function recordUsage({ usage, advisors }: Pick<Charge, "usage" | "advisors">) {
  const { advisors: _unpriced, ...tokens } = usage;
  return advisors.length === 0 ? tokens : { ...tokens, advisors };
}

const NO_CHARGE: Pick<Charge, "usage" | "advisors" | "prices" | "paid" | "list"> = {
  usage: NO_TOKENS,
  advisors: [],
  prices: null,
  paid: 0,
  list: 0,
};

/** What settling a generation works with. */
export interface Settling {
  readonly deps: GenerationDeps;
  readonly call: GenerationCall;
  readonly extensions: AttachedExtensions;
}

/** Writes the final record of a generation, releases its hold and limits, and notifies the extensions. */
export function settle(settling: Settling, record: UsageRecord, ending: Ending): void {
  const { recorder } = settling.deps;
  const settled = endRecord(settling, record, ending);
  recorder.write(settled);
  // If the journal cannot take the record now, it waits in memory for the store: the client already has its answer.
  recorder.flush();
  release(settling, settled, ending);
}

/** Settles an answer whose last bytes can wait until the record is flushed; resolves then, also if flushing fails. */
export async function settleSoon(settling: Settling, record: UsageRecord, ending: Ending): Promise<void> {
  const { settled } = await writeDurably(settling, record, ending);
  release(settling, settled, ending);
}

/**
 * Settles an answer of which the client has nothing yet. Resolves to false if the record was not flushed durably; then nothing
 * was released, and the generation must be settled in another way.
 */
export async function trySettle(settling: Settling, record: UsageRecord, ending: Ending): Promise<boolean> {
  const { settled, isDurable } = await writeDurably(settling, record, ending);
  if (isDurable) release(settling, settled, ending);
  return isDurable;
}

async function writeDurably(settling: Settling, record: UsageRecord, ending: Ending) {
  const { recorder } = settling.deps;
  const settled = endRecord(settling, record, ending);
  recorder.write(settled);
  return { settled, isDurable: await recorder.flushDurably() };
}

function release({ deps, call, extensions }: Settling, settled: UsageRecord, { failure }: Ending): void {
  deps.ledger.settle(settled.id, settled.costNanodollars);
  const advisorTokens =
    settled.advisors?.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0) ?? 0;
  deps.rateLimiter.settle(settled.id, settled.promptTokens + settled.completionTokens + advisorTokens);
  call.onEnded();
  extensions.onSettled(settled, failure);
}

function endRecord({ deps }: Settling, record: UsageRecord, ending: Ending): UsageRecord {
  const charge = ending.charge ?? NO_CHARGE;
  return {
    ...record,
    outcome: ending.outcome,
    lease: undefined,
    error: ending.failure?.code ?? null,
    status: ending.status,
    finishReason: ending.finish?.client ?? null,
    nativeFinishReason: ending.finish?.native ?? null,
    ...recordUsage(charge),
    costNanodollars: charge.paid,
    upstreamCostNanodollars: charge.list,
    prices: charge.prices,
    firstTokenAt: ending.firstTokenAt,
    finishedAt: deps.clock.now(),
  };
}
