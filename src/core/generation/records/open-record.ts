import type { AnswerFilter } from "../../../wire/canonical/answer/filter-answer.ts";
import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import { NO_CHARGES } from "../../../wire/conversation/charges.ts";
import { estimateTokens } from "../../../wire/conversation/usage.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import { defaultTagsOf } from "../../accounts/records/key-defaults.ts";
import { pricesForModes } from "../../catalog/prices/factors.ts";
import { chargesBesideTokens, findPrices } from "../../catalog/prices/price-usage.ts";
import { countsEndUsers } from "../../ledger/limits/budget-limits.ts";
import { scopeOf } from "../../routing/affinity/session-key.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { recordText } from "../../usage/records/record-text.ts";
import { type AttemptRecord, createLease, type UsageRecord } from "../../usage/records/records.ts";
import { recordSteps } from "../../usage/records/route-step.ts";
import { addOwnWarnings, addRecordedWarnings } from "../../usage/records/work-record.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Allowance } from "../hold/allowance.ts";
import { hashEndUser } from "../memory/identity-hash.ts";
import type { AdmittedRequest } from "../prepare/admission.ts";

/**
 * The record of a running generation. The generation changes it in place, because copying all fields costs more than changing some.
 * Stored open versions are copies; the final version is this record itself.
 */
export type OpenRecord = { -readonly [Field in keyof UsageRecord]: UsageRecord[Field] };

/**
 * Returns the record of a generation before any attempt. It is one literal without spreads, and it contains the fields that are set later,
 * because the engine copies and prints an object with added fields more slowly.
 */
export function openRecord(
  deps: GenerationDeps,
  call: GenerationCall,
  { id, admission, requestedAt }: AdmittedRequest,
): OpenRecord {
  const { principal, request } = call;
  const { requestedId, namedRoutes } = admission;
  const isAnonymous = principal.kind === "anonymous";
  const client = deps.clients.find(call.headers.get("user-agent"));
  return {
    id,
    requestId: call.requestId,
    accountId: isAnonymous ? null : principal.account.id,
    keyId: isAnonymous ? null : principal.key.id,
    userId: isAnonymous ? null : principal.key.userId,
    teamId: isAnonymous ? undefined : (principal.key.teamId ?? undefined),
    sessionId: findSession(deps, call),
    endUser: findEndUser(deps, call),
    tags: isAnonymous ? listTags(request.tags) : listTags(request.tags, defaultTagsOf(principal)),
    client: client?.family,
    clientVersion: client?.version ?? undefined,
    addressHash: isAnonymous ? principal.addressHash : null,
    api: request.api,
    streamed: request.stream,
    requestedModel: requestedId,
    fallbackModels: request.fallbackModels.length === 0 ? undefined : recordNames(request.fallbackModels),
    namedRoutes: namedRoutes.length === 0 ? undefined : recordSteps(namedRoutes),
    shadowOf: call.shadowOf,
    model: null,
    provider: null,
    upstreamModel: null,
    outcome: "open",
    lease: createLease(deps.gatewayId, requestedAt, call.longestMs ?? deps.settings.timers.totalMs),
    error: null,
    errorMessage: undefined,
    errorField: undefined,
    status: null,
    finishReason: null,
    nativeFinishReason: null,
    promptTokens: estimateTokens(request.prompt.textBytes),
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
    replayOf: undefined,
    replayBy: undefined,
    replaySavedNanodollars: undefined,
    usesFreeModel: undefined,
    prices: null,
    listPrices: undefined,
    createdAt: requestedAt,
    firstTokenAt: null,
    finishedAt: null,
    attempts: NO_ATTEMPTS,
    work: undefined,
    plan: [],
    heldNanodollars: undefined,
    leasedFrom: undefined,
  };
}

/** Returns the tags of a request, each once; undefined if there are none. */
function listTags(own: readonly string[], defaults: readonly string[] = []): readonly string[] | undefined {
  if (defaults.length === 0) return own.length === 0 ? undefined : own;
  return own.length === 0 ? defaults : [...new Set([...own, ...defaults])];
}

/** The most fallback models in a record, and the most characters of each. */
const MAX_NAMES = 20;
const NAME_CHARS = 200;

function recordNames(names: readonly string[]): readonly string[] {
  return names.slice(0, MAX_NAMES).map((name) => recordText(name, NAME_CHARS));
}

/** The attempts of a generation that has not begun any. */
export const NO_ATTEMPTS: readonly AttemptRecord[] = [];

/** Returns the keyed hash of the session that the client names. */
function findSession(
  { accounts: { hashIdentity } }: GenerationDeps,
  { principal, request: { session } }: GenerationCall,
): string | undefined {
  return session === null ? undefined : hashIdentity("session", scopeOf(principal), session);
}

/** Returns the keyed hash of the end user if the account has a budget for end users. */
function findEndUser(
  { accounts: { hashIdentity } }: GenerationDeps,
  { principal, request }: GenerationCall,
): string | undefined {
  if (principal.kind === "anonymous" || principal.account.budgets === undefined) return undefined;
  const { account } = principal;
  const isWanted = request.user !== null && countsEndUsers(principal.account.budgets);
  return isWanted ? hashEndUser(hashIdentity, account.id, request.user) : undefined;
}

/** Records the current candidate, and the parts of the request that cost extra there: images and searches. */
export function setCandidate(
  record: OpenRecord,
  candidate: Candidate,
  request: Pick<InferenceRequest, "demands">,
): void {
  const { endpoint, tariff, served } = candidate;
  const { promptTokens, createdAt } = record;
  const charged = tariff?.charged ?? endpoint;
  const { record: provider } = candidate.provider;
  const mayCostMore = provider.factors !== undefined || provider.reportsCost === true;
  const chargesMore = tariff === undefined ? served.chargesBesideTokens : chargesBesideTokens(charged);
  const isExamined = mayCostMore || chargesMore;
  const { images, search, modes } = isExamined ? request.demands.listCharges() : NO_CHARGES;
  record.images = images;
  record.searchContext = search?.context ?? null;
  record.model = candidate.model.id;
  record.provider = candidate.provider.record.slug;
  record.upstreamModel = endpoint.name;
  record.isByok = candidate.key.byokId !== null;
  const named = { record: provider, name: endpoint.name };
  record.prices = pricesForModes(findPrices(charged, promptTokens, createdAt), modes, named);
  record.listPrices =
    tariff === undefined
      ? undefined
      : pricesForModes(findPrices(tariff.listed, promptTokens, createdAt), modes, named);
}

/** Returns a record with the warnings of the gateway that are known only at the end of an answer. */
export function withWarnings(record: UsageRecord, warnings: readonly Warning[]): UsageRecord {
  return warnings.length === 0 ? record : { ...record, work: addOwnWarnings(record.work, warnings) };
}

/** Returns a record with the warnings of the answer's filter. */
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

/** Records the hold, the maximum cost if the process dies, and the leases that the hold was taken from. */
export function setHeld(
  record: OpenRecord,
  { held, leasedFrom }: Pick<Allowance, "held" | "leasedFrom">,
): void {
  if (held === null) return;
  record.heldNanodollars = held;
  record.leasedFrom = leasedFrom;
}
