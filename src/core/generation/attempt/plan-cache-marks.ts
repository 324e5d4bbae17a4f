import { sha256 } from "../../../base/secrets/hash.ts";
import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import type { CacheableShape, CacheMarking, MarkedCache } from "../../../wire/conversation/cache-marking.ts";
import { estimateTokens, type TokenUsage } from "../../../wire/conversation/usage.ts";
import { cacheLifeMs } from "../../routing/affinity/cache-memory.ts";
import { scopeOf, sessionKeyOf } from "../../routing/affinity/session-key.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Admission } from "../prepare/admission.ts";

/** Where a prompt is marked for a candidate's cache, and the keys under which the use of that cache is remembered. */
export interface PromptMarking extends CacheMarking {
  /** The key of the prefix that requests of one kind share; null if the prefix is too short to be cached. */
  readonly sharedKey: string | null;
  /** The key of the conversation. */
  readonly sessionKey: string;
  /** The keys that cover everything the caller sends to this model: shared prefixes, and turns. */
  readonly callerKeys: { readonly shared: string; readonly turns: string };
}

type Deps = Pick<GenerationDeps, "routing" | "clock">;
type Call = Pick<GenerationCall, "principal" | "request">;

interface MarkedCandidate {
  readonly candidate: Candidate;
  readonly admission: Pick<Admission, "zeroRetention" | "marksCaches">;
}

/**
 * Decides where to mark a prompt for a vendor that caches by marks (docs/routing.md, "Prompt caches"). Marks the turns of a conversation
 * that the model has answered. Also marks the prefix that requests of one kind share, if the same account sent it recently enough to be
 * still cached. If the caller's cache writes were mostly never read, turns are marked only from the third answer on, and shared prefixes
 * are not marked. A single request is not marked, because a cache write costs more than a plain prompt. Returns null if the prompt cannot
 * be cached, already has marks of the client, or must not be marked.
 */
export function planMarking(
  deps: Deps,
  call: Call,
  { candidate, admission: { zeroRetention, marksCaches } }: MarkedCandidate,
): PromptMarking | null {
  if (!marksCaches) return null;
  const { request } = call;
  const cache = findCache(candidate, request);
  if (cache === null || request.prompt.readCacheableShape === undefined) return null;
  if (zeroRetention && !cache.keepsZeroRetention) return null;
  if (estimateTokens(request.prompt.textBytes) < cache.minTokens) return null;
  const shape = request.prompt.readCacheableShape();
  return shape.hasMarks ? null : decide(deps, call, { candidate, cache, ...shape });
}

function findCache(candidate: Candidate, request: InferenceRequest): MarkedCache | null {
  for (const { markedCache } of candidate.served.usableTargets(candidate.key, request))
    if (markedCache) return markedCache;
  return null;
}

/** A conversation with this many answers is marked even if the caller's other conversations were mostly not continued. */
const LONG_ANSWERS = 3;

function decide(
  { routing: { cacheMemory }, clock }: Deps,
  { principal, request }: Call,
  {
    candidate,
    cache,
    answers,
    sharedBytes,
    newBytes,
  }: CacheableShape & { readonly candidate: Candidate; readonly cache: MarkedCache },
): PromptMarking {
  const now = clock.now();
  // Each account at a vendor has a cache of its own.
  const place = [scopeOf(principal), candidate.provider.record.slug, candidate.key.label, candidate.model.id];
  const keyOf = (hash: string) => sha256([...place, hash].join("\0"), "base64url");
  const isCached = estimateTokens(sharedBytes) >= cache.minTokens;
  const sharedKey = isCached ? keyOf(request.prompt.hashShared?.() ?? "") : null;
  const sessionKey = keyOf(sessionKeyOf(request, principal) ?? "");
  const callerKeys = { shared: keyOf("shared"), turns: keyOf("turns") };
  // Earlier requests show that their part is sent again; of a larger part behind the last answer nothing shows that yet.
  const isMostlyNew = 2 * newBytes > request.prompt.textBytes;
  const mayGoOn = answers > 0 && !isMostlyNew && cacheMemory.pays(callerKeys.turns);
  const goesOn = answers >= LONG_ANSWERS || mayGoOn;
  const turns = goesOn && !cacheMemory.isUnread(sessionKey, now);
  const isRepeated =
    sharedKey !== null &&
    cacheMemory.wasSent(sharedKey, now) &&
    cacheMemory.pays(callerKeys.shared) &&
    !cacheMemory.isUnread(sharedKey, now);
  return { shared: isCached && (turns || isRepeated), turns, sharedKey, sessionKey, callerKeys };
}

/** Records the use of a candidate's prompt cache after its answer: that the prompt was sent, and what the cache read and wrote. */
export function recordMarking(
  { routing: { cacheMemory }, clock }: Deps,
  { shared, turns, sharedKey, sessionKey, callerKeys }: PromptMarking,
  { candidate, usage }: { readonly candidate: Candidate; readonly usage: TokenUsage },
): void {
  const now = clock.now();
  if (sharedKey !== null) cacheMemory.recordSent(sharedKey, now + cacheLifeMs(candidate.provider.record));
  if (turns) cacheMemory.recordUse({ key: sessionKey, caller: callerKeys.turns }, usage, now);
  else if (shared && sharedKey !== null)
    cacheMemory.recordUse({ key: sharedKey, caller: callerKeys.shared }, usage, now);
}
