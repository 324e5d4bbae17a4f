import type { Failure } from "../../../base/failures/errors.ts";
import { actionOf } from "../../catalog/records/action-of.ts";
import { windowOf } from "../../catalog/records/endpoint-limits.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { PromptTokens } from "./prompt-tokens.ts";
import { findFamily, MIN_PLAIN } from "./tokenizer-families.ts";

/** Whether a prompt may fit into a deployment's context window. False only if it certainly does not. */
export function mayHold(deployment: Deployment, prompt: PromptTokens): boolean {
  const window = windowOf(deployment.endpoint);
  if (prompt.certain > window) return false;
  return !rejectsOverflow(deployment.model) || prompt.atLeast * leastOf(deployment, prompt.isPlain) <= window;
}

/** Whether an exact count could show that a prompt does not fit. */
export function isNearEdge(deployment: Deployment, prompt: PromptTokens): boolean {
  return (
    rejectsOverflow(deployment.model) &&
    mayHold(deployment, prompt) &&
    prompt.atLeast < prompt.atMost &&
    prompt.atMost * leastOf(deployment, true) > windowOf(deployment.endpoint)
  );
}

/**
 * Returns the minimum tokens of a model's tokenizer per counted token. Unknown tokenizers are uncertain because of other
 * scripts and emoji; for plain text and a context window that the operator configured, a higher minimum applies.
 */
function leastOf({ model, endpoint }: Deployment, isPlain: boolean): number {
  const { least } = findFamily(model);
  const isStated = model.isUndescribed === true && endpoint.isWindowAssumed !== true;
  return isPlain && isStated ? Math.max(least, MIN_PLAIN) : least;
}

/** Whether a model rejects longer prompts. Most embedding models truncate them instead; OpenAI's reject them. */
function rejectsOverflow(model: Deployment["model"]): boolean {
  return actionOf(model) !== "embeddings" || model.tokenizer === "GPT";
}

/** Returns the context window of a model as the list of models presents it: the smallest of all deployments. */
export function listedWindow(deployments: readonly Deployment[]): number {
  return Math.min(...deployments.map(({ endpoint }) => endpoint.contextLength));
}

/**
 * Returns the failure of a prompt that fits no context window. `left` are the deployments that the other filters kept, `all` those of the
 * same models before any filter.
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
  const share = isCounted && prompt.isPlain ? MIN_COUNTED : Math.max(least, leastOf(widest, prompt.isPlain));
  const atLeast = Math.max(prompt.certain, prompt.about * (1 - prompt.error) * share);
  const requested = Math.max(promptLimit + 1, Math.floor(isExact ? prompt.about : atLeast));
  const limit = listedWindow(all.filter(({ model }) => model.id === widest.model.id));
  return contextOverflow({ limit, promptLimit, requested, isExact }, {});
}

/** The minimum tokens of `cl100k_base` per token of `o200k_base` for plain text. Both count as the family GPT. */
const MIN_COUNTED = 0.98;

/** The size of a prompt that is too long, and the limits that it exceeds. Tokens. */
interface ContextOverflow {
  /** The context window as the list of models presents it. */
  readonly limit: number;
  /** The maximum of the prompt within it. */
  readonly promptLimit: number;
  readonly requested: number;
  /** Whether `requested` was counted with the model's tokenizer. Otherwise it is a lower bound. */
  readonly isExact: boolean;
}

/** Returns the context length error, in OpenAI's words, which clients recognize. */
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
