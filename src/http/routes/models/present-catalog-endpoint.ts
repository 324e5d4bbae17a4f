import { z } from "zod";
import { dateOf } from "../../../base/time/time.ts";
import { presentModel } from "../../../core/catalog/present/present-model.ts";
import { presentTakes, TakesView } from "../../../core/catalog/present/present-takes.ts";
import type { ModelEndpoint, ModelRecord, Prices } from "../../../core/catalog/records/records.ts";
import type { GenerationDeps } from "../../../core/generation/call/call.ts";
import { presentEndpointHealth } from "../routing/present-health.ts";
import { CatalogPricesView, type ModelSources } from "./present-catalog-model.ts";

const Percentiles = z
  .object({ p50: z.number(), p90: z.number(), p99: z.number() })
  .nullable()
  .describe("`null` below the minimum sample size.");

const PriceRowView = z.object({
  from: z.string().nullable().describe("First day, `YYYY-MM-DD` (UTC). `null` for the first row."),
  until: z
    .string()
    .nullable()
    .describe("First day on which the row no longer applies. `null` if none is known."),
  min_prompt_tokens: z.int().describe("Minimum prompt length to which the row applies; 0 for all prompts."),
  is_current: z.boolean(),
  pricing: CatalogPricesView,
});

/** A model endpoint: its provider, limits, recent health and prices by day. */
export const CatalogEndpointView = z.object({
  provider: z.string(),
  provider_name: z.string(),
  upstream_model: z.string().describe("Name of the model at the provider."),
  is_configured: z.boolean().describe("Whether this gateway can call it with a platform key."),
  context_length: z.int(),
  max_output_tokens: z.int().nullable(),
  supported_parameters: z.array(z.string()),
  takes: z
    .array(TakesView)
    .describe(
      "The parameters of chat completions for which the endpoint does not accept every value, with the source of each rule, in the format in which requests are sent to it.",
    ),
  status: z.enum(["ok", "degraded", "down", "unknown"]).describe("Recent health in this gateway process."),
  uptime: z.number().nullable().describe("Share of attempts in the last minute that succeeded, 0 to 1."),
  latency_ms: Percentiles,
  throughput: Percentiles,
  requests: z.int().describe("Attempts in the last minute."),
  expires: z.string().nullable(),
  prices: z.array(PriceRowView).describe("Price rows by day, then by prompt length."),
});

type CatalogEndpoint = z.infer<typeof CatalogEndpointView>;
type PriceRow = z.infer<typeof PriceRowView>;

/** Presents an endpoint of a model with its health and its price rows. */
export function presentCatalogEndpoint(
  endpoint: ModelEndpoint,
  sources: ModelSources & {
    readonly model: ModelRecord;
    readonly generation: Pick<GenerationDeps, "routing">;
  },
): CatalogEndpoint {
  const { model, serving, isAllowed, generation, now } = sources;
  const deployments = serving.servedModels.deploymentsOf(model.id).filter(isAllowed);
  const { status, uptime, latency_ms, throughput, requests } = presentEndpointHealth(
    generation,
    { provider: endpoint.provider, model: model.id },
    now,
  );
  return {
    provider: endpoint.provider,
    provider_name: serving.catalog.provider(endpoint.provider)?.name ?? endpoint.provider,
    upstream_model: endpoint.name,
    is_configured: deployments.some((deployment) => deployment.endpoint === endpoint),
    context_length: endpoint.contextLength,
    max_output_tokens: endpoint.maxOutputTokens,
    supported_parameters: [...(presentModel(model, [endpoint], now)?.supported_parameters ?? [])],
    takes: listTakes(endpoint),
    status,
    uptime,
    latency_ms: latency_ms && { ...latency_ms },
    throughput: throughput && { ...throughput },
    requests,
    expires: endpoint.expires ?? null,
    prices: listPriceRows(model, endpoint, now),
  };
}

function listTakes({ profile }: ModelEndpoint): z.infer<typeof TakesView>[] {
  const statements = presentTakes(profile?.listRules(profile.chatFormat) ?? []);
  return statements as z.infer<typeof TakesView>[];
}

/** Lists the price rows of all periods: from the beginning, and from the day of each announced change. `now`: milliseconds since the epoch. */
export function listPriceRows(model: ModelRecord, endpoint: ModelEndpoint, now: number): PriceRow[] {
  const { priceChanges = [], priceTiers, prices, ...rest } = endpoint;
  const today = dateOf(now);
  const periods = [{ from: null, prices, priceTiers }, ...priceChanges];
  return periods.flatMap(({ from, ...terms }, i) => {
    const until = periods[i + 1]?.from ?? null;
    const is_current = (from === null || from <= today) && (until === null || until > today);
    const tiers: readonly (Prices & { readonly minPromptTokens?: number })[] = [
      ...(terms.prices === null ? [] : [terms.prices]),
      ...(terms.priceTiers ?? []),
    ];
    return tiers.flatMap(({ minPromptTokens = 0, ...row }): PriceRow[] => {
      const shown = presentModel(model, [{ ...rest, prices: row }], now);
      if (shown === null) return [];
      return [{ from, until, min_prompt_tokens: minPromptTokens, is_current, pricing: { ...shown.pricing } }];
    });
  });
}
