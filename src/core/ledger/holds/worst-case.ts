import { scaleAmount } from "../../../base/numbers/money.ts";
import type {
  InferenceRequest,
  RequestDemands,
  RequestPrompt,
} from "../../../wire/client-apis/request/inference-request.ts";
import type { RequestCharges } from "../../../wire/conversation/charges.ts";
import { endpointForModes } from "../../catalog/prices/factors.ts";
import { ExactCost, type MaxCost } from "../../catalog/prices/max-cost.ts";
import { type BoundedPrompt, priceAtMost } from "../../catalog/prices/price-usage.ts";
import { boundServices } from "../../catalog/profile/service-bounds.ts";
import { longestAnswer } from "../../catalog/records/endpoint-limits.ts";
import type { ModelEndpoint, ModelRecord } from "../../catalog/records/records.ts";
import type { Catalog } from "../../catalog/served/catalog.ts";
import type { Deployment } from "../../deployments/served-models.ts";

/** The minimum number of bytes of text for each token: vendors hardly ever count more tokens. */
const BYTES_PER_TOKEN = 2;
/**
 * Tokens that vendors add to a prompt for its template. In 592 recorded conversations without tools and schemas, one token for two bytes
 * plus this number was enough at every vendor except Cohere, whose template has 200. If a hold is too low, the rest is taken from the
 * balance.
 */
const TEMPLATE_TOKENS = 32;
/** Tokens that vendors add for tools and schemas. */
const SCHEMA_TOKENS = 468;
/** Tokens of one image. Vendors scale images down; models that count more for an image charge less for each token. */
const TOKENS_PER_IMAGE = 5_000;
/** Tokens that a search, or another tool of the vendor, may add to the prompt. Vendors state no bound; all recorded searches add less. */
const TOKENS_PER_SEARCH = 15_000;
/** The maximum number of searches of one request. No vendor makes as many, even if the request allows more. */
export const MAX_SEARCHES = 1_000;
/** The shortest useful answer, if the account does not cover a longer one. Tokens. */
const MIN_ANSWER_TOKENS = 256;

/** The assumptions about a request that sets no limits itself. */
export interface HoldBounds {
  /** Tokens of one answer. */
  readonly tokens: number;
  /** Searches by the vendor. */
  readonly searches: number;
}

/** Amounts in ascending order: the least useful, the expected, and the maximum. */
export interface Range {
  readonly least: number;
  readonly expected: number;
  readonly most: number;
}

type Bounded = Pick<InferenceRequest, "action" | "maxTokens" | "answers">;
/** The facts that bound the tokens of a prompt's text. */
type SizedPrompt = Pick<RequestPrompt, "textBytes" | "hasSchemas">;

interface Charged extends Bounded {
  readonly prompt: SizedPrompt;
  readonly demands: Pick<RequestDemands, "listCharges">;
}

/** The cost of a request at one deployment, and the tokens of all its answers together. */
export interface DeploymentCost {
  readonly cost: MaxCost;
  readonly tokens: Range;
}

/** Bounds the cost of a request at a deployment, by what the account pays at `now`. Returns null if the model is free. */
export function boundCost(
  request: Charged,
  deployment: Deployment,
  { bounds, catalog, now }: { readonly bounds: HoldBounds; readonly catalog: Catalog; readonly now: number },
): DeploymentCost | null {
  const { served, provider, tariff } = deployment;
  if (served.isFree) return null;
  const charges = request.demands.listCharges();
  const endpoint = endpointForModes(tariff?.charged ?? deployment.endpoint, charges.modes, provider.record);
  const prompt = boundChargedPrompt(request.prompt, charges, endpoint, bounds.searches);
  const tokens = boundAnswers(request, endpoint, bounds.tokens);
  const cost = priceAtMost(endpoint, prompt, now, served.rates);
  const services = boundServices(provider.record, charges.services);
  if (charges.advisors.length === 0 && services === 0n) return { cost, tokens };
  const { fixed, perToken } = cost.toExact();
  const plain = { ...prompt, images: 0, searches: 0 };
  let advised = scaleByTariff(services, tariff?.factor ?? null);
  for (const { model: name, most } of charges.advisors) {
    const found = catalog.findEndpoint(provider.record.slug, name);
    const once = priceAtMost(chargedEndpoint(found, deployment), plain, now, served.rates).toExact();
    const times = BigInt(Math.min(most ?? bounds.searches, MAX_SEARCHES));
    advised += times * (once.fixed + BigInt(bounds.tokens) * once.perToken);
  }
  return { cost: new ExactCost(fixed + advised, perToken), tokens };
}

function scaleByTariff(services: bigint, factor: bigint | null): bigint {
  return factor === null ? services : scaleAmount(services, factor);
}

/**
 * Returns the endpoint whose prices the account pays for a model that the deployment consults, or that it names in its answer. A model that
 * is not in the catalog costs as much as the deployment's own.
 */
export function chargedEndpoint(
  found: { readonly endpoint: ModelEndpoint; readonly model: Pick<ModelRecord, "id"> } | null,
  { endpoint, tariff }: Pick<Deployment, "endpoint" | "tariff">,
): ModelEndpoint {
  if (found === null) return tariff?.charged ?? endpoint;
  return tariff === undefined ? found.endpoint : tariff.priceOther(found.endpoint, found.model.id);
}

/**
 * Returns the highest costs of several deployments: the amount to hold for a request that any of them may answer. Null costs nothing.
 * Nanodollars.
 */
export function joinCosts(costs: readonly (DeploymentCost | null)[]): Range {
  const first = costs[0] ?? null;
  if (first !== null && costs.length === 1) return rangeOf(first);
  let least = 0;
  let expected = 0;
  let most = 0;
  for (const deployment of costs) {
    if (deployment === null) continue;
    const range = rangeOf(deployment);
    least = Math.max(least, range.least);
    expected = Math.max(expected, range.expected);
    most = Math.max(most, range.most);
  }
  return { least, expected, most };
}

/** Returns the costs of a deployment's token counts. If a request has a low limit, they are equal and computed once. */
function rangeOf({ cost, tokens }: DeploymentCost): Range {
  const most = cost.at(tokens.most);
  const expected = tokens.expected === tokens.most ? most : cost.at(tokens.expected);
  const least = tokens.least === tokens.expected ? expected : cost.at(tokens.least);
  return { least, expected, most };
}

/** Returns the maximum number of tokens of a prompt's text. */
export function boundPrompt({ textBytes, hasSchemas }: SizedPrompt): number {
  return Math.ceil(textBytes / BYTES_PER_TOKEN) + TEMPLATE_TOKENS + (hasSchemas ? SCHEMA_TOKENS : 0);
}

/** Returns the tokens that the answers to a request may have together; `expected` is for one answer to a request without a limit. */
export function boundAnswers(
  { action, maxTokens, answers }: Bounded,
  endpoint: ModelEndpoint,
  expected: number,
): Range {
  if (WITHOUT_ANSWER_TOKENS.has(action)) return NO_ANSWER;
  const longest = longestAnswer(endpoint);
  const most = Math.min(maxTokens ?? longest, longest);
  const usual = Math.min(most, expected);
  const least = Math.min(usual, MIN_ANSWER_TOKENS);
  return { least: least * answers, expected: usual * answers, most: most * answers };
}

/** Actions whose answers have no tokens, or none that a vendor charges for. */
const WITHOUT_ANSWER_TOKENS: ReadonlySet<InferenceRequest["action"]> = new Set([
  "embeddings",
  "moderations",
  "rerank",
]);
const NO_ANSWER: Range = { least: 0, expected: 0, most: 0 };

/**
 * Bounds the charge for a prompt: text, images and files once, and the results of the vendor's tools. Together they are at most the context
 * window.
 */
function boundChargedPrompt(
  sized: SizedPrompt,
  { images, fileBytes, hasReferences, search, runsTools, units }: RequestCharges,
  { contextLength }: ModelEndpoint,
  usualSearches: number,
): BoundedPrompt {
  const searches = search === null ? 0 : Math.min(search.most ?? usualSearches, MAX_SEARCHES);
  const runs = searches + (runsTools && search === null ? usualSearches : 0);
  const text = boundPrompt(sized);
  const all = text + images * TOKENS_PER_IMAGE + runs * TOKENS_PER_SEARCH;
  const promptTokens = Math.min(all, Math.max(contextLength, text));
  const room = Math.max(0, contextLength - promptTokens);
  const files = hasReferences ? room : Math.min(room, Math.ceil(fileBytes / BYTES_PER_TOKEN));
  const searchContext = search?.context ?? null;
  const prompt = { promptTokens, fileTokens: files, images, searches, searchContext };
  return units === undefined ? prompt : { ...prompt, searches: searches + (units.searches ?? 0), units };
}
