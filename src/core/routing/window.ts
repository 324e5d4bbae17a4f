import type { Failure } from "../../base/errors.ts";
import { actionOf } from "../catalog/action-of.ts";
import type { ModelEndpoint } from "../catalog/records.ts";
import type { Deployment } from "../deployments/served-models.ts";
import type { PromptTokens } from "./prompt-tokens.ts";
import { findFamily, PLAIN_LEAST } from "./tokenizer-families.ts";

/** Tokens that a prompt may have there. */
export function windowOf({ contextLength, maxPromptTokens }: ModelEndpoint): number {
  return Math.min(contextLength, maxPromptTokens ?? contextLength);
}

/** Whether a prompt may fit there: false only for what certainly does not. */
export function mayHold(deployment: Deployment, prompt: PromptTokens): boolean {
  const window = windowOf(deployment.endpoint);
  if (prompt.certain > window) return false;
  return !refusesOverflow(deployment.model) || prompt.atLeast * leastOf(deployment, prompt.isPlain) <= window;
}

/** Whether counting closer could show that a prompt does not fit. */
export function isNearEdge(deployment: Deployment, prompt: PromptTokens): boolean {
  return (
    refusesOverflow(deployment.model) &&
    mayHold(deployment, prompt) &&
    prompt.atLeast < prompt.atMost &&
    prompt.atMost * leastOf(deployment, true) > windowOf(deployment.endpoint)
  );
}

/**
 * The least that a model's tokenizer makes of a prompt, in tokens for each that was counted. What makes the unknown ones so
 * uncertain are other scripts and emoji; of a host whose window the operator has stated, plain text is held to it.
 */
function leastOf({ model, endpoint }: Deployment, isPlain: boolean): number {
  const { least } = findFamily(model);
  const isStated = model.isUndescribed === true && endpoint.isWindowAssumed !== true;
  return isPlain && isStated ? Math.max(least, PLAIN_LEAST) : least;
}

/** Most embedding models cut what is too long for them; OpenAI's refuse it. */
function refusesOverflow(model: Deployment["model"]): boolean {
  return actionOf(model) !== "embeddings" || model.tokenizer === "GPT";
}

/** The window of a model as the list of models says it: what all that serve it keep. */
export function listedWindow(deployments: readonly Deployment[]): number {
  return Math.min(...deployments.map(({ endpoint }) => endpoint.contextLength));
}

/**
 * Where no offer's window holds a prompt. `left` are the deployments that it was held against, `all` those of the same models that
 * lists describe.
 */
export function rejectByContextWindow(
  left: readonly Deployment[],
  all: readonly Deployment[],
  prompt: PromptTokens,
): Failure {
  const widest = left.reduce((a, b) => (windowOf(b.endpoint) > windowOf(a.endpoint) ? b : a));
  const promptLimit = windowOf(widest.endpoint);
  const { isCounted = false, least } = findFamily(widest.model);
  const isExact = prompt.isExact && isCounted;
  const share =
    isCounted && prompt.isPlain ? COUNTED_LEAST : Math.max(least, leastOf(widest, prompt.isPlain));
  const atLeast = Math.max(prompt.certain, prompt.about * (1 - prompt.error) * share);
  const requested = Math.max(promptLimit + 1, Math.floor(isExact ? prompt.about : atLeast));
  const limit = listedWindow(all.filter(({ model }) => model.id === widest.model.id));
  return contextOverflow({ limit, promptLimit, requested, isExact }, {});
}

/** What the older of the tokenizers that are counted as one makes of plain text at the least. */
const COUNTED_LEAST = 0.98;

/** What a prompt that is too long has, and what may be had. Tokens. */
export interface ContextOverflow {
  /** The model's window, as lists say it. */
  readonly limit: number;
  /** What the prompt may have of it. */
  readonly promptLimit: number;
  readonly requested: number;
  /** Whether `requested` was counted as the model counts; else the prompt has at least so many. */
  readonly isExact: boolean;
}

/** The context error in the words that clients look for: plain digits, limit first. */
export function contextOverflow(
  { limit, promptLimit, requested, isExact }: ContextOverflow,
  metadata: Readonly<Record<string, unknown>>,
): Failure {
  const isOfPrompt = requested <= limit;
  const share = isOfPrompt ? `, of which the prompt may have ${promptLimit}` : "";
  return {
    code: "context_length_exceeded",
    message: `This model's maximum context length is ${limit} tokens${share}. However, you requested ${isExact ? "about" : "at least"} ${requested} tokens. Shorten the messages or choose a model with a larger context.`,
    metadata: {
      ...metadata,
      limit,
      ...(isOfPrompt ? { prompt_limit: promptLimit } : {}),
      requested,
      ...(isExact ? {} : { requested_is: "at_least" }),
    },
  };
}
