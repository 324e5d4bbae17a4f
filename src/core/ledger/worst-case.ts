import { roundToNanodollars, toAttodollars } from "../../base/money.ts";
import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import type { RequestCharges } from "../../wire/conversation/charges.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { findEndpoint } from "../catalog/find-endpoint.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import { type BoundedPrompt, type MaxCost, priceAtMost } from "../catalog/price-usage.ts";
import type { ModelEndpoint } from "../catalog/records.ts";
import type { Deployment } from "../deployments/served-models.ts";

/** Bytes of text that make at least one token: what vendors count is hardly ever more. */
const BYTES_PER_TOKEN = 2;
/** Tokens that stand for tools' schemas and templates of which the text says nothing. */
const OVERHEAD_TOKENS = 500;
/** Tokens of one image. Vendors scale images down; models that count more for one charge less for each token. */
const TOKENS_PER_IMAGE = 5_000;
/** What a search, or another tool of the vendor's, may add to the prompt. Vendors say no bound; recorded ones stay below it. */
const TOKENS_PER_SEARCH = 15_000;
/** The most searches of one request: no vendor makes as many, whatever a request allows. */
export const MOST_SEARCHES = 1_000;
/** The shortest answer that is worth asking for, where the account does not cover more. */
const LEAST_ANSWER_TOKENS = 256;

/** What is expected of a request that sets no bound itself. */
export interface HoldBounds {
  /** Tokens of one answer. */
  readonly tokens: number;
  /** Searches by the vendor. */
  readonly searches: number;
}

/** Amounts of one thing, rising: the least that is worth having, what is expected, and what can be used at most. */
export interface Range {
  readonly least: number;
  readonly expected: number;
  readonly most: number;
}

type Bounded = Pick<InferenceRequest, "action" | "promptTextBytes" | "maxTokens" | "answers">;
type Charged = Bounded & Pick<InferenceRequest, "listCharges">;

/** What a request may cost at one deployment, and the tokens of its answers together. */
export interface DeploymentCost {
  readonly cost: MaxCost;
  readonly tokens: Range;
}

/** What a request may cost at an deployment, by the catalog and the prices of `now`; null where the model is free. */
export function boundCost(
  request: Charged,
  { model, endpoint, provider }: Deployment,
  { bounds, catalog, now }: { readonly bounds: HoldBounds; readonly catalog: Catalog; readonly now: number },
): DeploymentCost | null {
  if (isFreeId(model.id)) return null;
  const charges = request.listCharges();
  const prompt = boundPromptCost(request.promptTextBytes, charges, endpoint, bounds.searches);
  const { fixed, perToken } = priceAtMost(endpoint, prompt, now);
  const advised = charges.advisors.reduce((sum, { model: name, most }) => {
    const found = findEndpoint(catalog, provider.record.slug, name)?.endpoint ?? endpoint;
    const once = priceAtMost(found, { ...prompt, images: 0, searches: 0 }, now);
    const times = BigInt(Math.min(most ?? bounds.searches, MOST_SEARCHES));
    return sum + times * (once.fixed + BigInt(bounds.tokens) * once.perToken);
  }, 0n);
  return {
    cost: { fixed: fixed + advised, perToken },
    tokens: boundAnswers(request, endpoint, bounds.tokens),
  };
}

/** What must be held for a request whichever of the deployments answers it. Nanodollars. */
export function joinCosts(costs: readonly DeploymentCost[]): Range {
  const dearest = (name: keyof Range) =>
    costs.reduce((most, { cost, tokens }) => Math.max(most, costOf(cost, tokens[name])), 0);
  return { least: dearest("least"), expected: dearest("expected"), most: dearest("most") };
}

/** What so many tokens of answers cost at most, with everything else. Nanodollars. */
export function costOf({ fixed, perToken }: MaxCost, tokens: number): number {
  return roundToNanodollars(fixed + BigInt(tokens) * perToken);
}

/** The tokens of answers that an amount, in nanodollars, covers beside everything else; at most `most`. */
export function tokensFor(amount: number, { cost, tokens }: DeploymentCost): number {
  if (amount === Number.POSITIVE_INFINITY || cost.perToken === 0n) return tokens.most;
  const left = toAttodollars(amount) - cost.fixed;
  return left <= 0n ? 0 : Math.min(tokens.most, Number(left / cost.perToken));
}

/** How many tokens the text of a prompt has at most. */
export function boundPrompt({ promptTextBytes }: Pick<InferenceRequest, "promptTextBytes">): number {
  return Math.ceil(promptTextBytes / BYTES_PER_TOKEN) + OVERHEAD_TOKENS;
}

/** The longest answer that an endpoint gives. Tokens. */
export function longestAnswer({ maxOutputTokens, contextLength }: ModelEndpoint): number {
  return Math.min(maxOutputTokens ?? contextLength, contextLength);
}

/** How many tokens the answers to a request may have together at an endpoint; `expected` of each where it sets no bound. */
export function boundAnswers(
  { action, maxTokens, answers }: Pick<Bounded, "action" | "maxTokens" | "answers">,
  endpoint: ModelEndpoint,
  expected: number,
): Range {
  if (action === "embeddings") return NO_ANSWER;
  const longest = longestAnswer(endpoint);
  const most = Math.min(maxTokens ?? longest, longest);
  const usual = Math.min(most, expected);
  const least = Math.min(usual, LEAST_ANSWER_TOKENS);
  return { least: least * answers, expected: usual * answers, most: most * answers };
}

const NO_ANSWER: Range = { least: 0, expected: 0, most: 0 };

/** Text, images and files are read once; what the vendor's tools find is read as prompt. Together they fill the window at most. */
function boundPromptCost(
  promptTextBytes: number,
  { images, fileBytes, hasReferences, search, runsTools }: RequestCharges,
  { contextLength }: ModelEndpoint,
  usualSearches: number,
): BoundedPrompt {
  const searches = search === null ? 0 : Math.min(search.most ?? usualSearches, MOST_SEARCHES);
  const runs = searches + (runsTools && search === null ? usualSearches : 0);
  const text = boundPrompt({ promptTextBytes }) + images * TOKENS_PER_IMAGE + runs * TOKENS_PER_SEARCH;
  const promptTokens = Math.min(text, Math.max(contextLength, boundPrompt({ promptTextBytes })));
  const room = Math.max(0, contextLength - promptTokens);
  const files = hasReferences ? room : Math.min(room, Math.ceil(fileBytes / BYTES_PER_TOKEN));
  const searchContext = search?.context ?? null;
  return { promptTokens, fileTokens: files, images, searches, searchContext };
}
