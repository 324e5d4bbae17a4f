import { z } from "zod";
import { dateOf } from "../../../base/time/time.ts";
import { presentModel } from "../../../core/catalog/present/present-model.ts";
import { isExpired, isWithdrawn } from "../../../core/catalog/records/expiry.ts";
import { isFreeId } from "../../../core/catalog/records/is-free-id.ts";
import type { ModelEndpoint, ModelRecord } from "../../../core/catalog/records/records.ts";
import type { TierView } from "../../../core/catalog/tiers/present-tier.ts";
import { listTierModels } from "../../../core/catalog/tiers/present-tier.ts";
import type { Deployment } from "../../../core/deployments/served-models.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import { viewCatalog } from "../routing/tier-views.ts";

const price = z.string().describe("US dollars per token, as a decimal string.");
const otherPrice = z.string().optional();

/** Prices in US dollars as decimal strings (`PublicPrices`). */
export const CatalogPricesView = z.object({
  prompt: price,
  completion: price,
  input_cache_read: otherPrice,
  input_cache_write: otherPrice,
  request: otherPrice.describe("Per request."),
  image: otherPrice.describe("Per image in the prompt."),
  image_output: otherPrice,
  web_search: otherPrice.describe("Per search by the provider."),
  audio: otherPrice,
  audio_output: otherPrice,
  internal_reasoning: otherPrice,
  character: otherPrice.describe("Per character of a text to speak."),
  audio_second: otherPrice.describe("Per second of audio to transcribe."),
  generated_image: otherPrice.describe("Per generated image: the highest of its qualities and sizes."),
});

/** A model of the catalog, served or not. */
export const CatalogModelView = z
  .object({
    id: z.string(),
    name: z.string(),
    author: z.string(),
    released: z.string().nullable().describe("Release date, `YYYY-MM-DD`. `null` if unknown."),
    context_length: z.int().describe("Context window in tokens that every counted endpoint supports."),
    max_output_tokens: z.int().nullable(),
    input_modalities: z.array(z.string()),
    output_modalities: z.array(z.string()),
    supported_parameters: z.array(z.string()),
    pricing: CatalogPricesView.nullable().describe(
      "Current prices: the highest of the endpoints that serve the model, or of all if none does. `null` if no price is known.",
    ),
    is_free: z.boolean(),
    is_served: z.boolean().describe("Whether this gateway can answer requests for the model."),
    not_served_because: z
      .enum(["no_provider_key", "no_price", "withdrawn", "policy"])
      .nullable()
      .describe("Why the model is not served: `policy` means that the account may not use it."),
    providers: z.array(z.string()).describe("Slugs of all providers of the model."),
    served_by: z.array(z.string()).describe("Slugs of the providers that serve it here, the cheapest first."),
    tiers: z.array(z.string()).describe("Ids of the tiers that may choose it."),
    expires: z.string().nullable().describe("First day on which the model is no longer served."),
  })
  .meta({ id: "CatalogModel", description: "A model of the catalog, served or not." });

type CatalogModel = z.infer<typeof CatalogModelView>;

/** The sources for presenting a model of the catalog. */
export interface ModelSources {
  readonly serving: Serving;
  /** Whether the policy that applies to the principal allows a deployment. */
  readonly isAllowed: (deployment: Deployment) => boolean;
  readonly tiersOf: ReadonlyMap<string, readonly string[]>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Presents a model of the catalog. */
export function presentCatalogModel(model: ModelRecord, sources: ModelSources): CatalogModel {
  const { serving, isAllowed, tiersOf, now } = sources;
  const all = serving.servedModels.deploymentsOf(model.id);
  const allowed = all.filter(isAllowed).map(({ endpoint }) => endpoint);
  const shown = presentModel(model, allowed.length > 0 ? allowed : model.endpoints, now);
  const counted = allowed.length > 0 ? allowed : model.endpoints;
  const { overrides: _, ...pricing } = shown?.pricing ?? { overrides: null };
  return {
    id: model.id,
    name: model.name,
    author: model.id.split("/", 1)[0] as string,
    released: model.released,
    context_length: shown?.context_length ?? findMinContext(counted),
    max_output_tokens: findMaxOutput(counted),
    input_modalities: [...(shown?.architecture.input_modalities ?? model.inputModalities)],
    output_modalities: [...model.outputModalities],
    supported_parameters: [...(shown?.supported_parameters ?? model.supportedParameters)],
    pricing: shown === null ? null : (pricing as CatalogModel["pricing"]),
    is_free: isFreeId(model.id),
    is_served: allowed.length > 0,
    not_served_because: allowed.length > 0 ? null : all.length > 0 ? "policy" : explainAbsence(model, now),
    providers: [...new Set(model.endpoints.map(({ provider }) => provider))],
    served_by: [...new Set(allowed.map(({ provider }) => provider))],
    tiers: [...(tiersOf.get(model.id) ?? [])],
    expires: model.expires,
  };
}

function explainAbsence(model: ModelRecord, now: number): "no_provider_key" | "no_price" | "withdrawn" {
  const day = dateOf(now);
  if (isWithdrawn(model, day)) return "withdrawn";
  const current = model.endpoints.filter((endpoint) => !isExpired(endpoint, day));
  return current.every(({ prices }) => prices === null) ? "no_price" : "no_provider_key";
}

function findMinContext(endpoints: readonly ModelEndpoint[]): number {
  return Math.min(...endpoints.map(({ contextLength }) => contextLength));
}

function findMaxOutput(endpoints: readonly ModelEndpoint[]): number | null {
  const known = endpoints.flatMap(({ maxOutputTokens }) => maxOutputTokens ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

/** Returns the ids of the tiers that may choose each model of the catalog. */
export function listTiersByModel(serving: Serving): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const view: TierView = viewCatalog(serving);
  for (const tier of serving.tiers.list)
    for (const { model } of listTierModels(tier, view))
      found.set(model.id, [...(found.get(model.id) ?? []), tier.id]);
  return found;
}
