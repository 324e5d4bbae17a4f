import type {
  InferenceRequest,
  RequestDemands,
  RequestPrompt,
} from "../../../wire/client-apis/request/inference-request.ts";
import {
  type AdvisorUsage,
  estimateTokens,
  fitParts,
  NO_TOKENS,
  type TokenUsage,
} from "../../../wire/conversation/usage.ts";
import { longestAnswer, windowOf } from "../../catalog/records/endpoint-limits.ts";
import { mayReason } from "../../catalog/records/may-reason.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import { MAX_SEARCHES } from "../../ledger/holds/worst-case.ts";

/** A vendor's count that is higher than what the request can have used. */
interface RejectedCount {
  readonly field: "prompt_tokens" | "completion_tokens" | "searches" | "advisors" | "cost";
  readonly count: number;
  readonly bound: number;
}

/** Usage that may be charged, and the vendor's counts that were rejected. */
export interface CheckedUsage {
  readonly usage: TokenUsage;
  readonly rejected: readonly RejectedCount[];
}

/** The amount of an answer that the gateway itself has seen. */
export interface SeenAnswer {
  readonly producedBytes: number;
  readonly searches: number;
}

/** The facts that limit the token usage of an answer. */
interface UsageBounds {
  readonly request: Pick<InferenceRequest, "action" | "maxTokens" | "answers"> & {
    readonly prompt: Pick<RequestPrompt, "textBytes">;
    readonly demands: Pick<RequestDemands, "listCharges">;
  };
  /** The deployment that answers. */
  readonly deployment: Deployment;
  /** The limit on the tokens of one answer that was sent to it; null for none. */
  readonly sentMaxTokens: number | null;
}

/**
 * Maximum size of a prompt, as a multiple of the context window. No recorded prompt exceeds 1; the largest of 984 with a known window has
 * 0.22. The tenth above 1 allows for templates, and for windows that are stated as round numbers.
 */
const WINDOW_ALLOWANCE = 1.1;
/**
 * Tokens by which an answer may exceed the request's limit. Some hosts count an end mark or round a small limit up. Of 133 recorded answers
 * with a limit, 9 reach it and none exceeds it.
 */
const ANSWER_ALLOWANCE = 256;
/** Maximum number of times that a vendor that runs tools reads the conversation for one request, each time up to the window. */
const ROUNDS = 32;

/**
 * Checks a vendor's counts against what the request can have used: the prompt against the model's context window, the answer
 * against the model's longest and the limit that was sent. Replaces a higher count by an estimate of what was seen, and marks the
 * usage as estimated.
 */
export function checkUsage(counts: TokenUsage, bounds: UsageBounds, seen: SeenAnswer): CheckedUsage {
  const own = listRejected(counts, bounds, seen);
  const rejected = counts.advisors === undefined ? own : [...own, ...listRejectedAdvisors(counts.advisors)];
  if (rejected.length === 0) return { usage: counts, rejected };
  const estimate = estimateSeen(bounds, seen);
  let usage: TokenUsage = { ...counts, estimated: true };
  for (const { field, bound } of rejected) {
    if (field === "prompt_tokens") usage = { ...usage, ...NO_PROMPT, promptTokens: estimate.promptTokens };
    else if (field === "advisors") usage = withoutAdvisors(usage);
    else if (field === "searches") usage = { ...usage, searches: seen.searches > bound ? 0 : seen.searches };
    else usage = { ...usage, ...NO_ANSWER, completionTokens: estimate.completionTokens };
  }
  return { usage: fitParts(usage), rejected };
}

/** Estimates usage from the text that was seen, up to the maximum that the request allows. */
export function estimateSeen(bounds: UsageBounds, { producedBytes, searches }: SeenAnswer): TokenUsage {
  const { request, deployment } = bounds;
  const longest = Math.max(longestAnswer(deployment.endpoint), producedBytes);
  return {
    ...NO_TOKENS,
    promptTokens: estimateTokens(request.prompt.textBytes),
    completionTokens: Math.min(estimateTokens(producedBytes), boundAnswers(bounds, longest)),
    searches,
    estimated: true,
  };
}

/** Returns the maximum tokens of a request's answers, without reasoning. `longest` is the maximum for one answer. */
function boundAnswers(
  { request: { maxTokens, answers }, sentMaxTokens }: UsageBounds,
  longest: number,
): number {
  const limit = Math.min(maxTokens ?? longest, sentMaxTokens ?? longest, longest);
  return (limit + ANSWER_ALLOWANCE) * answers;
}

const NO_PROMPT = { cachedTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0, audioPromptTokens: 0 };
const NO_ANSWER = { reasoningTokens: 0, audioCompletionTokens: 0, imageCompletionTokens: 0 };

function listRejected(counts: TokenUsage, bounds: UsageBounds, seen: SeenAnswer): readonly RejectedCount[] {
  const { request, deployment } = bounds;
  const { model, endpoint } = deployment;
  // The catalog may state too small a window, or too short an answer, but no token is shorter than a byte.
  const window = Math.max(windowOf(endpoint), request.prompt.textBytes) * WINDOW_ALLOWANCE;
  const longest = Math.max(longestAnswer(endpoint), seen.producedBytes);
  // Some vendors do not count reasoning towards the limit of a request.
  const reasoning = mayReason(model) ? Math.min(counts.reasoningTokens, longest) : 0;
  const answers = boundAnswers(bounds, longest) + reasoning;
  const isOrdinary =
    counts.promptTokens <= window && counts.completionTokens <= answers && counts.searches <= SEARCHES;
  if (isOrdinary) return NONE;
  // Only if a count exceeds the maximum of one round does it matter whether the vendor ran tools, over several rounds.
  if (!runsTools(request))
    return compare(counts, {
      prompt_tokens: window,
      completion_tokens: answers,
      searches: Math.max(SEARCHES, request.demands.listCharges().units?.searches ?? 0),
    });
  return compare(counts, {
    prompt_tokens: window * ROUNDS,
    completion_tokens: longest * ROUNDS,
    searches: MAX_SEARCHES,
  });
}

const NONE: readonly RejectedCount[] = [];

/** Maximum number of searches of a request that does not ask for any. Some models always search. */
const SEARCHES = 200;

/** Rejects the tokens of advisors if their sum exceeds the maximum. */
function listRejectedAdvisors(advisors: readonly AdvisorUsage[]): readonly RejectedCount[] {
  const count = advisors.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0);
  return count <= MAX_ADVISED ? [] : [{ field: "advisors", count, bound: MAX_ADVISED }];
}

/** Maximum sum of the tokens of all advisors: `ROUNDS` times the largest context window in use. */
const MAX_ADVISED = ROUNDS * 1_000_000;

function withoutAdvisors({ advisors: _rejected, ...usage }: TokenUsage): TokenUsage {
  return usage;
}

type MaxCounts = Readonly<Record<(typeof COUNTS)[number][0], number>>;

const COUNTS = [
  ["prompt_tokens", "promptTokens"],
  ["completion_tokens", "completionTokens"],
  ["searches", "searches"],
] as const satisfies readonly (readonly [RejectedCount["field"], keyof TokenUsage])[];

/** Returns the counts that exceed their maximum. */
function compare(counts: TokenUsage, max: MaxCounts): readonly RejectedCount[] {
  return COUNTS.flatMap(([field, name]) =>
    counts[name] > max[field] ? [{ field, count: counts[name], bound: Math.floor(max[field]) }] : [],
  );
}

function runsTools(request: UsageBounds["request"]): boolean {
  const { search, runsTools } = request.demands.listCharges();
  return runsTools || search !== null;
}
