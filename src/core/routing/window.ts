import type { Failure } from "../../base/errors.ts";
import { actionOf } from "../catalog/action-of.ts";
import type { ModelEndpoint } from "../catalog/records.ts";
import { CERTAIN_CHARS_PER_TOKEN, type PromptTokens } from "./prompt-tokens.ts";
import type { Offer } from "./roster.ts";
import { findFamily } from "./tokenizer-families.ts";

/** Tokens that a prompt may have there. */
export function windowOf({ contextLength, maxPromptTokens }: ModelEndpoint): number {
  return Math.min(contextLength, maxPromptTokens ?? contextLength);
}

/** Whether a prompt may fit there: false only for what certainly does not. */
export function mayHold({ model, endpoint }: Offer, prompt: PromptTokens): boolean {
  const window = windowOf(endpoint);
  if (prompt.certain > window) return false;
  return !refusesOverflow(model) || prompt.atLeast * findFamily(model).least <= window;
}

/** Whether counting closer could show that a prompt does not fit. */
export function isNearEdge(offer: Offer, prompt: PromptTokens): boolean {
  const { model, endpoint } = offer;
  return (
    refusesOverflow(model) &&
    mayHold(offer, prompt) &&
    prompt.atLeast < prompt.atMost &&
    prompt.atMost * findFamily(model).least > windowOf(endpoint)
  );
}

/** Most embedding models cut what is too long for them; OpenAI's refuse it. */
function refusesOverflow(model: Offer["model"]): boolean {
  return actionOf(model) !== "embeddings" || model.tokenizer === "GPT";
}

/** Where no offer's window holds a prompt; says the largest. */
export function refuseByWindow(offers: readonly Offer[], prompt: PromptTokens): Failure {
  const widest = offers.reduce((a, b) => (windowOf(b.endpoint) > windowOf(a.endpoint) ? b : a));
  const limit = windowOf(widest.endpoint);
  const about =
    prompt.certain > limit
      ? prompt.certain * (CERTAIN_CHARS_PER_TOKEN / USUAL_CHARS_PER_TOKEN)
      : prompt.about * findFamily(widest.model).usual;
  return contextOverflow(limit, Math.max(limit + 1, Math.round(about)), {});
}

const USUAL_CHARS_PER_TOKEN = 4;

/** The context error in the words that clients look for: plain digits, limit first. */
export function contextOverflow(
  limit: number,
  requested: number,
  metadata: Readonly<Record<string, unknown>>,
): Failure {
  return {
    code: "context_length_exceeded",
    message: `This model's maximum context length is ${limit} tokens. However, you requested about ${requested} tokens. Shorten the messages or choose a model with a larger context.`,
    metadata: { ...metadata, limit, requested },
  };
}
