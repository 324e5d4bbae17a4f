import { GatewayError } from "../../base/errors.ts";
import type { Warning } from "../../wire/canonical/format.ts";
import type { FormatName } from "../../wire/canonical/parts.ts";
import type {
  EncodedForUpstream,
  InferenceRequest,
  ProviderTarget,
  UpstreamTarget,
} from "../../wire/dialects/inference-request.ts";
import type { Candidate } from "../routing/plan.ts";
import { scopeOf } from "../routing/session-key.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { describeTargets } from "./upstream-target.ts";

/** How this attempt differs from others with the same candidate. */
export interface Encoding
  extends Pick<UpstreamTarget, "isLast" | "withReasoning" | "recallTurn" | "maxTokens"> {
  /** Which of the candidate's formats it may go in; null: the best of all. */
  readonly formats: readonly FormatName[] | null;
}

/** A request as a candidate takes it, and the format that it is in. */
export interface EncodedForCandidate extends EncodedForUpstream {
  readonly format: FormatName;
  /** The other formats that it could have been in. */
  readonly otherFormats: readonly FormatName[];
}

type Call = Pick<GenerationCall, "caller" | "request">;
type Deps = Pick<GenerationDeps, "hashIdentity">;

/**
 * The request as a candidate takes it, in the best of its formats. Its user and its session reach the vendor as keyed hashes
 * alone.
 * @throws GatewayError as `InferenceRequest.encode`.
 */
export function encodeForCandidate(
  deps: Deps,
  call: Call,
  candidate: Candidate,
  encoding: Encoding,
): EncodedForCandidate {
  const targets = listTargets(deps, call, candidate, encoding);
  const target = chooseTarget(call.request, targets);
  const encoded = {
    ...call.request.encode(target),
    format: target.format,
    otherFormats:
      targets.length === 1 ? NONE : targets.flatMap(({ format }) => (format === target.format ? [] : format)),
  };
  const { affinityHeader } = candidate.provider.record;
  if (affinityHeader === undefined || call.request.session === null) return encoded;
  const session = deps.hashIdentity("session", scopeOf(call.caller), call.request.session);
  return { ...encoded, headers: { ...encoded.headers, [affinityHeader]: session } };
}

const NONE: readonly FormatName[] = [];

/** The format that a candidate would be asked in. Encodes nothing. */
export function chooseFormat(deps: Deps, call: Call, candidate: Candidate): FormatName {
  return chooseTarget(call.request, listTargets(deps, call, candidate, ANY_ATTEMPT)).format;
}

/** The gateway's memory of turns adds to what a request brings back and takes no part in the choice. */
const ANY_ATTEMPT: Encoding = { isLast: false, withReasoning: true, recallTurn: () => null, formats: null };

function listTargets(
  { hashIdentity }: Deps,
  { caller, request }: Call,
  candidate: Candidate,
  { formats, ...attempt }: Encoding,
): readonly UpstreamTarget[] {
  const scope = scopeOf(caller);
  const said = {
    ...attempt,
    steer: candidate.steer ?? null,
    hashUser: (user: string) => hashIdentity("user", scope, user),
  };
  const targets = describeTargets(candidate);
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

/**
 * The target in whose format a request goes: the client's own unless it cannot express the request, else the first that loses
 * nothing, else the one that loses least, of equals the one that the row names first. Pure.
 */
function chooseTarget(request: InferenceRequest, targets: readonly UpstreamTarget[]): UpstreamTarget {
  const [only, another] = targets;
  if (only === undefined) throw new Error("a candidate without a format");
  if (another === undefined) return only;
  const isOwn = ({ format }: UpstreamTarget) => format === request.format;
  const ordered = [...targets.filter(isOwn), ...targets.filter((target) => !isOwn(target))];
  let best = ordered[0] as UpstreamTarget;
  let least = Number.POSITIVE_INFINITY;
  for (const target of ordered) {
    const loss = weighLosses(request, target, isOwn(target) ? 0 : 1);
    if (loss === 0) return target;
    if (loss < least) [best, least] = [target, loss];
  }
  return best;
}

/** What a grave loss counts for: more than all that is not. */
const GRAVE = 1_000;

/**
 * How much of a request a format leaves out; infinite where it cannot express the request at all. `light` is what a loss counts
 * for that is not grave. How much a model reasons is fitted to the model, whichever the format.
 */
function weighLosses(request: InferenceRequest, target: UpstreamTarget, light: number): number {
  const weigh = ({ isGrave, field }: Warning): number => {
    if (isGrave) return GRAVE;
    return field === "reasoning" ? 0 : light;
  };
  try {
    return request.listLosses(target).reduce((sum, loss) => sum + weigh(loss), 0);
  } catch (error) {
    if (error instanceof GatewayError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
