import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { CalledTurn } from "../../wire/canonical/called-turn.ts";
import { chooseTarget } from "../../wire/client-apis/choose-target.ts";
import type {
  EncodedForUpstream,
  OffloadedEncoding,
  ProviderTarget,
  UpstreamTarget,
} from "../../wire/client-apis/inference-request.ts";
import type { ProviderFormat } from "../../wire/conversation/format-name.ts";
import type { Candidate } from "../routing/plan.ts";
import { scopeOf } from "../routing/session-key.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import { NO_TURNS, type RequestTurns } from "./request-turns.ts";
import { listUsableTargets } from "./upstream-target.ts";

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
  /** All targets of the candidate. The request is encoded for the one with this `format`. */
  readonly targets: readonly ProviderTarget[];
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
  const providers = listTargets(context, encoding.formats);
  return encodeForwarded(context, encoding, providers) ?? encodeBest(context, encoding, providers);
}

/** Encodes a request whose bytes are forwarded, which needs no other target; null for one that may be translated. */
function encodeForwarded(
  context: EncodeContext,
  encoding: Encoding,
  providers: readonly ProviderTarget[],
): EncodedForCandidate | null {
  const { request } = context.call;
  if (request.isBestForwarded === undefined) return null;
  for (const provider of providers) {
    if (provider.format !== request.format) continue;
    const target = new CandidateTarget(provider, context, encoding);
    if (request.isBestForwarded(target, providers.length === 1))
      return complete(context, request.encode(target), { providers, chosen: provider.format });
  }
  return null;
}

function encodeBest(
  context: EncodeContext,
  encoding: Encoding,
  providers: readonly ProviderTarget[],
): MaybePromise<EncodedForCandidate | null> {
  const targets = providers.map((provider) => new CandidateTarget(provider, context, encoding));
  const names = context.call.request.listTurnNames(targets);
  return names.length === 0
    ? encodeForTargets(context, targets, providers)
    : encodeWithTurns(context, targets, { providers, loaded: encoding.turns.load(names) });
}

async function encodeWithTurns(
  context: EncodeContext,
  targets: readonly UpstreamTarget[],
  { providers, loaded }: { readonly providers: readonly ProviderTarget[]; readonly loaded: Promise<void> },
): Promise<EncodedForCandidate | null> {
  const { cancellation } = context;
  await cancellation.until(loaded);
  return cancellation.isCancelled() ? null : encodeForTargets(context, targets, providers);
}

function encodeForTargets(
  context: EncodeContext,
  targets: readonly UpstreamTarget[],
  providers: readonly ProviderTarget[],
): MaybePromise<EncodedForCandidate | null> {
  const { request } = context.call;
  const apart = request.offload(targets);
  if (apart !== null) return encodeApart(context, apart, providers);
  const target = chooseTarget(request, targets);
  return complete(context, request.encode(target), { providers, chosen: target.provider.format });
}

/** Encodes a large request in another thread. */
async function encodeApart(
  context: EncodeContext,
  { describe, adopt }: OffloadedEncoding,
  providers: readonly ProviderTarget[],
): Promise<EncodedForCandidate | null> {
  const { deps, call, cancellation } = context;
  const isWanted = () => !cancellation.isCancelled();
  const order = { scope: scopeOf(call.principal), isWanted, describe };
  const encoded = await cancellation.until(deps.requestEncoder.encode(order));
  return encoded === null ? null : complete(context, adopt(encoded), { providers, chosen: encoded.format });
}

/** Adds what the attempt needs to know of the choice, and the session's hash in the header that a vendor uses for cache affinity. */
function complete(
  { deps, call: { principal, request }, candidate }: EncodeContext,
  { body, heldBytes, headers, repair, carriesReasoning, warnings }: EncodedForUpstream,
  { providers, chosen }: { readonly providers: readonly ProviderTarget[]; readonly chosen: ProviderFormat },
): EncodedForCandidate {
  const encoded = {
    body,
    heldBytes,
    headers,
    repair,
    carriesReasoning,
    warnings,
    format: chosen,
    targets: providers,
  };
  const { affinityHeader } = candidate.provider.record;
  if (affinityHeader === undefined || request.session === null) return encoded;
  const session = deps.hashIdentity("session", scopeOf(principal), request.session);
  return { ...encoded, headers: { ...headers, [affinityHeader]: session } };
}

/** Returns the format in which a request would be sent. Rejects with a GatewayError as `encodeForCandidate` does. */
export async function chooseFormat(deps: Deps, call: Call, candidate: Candidate): Promise<ProviderFormat> {
  const context = { deps, call, candidate };
  const targets = listTargets(context, null).map(
    (provider) => new CandidateTarget(provider, context, ANY_ATTEMPT),
  );
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
  { call, candidate }: Pick<EncodeContext, "call" | "candidate">,
  formats: Encoding["formats"],
): readonly ProviderTarget[] {
  const targets = listUsableTargets(candidate, call.request);
  return formats === null ? targets : selectFormats(targets, formats);
}

function selectFormats(
  targets: readonly ProviderTarget[],
  formats: readonly ProviderFormat[],
): readonly ProviderTarget[] {
  return targets.filter(({ format }) => formats.includes(format));
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
