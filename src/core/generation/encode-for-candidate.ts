import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { CalledTurn } from "../../wire/canonical/called-turn.ts";
import { chooseTarget } from "../../wire/client-apis/choose-target.ts";
import type {
  EncodedForUpstream,
  InferenceRequest,
  OffloadedEncoding,
  ProviderTarget,
  UpstreamTarget,
} from "../../wire/client-apis/inference-request.ts";
import type { ProviderFormat } from "../../wire/conversation/format-name.ts";
import { upstreamActionOf } from "../deployments/upstream-address.ts";
import type { Candidate } from "../routing/plan.ts";
import { scopeOf } from "../routing/session-key.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import { NO_TURNS, type RequestTurns } from "./request-turns.ts";
import { listProviderTargets } from "./upstream-target.ts";

/** The variant in which a request is encoded for a candidate. */
export interface Encoding extends Pick<UpstreamTarget, "withReasoning" | "maxTokens"> {
  /** The remembered turns, which complete what this request lacks. */
  readonly turns: RequestTurns;
  /** The formats to choose from; null: all of the candidate's. */
  readonly formats: readonly ProviderFormat[] | null;
}

/** A request, encoded for a candidate. */
export interface EncodedForCandidate extends EncodedForUpstream {
  readonly format: ProviderFormat;
  /** The other formats in which it can be encoded. */
  readonly otherFormats: readonly ProviderFormat[];
}

type Call = Pick<GenerationCall, "principal" | "request">;
type Deps = Pick<GenerationDeps, "hashIdentity" | "requestEncoder">;

/** A request that is encoded for a candidate. */
export interface EncodeContext {
  readonly deps: Deps;
  readonly call: Call;
  readonly candidate: Candidate;
  readonly cancellation: Cancellation;
}

/**
 * Encodes a request for a candidate, in the best of its formats. The vendor sees its user and session only as keyed hashes.
 * A promise if earlier turns are loaded, or if a large request is encoded in another thread; it resolves to null if the generation is
 * cancelled meanwhile.
 * @throws GatewayError as `InferenceRequest.encode` or `RequestEncoder.encode`.
 */
export function encodeForCandidate(
  context: EncodeContext,
  encoding: Encoding,
): MaybePromise<EncodedForCandidate | null> {
  const targets = listTargets(context, encoding);
  const names = context.call.request.listTurnNames(targets);
  return names.length === 0
    ? encodeForTargets(context, targets)
    : encodeWithTurns(context, targets, encoding.turns.load(names));
}

async function encodeWithTurns(
  context: EncodeContext,
  targets: readonly UpstreamTarget[],
  loaded: Promise<void>,
): Promise<EncodedForCandidate | null> {
  const { cancellation } = context;
  await cancellation.until(loaded);
  return cancellation.isCancelled() ? null : encodeForTargets(context, targets);
}

function encodeForTargets(
  context: EncodeContext,
  targets: readonly UpstreamTarget[],
): MaybePromise<EncodedForCandidate | null> {
  const { request } = context.call;
  const apart = request.offload(targets);
  if (apart !== null) return encodeApart(context, targets, apart);
  const target = chooseTarget(request, targets);
  return complete(context, request.encode(target), { targets, chosen: target.provider.format });
}

/** Encodes a large request in another thread. */
async function encodeApart(
  context: EncodeContext,
  targets: readonly UpstreamTarget[],
  { describe, adopt }: OffloadedEncoding,
): Promise<EncodedForCandidate | null> {
  const { deps, call, cancellation } = context;
  const isWanted = () => !cancellation.isCancelled();
  const order = { scope: scopeOf(call.principal), isWanted, describe };
  const encoded = await cancellation.until(deps.requestEncoder.encode(order));
  return encoded === null ? null : complete(context, adopt(encoded), { targets, chosen: encoded.format });
}

/** Adds what the attempt needs to know of the choice, and the session's hash in the header that a vendor uses for cache affinity. */
function complete(
  { deps, call: { principal, request }, candidate }: EncodeContext,
  { body, heldBytes, headers, repair, carriesReasoning, warnings }: EncodedForUpstream,
  { targets, chosen }: { readonly targets: readonly UpstreamTarget[]; readonly chosen: ProviderFormat },
): EncodedForCandidate {
  const encoded = {
    body,
    heldBytes,
    headers,
    repair,
    carriesReasoning,
    warnings,
    format: chosen,
    otherFormats: listOthers(targets, chosen),
  };
  const { affinityHeader } = candidate.provider.record;
  if (affinityHeader === undefined || request.session === null) return encoded;
  const session = deps.hashIdentity("session", scopeOf(principal), request.session);
  return { ...encoded, headers: { ...headers, [affinityHeader]: session } };
}

const NONE: readonly ProviderFormat[] = [];

function listOthers(targets: readonly UpstreamTarget[], chosen: ProviderFormat): readonly ProviderFormat[] {
  if (targets.length === 1) return NONE;
  return targets.map(({ provider }) => provider.format).filter((format) => format !== chosen);
}

/** Returns the format in which a request would be sent. Rejects with a GatewayError as `encodeForCandidate` does. */
export async function chooseFormat(deps: Deps, call: Call, candidate: Candidate): Promise<ProviderFormat> {
  const targets = listTargets({ deps, call, candidate }, ANY_ATTEMPT);
  const [only, another] = targets;
  if (only !== undefined && another === undefined) return only.provider.format;
  const apart = call.request.offload(targets);
  if (apart === null) return chooseTarget(call.request, targets).provider.format;
  const { describe } = apart;
  const order = { scope: scopeOf(call.principal), isWanted: () => true, describe };
  return (await deps.requestEncoder.encode(order)).format;
}

/** Remembered turns do not influence the choice of the format. */
const ANY_ATTEMPT: Encoding = { withReasoning: true, turns: NO_TURNS, formats: null };

function listTargets(
  context: Omit<EncodeContext, "cancellation">,
  encoding: Encoding,
): readonly UpstreamTarget[] {
  const { call, candidate } = context;
  const targets = listProviderTargets(candidate, call.request.action);
  const only = targets[0];
  return targets.length === 1 && only !== undefined && encoding.formats === null
    ? [new CandidateTarget(only, context, encoding)]
    : selectTargets(targets, context, encoding);
}

function selectTargets(
  targets: readonly ProviderTarget[],
  context: Omit<EncodeContext, "cancellation">,
  encoding: Encoding,
): readonly UpstreamTarget[] {
  const { call, candidate } = context;
  const { formats } = encoding;
  return targets
    .filter((target) => targets.length === 1 || isUsable(target, candidate, call.request))
    .filter(({ format }) => formats === null || formats.includes(format))
    .map((provider) => new CandidateTarget(provider, context, encoding));
}

/** A provider, and how the request of a principal is sent to it. */
class CandidateTarget implements UpstreamTarget {
  readonly withReasoning: boolean;
  readonly maxTokens: number | null;
  readonly overrides: UpstreamTarget["overrides"];

  constructor(
    readonly provider: ProviderTarget,
    private readonly context: Omit<EncodeContext, "cancellation">,
    private readonly encoding: Encoding,
  ) {
    this.withReasoning = encoding.withReasoning;
    this.maxTokens = encoding.maxTokens ?? null;
    this.overrides = context.candidate.overrides ?? null;
  }

  recallTurn(name: string): CalledTurn | null {
    return this.encoding.turns.recall(name);
  }

  hashUser(user: string): string {
    const { deps, call } = this.context;
    return deps.hashIdentity("user", scopeOf(call.principal), user);
  }
}

/** Returns whether the candidate's address has an endpoint for the request in a format. */
function isUsable({ format, model }: ProviderTarget, { key }: Candidate, request: InferenceRequest): boolean {
  const { action, stream } = request;
  const call = { format, action: upstreamActionOf(action, format), model: model.name, stream };
  return key.address.urlFor(call) !== null;
}
