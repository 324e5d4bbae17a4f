import { NO_TOKENS, type TokenUsage } from "../../wire/conversation/usage.ts";
import type { InferenceRequest } from "../../wire/dialects/inference-request.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
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
  const promptTokens = Math.ceil(request.promptTextBytes / BYTES_PER_TOKEN) + OVERHEAD_TOKENS;
  let worst = 0;
  for (const { model, endpoint } of offers) {
    if (isFreeId(model.id)) continue;
    const most = Math.min(endpoint.maxOutputTokens ?? maxCompletionTokens, maxCompletionTokens);
    const produced = request.action === "embeddings" ? 0 : (request.maxTokens ?? most) * request.answers;
    for (const usage of dearest(promptTokens, produced))
      worst = Math.max(worst, priceUsage(endpoint, usage, now));
  }
  return worst;
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
