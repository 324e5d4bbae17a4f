import { NO_CHARGES, type RequestCharges } from "../../wire/conversation/charges.ts";
import type { InferenceRequest } from "../../wire/dialects/inference-request.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { ModelEndpoint } from "../catalog/records.ts";
import { type BoundedUsage, chargesBesideTokens, priceAtMost } from "../generation/price-usage.ts";
import type { Offer } from "../routing/roster.ts";

/** Bytes of text that make at least one token: what vendors count is hardly ever more. */
const BYTES_PER_TOKEN = 2;
/** Tokens that stand for media, tools' schemas and templates of which the text says nothing. */
const OVERHEAD_TOKENS = 500;
/** What a search may add to the prompt. Vendors say no bound; recorded ones stay below it. */
const TOKENS_PER_SEARCH = 15_000;

/** What a request is held for where it sets no bound itself. */
export interface HoldBounds {
  /** Tokens of one answer. */
  readonly tokens: number;
  /** Searches by the vendor. */
  readonly searches: number;
}

type Bounded = Pick<InferenceRequest, "action" | "promptTextBytes" | "maxTokens" | "answers">;

/**
 * What a request costs at worst, in nanodollars, whoever of `offers` answers: its prompt bounded by its bytes and taken
 * at the dearest kind, as many tokens as it may produce, its images, and as many searches as it allows, at the prices of
 * `now`.
 */
export function findWorstCase(
  request: Bounded & Pick<InferenceRequest, "listCharges">,
  offers: readonly Offer[],
  bounds: HoldBounds,
  now: number,
): number {
  const promptTokens = boundPrompt(request);
  let worst = 0;
  for (const { model, endpoint } of offers) {
    if (isFreeId(model.id)) continue;
    const produced = boundCompletion(request, endpoint, bounds.tokens);
    const beside = chargesBesideTokens(endpoint) ? request.listCharges() : NO_CHARGES;
    const usage = boundUsage(promptTokens, produced, beside, endpoint, bounds.searches);
    worst = Math.max(worst, priceAtMost(endpoint, usage, now));
  }
  return worst;
}

/** How many tokens a prompt has at most. */
export function boundPrompt({ promptTextBytes }: Pick<InferenceRequest, "promptTextBytes">): number {
  return Math.ceil(promptTextBytes / BYTES_PER_TOKEN) + OVERHEAD_TOKENS;
}

/** How many tokens a request may produce at an endpoint, at most `maxCompletionTokens` where it does not say. */
export function boundCompletion(
  { action, maxTokens, answers }: Omit<Bounded, "promptTextBytes">,
  { maxOutputTokens }: ModelEndpoint,
  maxCompletionTokens: number,
): number {
  if (action === "embeddings") return 0;
  const most = Math.min(maxOutputTokens ?? maxCompletionTokens, maxCompletionTokens);
  return (maxTokens ?? most) * answers;
}

/** The most that a request may use at an endpoint; what it searches for is read as prompt. */
function boundUsage(
  promptBound: number,
  completionTokens: number,
  { images, search }: RequestCharges,
  { contextLength }: ModelEndpoint,
  mostSearches: number,
): BoundedUsage {
  const searches = search === null ? 0 : (search.most ?? mostSearches);
  const found = Math.min(searches * TOKENS_PER_SEARCH, Math.max(0, contextLength - promptBound));
  const searchContext = search?.context ?? null;
  return { promptTokens: promptBound + found, completionTokens, images, searches, searchContext };
}
