import { type Failure, GatewayError } from "../../../base/failures/errors.ts";
import type { CalledTurn } from "../../../wire/canonical/answer/called-turn.ts";
import type {
  EncodedBody,
  EncodedForUpstream,
  OffloadedEncoding,
  ProviderTarget,
  UpstreamTarget,
} from "../../../wire/client-apis/request/inference-request.ts";
import type { CacheMarking } from "../../../wire/conversation/cache-marking.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import { FORMAT_TRAITS } from "../../../wire/formats/traits.ts";
import { scopeOf } from "../../routing/affinity/session-key.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { CacheMarkName } from "../../usage/records/work-record.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Cancellation } from "../call/cancellation.ts";
import { NO_TURNS, type RequestTurns } from "./request-turns.ts";

/** Returns the parameters to omit from a request in a format because the provider refused them; null for none. */
export type RefusedByFormat = (format: ProviderFormat) => ReadonlySet<string> | null;

/** The variant in which a request is encoded for a candidate. */
export interface CandidateEncoding
  extends Pick<UpstreamTarget, "withReasoning" | "maxTokens" | "cacheMarking"> {
  /** The remembered turns, which complete what this request lacks. */
  readonly turns: RequestTurns;
  /** Whether the vendor must not store anything of the request. */
  readonly zeroRetention: boolean;
  /** The formats to choose from; null for all of the candidate's. */
  readonly formats: readonly ProviderFormat[] | null;
  /** Null if the provider refused nothing. */
  readonly refused: RefusedByFormat | null;
}

/** A request, encoded for a candidate. */
export interface EncodedForCandidate extends EncodedForUpstream {
  /** The formats that its format was chosen from; absent for all of the candidate's. */
  readonly formats?: readonly ProviderFormat[];
  /** The token limit of its answer, if it was lowered to fit the context window. */
  readonly maxTokens?: number;
  /** The parts of the prompt that the gateway marked for the vendor's cache; absent if there are none. */
  readonly cacheMarks?: readonly CacheMarkName[];
  /** Whether the reasoning of earlier turns was omitted because the vendor rejected it. */
  readonly isWithoutReasoning?: boolean;
  /** Whether it repeats the last call without what the vendor refused. Both calls then count as one attempt. */
  readonly isRepetition?: true;
}

type Call = Pick<GenerationCall, "principal" | "request">;
type Deps = Pick<GenerationDeps, "accounts" | "requestEncoder">;

/** A request, the candidate to encode it for, and the variant. */
export interface EncodeContext extends CandidateEncoding {
  readonly deps: Deps;
  readonly call: Call;
  readonly candidate: Candidate;
  readonly cancellation: Cancellation;
}

/**
 * Encodes a request for a candidate, in the best of its formats. The vendor sees its user and session only as keyed hashes.
 * Resolves to null if the generation is cancelled while earlier turns are loaded, or while a large request is encoded in another thread.
 * Rejects with a GatewayError as `RequestEncoding.encode` and as `RequestEncoder.encode`.
 */
export async function encodeForCandidate(context: EncodeContext): Promise<EncodedForCandidate | null> {
  const { call, turns, cancellation } = context;
  const plan = call.request.encoding.plan(listTargets(context));
  const names = turns === NO_TURNS ? null : plan.nameTurns();
  const loading = names === null ? null : turns.load(names);
  if (loading !== null) {
    await cancellation.until(loading);
    if (cancellation.isCancelled()) return null;
  }
  if (plan.offloaded !== null) return encodeInThread(context, plan.offloaded);
  return complete(context, plan.encode());
}

/** Encodes a large request in another thread. */
async function encodeInThread(
  context: EncodeContext,
  { describe, adopt }: OffloadedEncoding,
): Promise<EncodedForCandidate | null> {
  const { deps, call, cancellation } = context;
  const isWanted = () => !cancellation.isCancelled();
  const order = { scope: scopeOf(call.principal), isWanted, describe };
  const encoded = await cancellation.until(deps.requestEncoder.encode(order));
  return encoded === null ? null : complete(context, adopt(encoded));
}

/** Completes an encoded request for its candidate. */
function complete(context: EncodeContext, encoded: EncodedForUpstream): EncodedForCandidate {
  const { cacheMarking = null } = context;
  const sent = withAffinityHeader(context, encoded);
  if (cacheMarking === null || FORMAT_TRAITS[encoded.format].cacheMarks !== "blocks") return sent;
  return { ...sent, cacheMarks: MARK_NAMES.filter((name) => cacheMarking[name]) };
}

const MARK_NAMES: readonly CacheMarkName[] = ["shared", "turns"];

/** Adds the session's hash in the header that the vendor uses for cache affinity, if it has one. */
function withAffinityHeader(
  { deps, call: { principal, request }, candidate }: EncodeContext,
  encoded: EncodedForUpstream,
): EncodedForCandidate {
  const { affinityHeader } = candidate.provider.record;
  if (affinityHeader === undefined || request.session === null) return encoded;
  const session = deps.accounts.hashIdentity("session", scopeOf(principal), request.session);
  return { ...encoded, headers: { ...encoded.headers, [affinityHeader]: session } };
}

/** The preview of a request as it would be sent to a candidate. */
interface EncodingPreview {
  readonly format: ProviderFormat;
  /** Warnings about parts that would be omitted or changed. */
  readonly warnings: readonly Warning[];
  /** Why it cannot be sent; null if it can. */
  readonly rejection: Failure | null;
}

/**
 * Returns how a request would be sent to a candidate. Nothing of it is stored. Rejects with a GatewayError `unavailable` as
 * `RequestEncoder.encode`.
 */
export async function previewEncoding(
  { deps, call, zeroRetention }: Pick<EncodeContext, "deps" | "call" | "zeroRetention">,
  candidate: Candidate,
): Promise<EncodingPreview> {
  const context = { deps, call, candidate, ...ANY_ATTEMPT, zeroRetention };
  const targets = listTargets(context);
  try {
    const { format, warnings } = await encodeAnywhere(context, targets);
    return { format, warnings, rejection: null };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.failure.code !== "invalid_request") throw error;
    const { format } = (targets[0] as UpstreamTarget).provider;
    return { format, warnings: [], rejection: error.failure };
  }
}

async function encodeAnywhere(
  { deps, call }: Pick<EncodeContext, "deps" | "call">,
  targets: readonly UpstreamTarget[],
): Promise<EncodedBody> {
  const plan = call.request.encoding.plan(targets);
  if (plan.offloaded === null) return plan.encode();
  const { describe } = plan.offloaded;
  const order = { scope: scopeOf(call.principal), isWanted: () => true, describe };
  return (await deps.requestEncoder.encode(order)).encoded;
}

/** Remembered turns are not loaded for a preview. */
const ANY_ATTEMPT: Omit<CandidateEncoding, "zeroRetention"> = {
  withReasoning: true,
  turns: NO_TURNS,
  formats: null,
  refused: null,
};

function listTargets(context: Omit<EncodeContext, "cancellation">): readonly UpstreamTarget[] {
  return listProviders(context).map((provider) => new CandidateTarget(provider, context));
}

function listProviders({
  call: { request },
  candidate,
  formats,
  zeroRetention,
  refused,
}: Pick<
  EncodeContext,
  "call" | "candidate" | "formats" | "zeroRetention" | "refused"
>): readonly ProviderTarget[] {
  const usable = candidate.served.usableTargets(candidate.key, request);
  const storing = zeroRetention ? candidate.served.withoutStorage(usable, request) : usable;
  const targets = formats === null ? storing : selectFormats(storing, formats);
  if (refused === null) return targets;
  return targets.map((target) => {
    const names = refused(target.format);
    return names === null ? target : candidate.served.withoutParameters(target, names);
  });
}

function selectFormats(
  targets: readonly ProviderTarget[],
  formats: readonly ProviderFormat[],
): readonly ProviderTarget[] {
  return targets.filter(({ format }) => formats.includes(format));
}

/** An upstream target for the requests of one principal. */
class CandidateTarget implements UpstreamTarget {
  readonly withReasoning: boolean;
  readonly maxTokens: number | null;
  readonly overrides: UpstreamTarget["overrides"];
  readonly cacheMarking: CacheMarking | null;

  constructor(
    readonly provider: ProviderTarget,
    private readonly context: Omit<EncodeContext, "cancellation">,
  ) {
    this.withReasoning = context.withReasoning;
    this.maxTokens = context.maxTokens ?? null;
    this.overrides = context.candidate.overrides ?? null;
    this.cacheMarking = context.cacheMarking ?? null;
  }

  recallTurn(name: string): CalledTurn | null {
    return this.context.turns.recall(name);
  }

  get hasTurns(): boolean {
    return this.context.turns.hasAny;
  }

  hashUser(user: string): string {
    const { deps, call } = this.context;
    return deps.accounts.hashIdentity("user", scopeOf(call.principal), user);
  }
}
