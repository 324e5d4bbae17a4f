import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { type AdvisorUsage, fitParts, type TokenUsage } from "../../wire/conversation/usage.ts";
import { mayReason } from "../catalog/may-reason.ts";
import type { Deployment } from "../deployments/served-models.ts";
import { longestAnswer, MOST_SEARCHES } from "../ledger/worst-case.ts";
import { windowOf } from "../routing/window.ts";
import { estimateUsage } from "./settle.ts";

/** A vendor's count that is above what the request can have used. */
export interface RejectedCount {
  readonly field: "prompt_tokens" | "completion_tokens" | "searches" | "advisors";
  readonly count: number;
  readonly bound: number;
}

/** A usage that may be charged, and which of the vendor's counts it does without. */
export interface CheckedUsage {
  readonly usage: TokenUsage;
  readonly rejected: readonly RejectedCount[];
}

/** What was seen of an answer. */
export interface SeenAnswer {
  readonly producedBytes: number;
  readonly searches: number;
}

type Bounding = Pick<
  InferenceRequest,
  "action" | "promptTextBytes" | "maxTokens" | "answers" | "listCharges"
>;

/**
 * Prompts that vendors count above the window they state. No recorded one does; of 984 whose window is known the largest has
 * 0.22 of it. The tenth is for templates, and for windows that are stated as round numbers.
 */
const WINDOW_ALLOWANCE = 1.1;
/**
 * Tokens above the bound that a request sets, for hosts that count an end mark or round a small bound up. Of 133 recorded answers
 * with a bound 9 reach it, and none exceeds it.
 */
const ANSWER_ALLOWANCE = 256;
/** How often a vendor that runs tools reads the conversation for one request, each time up to the window. */
const ROUNDS = 32;

/**
 * Checks what a vendor says that a request has used against what it can have used: the prompt against the model's window,
 * the answer against the model's longest and the request's own bound (`askedTokens`, for one answer; null where there is none).
 * A count above that is replaced by an estimate of what was seen, and the usage is marked as estimated.
 */
export function checkUsage(
  said: TokenUsage,
  request: Bounding,
  deployment: Deployment,
  askedTokens: number | null,
  seen: SeenAnswer,
): CheckedUsage {
  const own = listRejected(said, request, deployment, askedTokens, seen);
  const rejected = said.advisors === undefined ? own : [...own, ...listRejectedAdvisors(said.advisors)];
  if (rejected.length === 0) return { usage: said, rejected };
  const estimate = estimateSeen(request, deployment, askedTokens, seen);
  let usage: TokenUsage = { ...said, estimated: true };
  for (const { field, bound } of rejected) {
    if (field === "prompt_tokens") usage = { ...usage, ...NO_PROMPT, promptTokens: estimate.promptTokens };
    else if (field === "advisors") usage = withoutAdvisors(usage);
    else if (field === "searches") usage = { ...usage, searches: seen.searches > bound ? 0 : seen.searches };
    else usage = { ...usage, ...NO_ANSWER, completionTokens: estimate.completionTokens };
  }
  return { usage: fitParts(usage), rejected };
}

/** What an answer has used as far as it was seen: counted by its text, and never more than the request allows. */
export function estimateSeen(
  request: Bounding,
  deployment: Deployment,
  askedTokens: number | null,
  seen: SeenAnswer,
): TokenUsage {
  const estimate = estimateUsage(request.promptTextBytes, seen.producedBytes, seen.searches);
  const most = boundAnswers(request, deployment, askedTokens, seen);
  return estimate.completionTokens <= most ? estimate : { ...estimate, completionTokens: most };
}

/** The tokens that the answers to a request may have, but for reasoning. */
function boundAnswers(
  { maxTokens, answers }: Bounding,
  { endpoint }: Deployment,
  askedTokens: number | null,
  { producedBytes }: SeenAnswer,
): number {
  // A longest answer may be stated too short, but no token is shorter than a byte.
  const longest = Math.max(longestAnswer(endpoint), producedBytes);
  const asked = Math.min(maxTokens ?? longest, askedTokens ?? longest, longest);
  return (asked + ANSWER_ALLOWANCE) * answers;
}

const NO_PROMPT = { cachedTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0, audioPromptTokens: 0 };
const NO_ANSWER = { reasoningTokens: 0, audioCompletionTokens: 0, imageCompletionTokens: 0 };

function listRejected(
  said: TokenUsage,
  request: Bounding,
  deployment: Deployment,
  askedTokens: number | null,
  seen: SeenAnswer,
): readonly RejectedCount[] {
  const { model, endpoint } = deployment;
  // A window may be stated too small, but no token is shorter than a byte.
  const window = Math.max(windowOf(endpoint), request.promptTextBytes) * WINDOW_ALLOWANCE;
  const longest = Math.max(longestAnswer(endpoint), seen.producedBytes);
  // Some vendors do not count reasoning towards the bound that a request sets.
  const reasoning = mayReason(model) ? Math.min(said.reasoningTokens, longest) : 0;
  const answers = boundAnswers(request, deployment, askedTokens, seen) + reasoning;
  const exceeds = (bounds: Bounds): RejectedCount[] =>
    COUNTS.flatMap(([field, name]) =>
      said[name] > bounds[field] ? [{ field, count: said[name], bound: Math.floor(bounds[field]) }] : [],
    );
  const isOrdinary =
    said.promptTokens <= window && said.completionTokens <= answers && said.searches <= SEARCHES;
  if (isOrdinary) return NONE;
  // Only where something is above the bounds of one round it is worth looking whether there may have been several.
  if (!runsTools(request))
    return exceeds({ prompt_tokens: window, completion_tokens: answers, searches: SEARCHES });
  return exceeds({
    prompt_tokens: window * ROUNDS,
    completion_tokens: longest * ROUNDS,
    searches: MOST_SEARCHES,
  });
}

const NONE: readonly RejectedCount[] = [];

/** Searches of a request that allows none: some models always search. */
const SEARCHES = 200;

/** Tokens of all models that were consulted, together: no more than so many rounds with the largest windows there are. */
function listRejectedAdvisors(advisors: readonly AdvisorUsage[]): readonly RejectedCount[] {
  const count = advisors.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0);
  return count <= MOST_ADVISED ? [] : [{ field: "advisors", count, bound: MOST_ADVISED }];
}

const MOST_ADVISED = ROUNDS * 1_000_000;

function withoutAdvisors({ advisors: _rejected, ...usage }: TokenUsage): TokenUsage {
  return usage;
}

type Bounds = Readonly<Record<Exclude<RejectedCount["field"], "advisors">, number>>;

const COUNTS = [
  ["prompt_tokens", "promptTokens"],
  ["completion_tokens", "completionTokens"],
  ["searches", "searches"],
] as const satisfies readonly (readonly [keyof Bounds, keyof TokenUsage])[];

function runsTools({ listCharges }: Bounding): boolean {
  const { search, runsTools } = listCharges();
  return runsTools || search !== null;
}
