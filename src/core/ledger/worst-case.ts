import { NO_TOKENS, type TokenUsage } from "../../wire/conversation/usage.ts";
import type { InferenceRequest } from "../../wire/dialects/inference-request.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { ModelEndpoint } from "../catalog/records.ts";
import { priceUsage } from "../generation/price-usage.ts";
import type { Offer } from "../routing/roster.ts";

/** Bytes of text that make at least one token: what vendors count is hardly ever more. */
const BYTES_PER_TOKEN = 2;
/** Tokens that stand for media, tools' schemas and templates of which the text says nothing. */
const OVERHEAD_TOKENS = 500;

/**
 * What a request costs at worst, in nanodollars, whoever of `offers` answers: its prompt bounded by its bytes and taken
 * at the dearest kind, and as many tokens as it may produce, at most `maxCompletionTokens` where it does not say, at
 * the prices of `now`.
 */
export function findWorstCase(
  request: Pick<InferenceRequest, "action" | "promptTextBytes" | "maxTokens" | "answers">,
  offers: readonly Offer[],
  maxCompletionTokens: number,
  now: number,
): number {
  const promptTokens = boundPrompt(request);
  let worst = 0;
  for (const { model, endpoint } of offers) {
    if (isFreeId(model.id)) continue;
    const produced = boundCompletion(request, endpoint, maxCompletionTokens);
    for (const usage of dearest(promptTokens, produced))
      worst = Math.max(worst, priceUsage(endpoint, usage, now));
  }
  return worst;
}

/** How many tokens a prompt has at most. */
export function boundPrompt({ promptTextBytes }: Pick<InferenceRequest, "promptTextBytes">): number {
  return Math.ceil(promptTextBytes / BYTES_PER_TOKEN) + OVERHEAD_TOKENS;
}

/** How many tokens a request may produce at an endpoint, at most `maxCompletionTokens` where it does not say. */
export function boundCompletion(
  { action, maxTokens, answers }: Pick<InferenceRequest, "action" | "maxTokens" | "answers">,
  { maxOutputTokens }: ModelEndpoint,
  maxCompletionTokens: number,
): number {
  if (action === "embeddings") return 0;
  const most = Math.min(maxOutputTokens ?? maxCompletionTokens, maxCompletionTokens);
  return (maxTokens ?? most) * answers;
}

/** The kinds that prices differ by: plain, all of it written to the cache, all of it reasoning. */
function dearest(promptTokens: number, completionTokens: number): readonly TokenUsage[] {
  const plain = { ...NO_TOKENS, promptTokens, completionTokens };
  return [
    { ...plain, reasoningTokens: completionTokens },
    { ...plain, cacheWriteTokens: promptTokens, cacheWrite1hTokens: promptTokens },
    plain,
  ];
}
