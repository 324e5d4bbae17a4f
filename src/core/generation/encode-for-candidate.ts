import { chooseTarget } from "../../wire/client-apis/choose-target.ts";
import type {
  EncodedForUpstream,
  InferenceRequest,
  ProviderTarget,
  UpstreamTarget,
} from "../../wire/client-apis/inference-request.ts";
import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { Candidate } from "../routing/plan.ts";
import { scopeOf } from "../routing/session-key.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import { NO_TURNS, type RequestTurns } from "./request-turns.ts";
import { listProviderTargets } from "./upstream-target.ts";

/** How this attempt differs from others with the same candidate. */
export interface Encoding extends Pick<UpstreamTarget, "withReasoning" | "maxTokens"> {
  /** The gateway's memory of earlier turns, which is asked for what this request lacks. */
  readonly turns: RequestTurns;
  /** Which of the candidate's formats it may go in; null: the best of all. */
  readonly formats: readonly FormatName[] | null;
}

/** A request as a candidate takes it, and the format that it is in. */
export interface EncodedForCandidate extends EncodedForUpstream {
  readonly format: FormatName;
  /** The other formats that it could have been in. */
  readonly otherFormats: readonly FormatName[];
}

type Call = Pick<GenerationCall, "principal" | "request">;
type Deps = Pick<GenerationDeps, "hashIdentity" | "requestEncoder">;

/**
 * The request as a candidate takes it, in the best of its formats. Its user and its session reach the vendor as keyed hashes
 * alone. A promise where it is large: then it is encoded in another thread, and null where `cutoff` strikes meanwhile.
 * @throws GatewayError as `InferenceRequest.encode`; a promise rejects with it, or as `RequestEncoder.encode`.
 */
export function encodeForCandidate(
  deps: Deps,
  call: Call,
  candidate: Candidate,
  encoding: Encoding,
  cancellation: Cancellation,
): EncodedForCandidate | Promise<EncodedForCandidate | null> {
  const targets = listTargets(deps, call, candidate, encoding);
  const encodeTargets = () => encodeForTargets({ deps, call, candidate, cancellation }, targets);
  const names = call.request.listTurnNames(targets);
  if (names.length === 0) return encodeTargets();
  return cancellation
    .until(encoding.turns.load(names))
    .then(() => (cancellation.hasStruck() ? null : encodeTargets()));
}

interface EncodeContext {
  readonly deps: Deps;
  readonly call: Call;
  readonly candidate: Candidate;
  readonly cancellation: Cancellation;
}

function encodeForTargets(
  { deps, call, candidate, cancellation }: EncodeContext,
  targets: readonly UpstreamTarget[],
): EncodedForCandidate | Promise<EncodedForCandidate | null> {
  const { request, principal } = call;
  const complete = (encoded: EncodedForUpstream, format: FormatName): EncodedForCandidate => ({
    ...withAffinity(deps, call, candidate, encoded),
    format,
    otherFormats: listOthers(targets, format),
  });
  const apart = request.encodeApart(targets);
  if (apart === null) {
    const target = chooseTarget(request, targets);
    return complete(request.encode(target), target.format);
  }
  const { describe, adopt } = apart;
  const isWanted = () => !cancellation.hasStruck();
  const making = deps.requestEncoder.encode({ scope: scopeOf(principal), isWanted, describe });
  return cancellation
    .until(making)
    .then((made) => (made === null ? null : complete(adopt(made), made.format)));
}

const NONE: readonly FormatName[] = [];

function listOthers(targets: readonly UpstreamTarget[], chosen: FormatName): readonly FormatName[] {
  return targets.length === 1 ? NONE : targets.flatMap(({ format }) => (format === chosen ? [] : format));
}

/** Vendors that keep a conversation together by a header of their own get the session's hash in it. */
function withAffinity(
  { hashIdentity }: Deps,
  { principal, request }: Call,
  { provider }: Candidate,
  encoded: EncodedForUpstream,
): EncodedForUpstream {
  const { affinityHeader } = provider.record;
  if (affinityHeader === undefined || request.session === null) return encoded;
  const session = hashIdentity("session", scopeOf(principal), request.session);
  return { ...encoded, headers: { ...encoded.headers, [affinityHeader]: session } };
}

/**
 * The format that a candidate would be asked in.
 * @throws GatewayError as `RequestEncoder.encode`, of a large request.
 */
export async function chooseFormat(deps: Deps, call: Call, candidate: Candidate): Promise<FormatName> {
  const targets = listTargets(deps, call, candidate, ANY_ATTEMPT);
  const [only, another] = targets;
  if (only !== undefined && another === undefined) return only.format;
  const apart = call.request.encodeApart(targets);
  if (apart === null) return chooseTarget(call.request, targets).format;
  const { describe } = apart;
  const order = { scope: scopeOf(call.principal), isWanted: () => true, describe };
  return (await deps.requestEncoder.encode(order)).format;
}

/** The gateway's memory of turns adds to what a request brings back and takes no part in the choice. */
const ANY_ATTEMPT: Encoding = { withReasoning: true, turns: NO_TURNS, formats: null };

function listTargets(
  { hashIdentity }: Deps,
  { principal, request }: Call,
  candidate: Candidate,
  { formats, turns, ...attempt }: Encoding,
): readonly UpstreamTarget[] {
  const scope = scopeOf(principal);
  const said = {
    ...attempt,
    recallTurn: turns.recall,
    overrides: candidate.overrides ?? null,
    hashUser: (user: string) => hashIdentity("user", scope, user),
  };
  const targets = listProviderTargets(candidate);
  const usable =
    targets.length === 1 ? targets : targets.filter((target) => isUsable(target, candidate, request));
  const chosen = formats === null ? usable : usable.filter(({ format }) => formats.includes(format));
  return chosen.map((target) => ({ ...target, ...said }));
}

/** Whether the candidate's address has the endpoint that the request needs in that format. */
function isUsable({ format, model }: ProviderTarget, { key }: Candidate, request: InferenceRequest): boolean {
  const { action, stream } = request;
  return key.address.urlFor({ format, action, model: model.name, stream }) !== null;
}
