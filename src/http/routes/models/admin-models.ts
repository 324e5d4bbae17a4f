import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { mergePolicies, policyOf } from "../../../core/accounts/records/merge-policies.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import type { ModelRecord } from "../../../core/catalog/records/records.ts";
import { presentTier } from "../../../core/catalog/tiers/present-tier.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import { createPolicyFilter } from "../../../core/routing/plan/select-deployments.ts";
import { needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { viewCatalog } from "../routing/tier-views.ts";
import { CatalogEndpointView, presentCatalogEndpoint } from "./present-catalog-endpoint.ts";
import {
  CatalogModelView,
  listTiersByModel,
  type ModelSources,
  presentCatalogModel,
} from "./present-catalog-model.ts";

const TAG = "Catalog";
const PATH = "/api/admin/models";
/** The number of models that are presented in one turn of the event loop: about a millisecond. */
const SLICE = 100;

const TierView = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  is_free: z.boolean(),
  resolves_to: z
    .array(z.object({ when: z.string(), models: z.array(z.string()) }))
    .describe("The models of each case in order of preference, also those that are not served."),
});

/** `GET /api/admin/models`: all models of the catalog, and the tiers. */
export const listCatalogModels = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "List all models of the catalog, whether they are served and why not, and all tiers",
  access: needs("own"),
  response: z.object({
    data: z.array(CatalogModelView).describe("By id."),
    tiers: z.array(TierView),
    providers: z.array(
      z.object({
        slug: z.string(),
        name: z.string(),
        is_configured: z.boolean().describe("Whether this gateway has a platform key for it."),
      }),
    ),
  }),
  async handle({ deps, principal }) {
    const sources = readSources(deps, principal);
    const { catalog, servedModels } = sources.serving;
    const data = [];
    for (const [i, model] of catalog.models.entries()) {
      if (i % SLICE === SLICE - 1) await nextTurn();
      data.push(presentCatalogModel(model, sources));
    }
    const configured = new Set(servedModels.providers.map(({ record }) => record));
    return {
      data,
      tiers: presentTiers(sources),
      providers: catalog.providers.map((record) => ({
        slug: record.slug,
        name: record.name,
        is_configured: configured.has(record),
      })),
    };
  },
});

/** `GET /api/admin/models/{author}/{model}`: one model with its endpoints, their health and prices by day. */
export const getCatalogModel = defineEndpoint({
  method: "GET",
  path: `${PATH}/:author/:model`,
  tag: TAG,
  summary: "Retrieve a model of the catalog with its endpoints, their recent health, and their prices by day",
  needs: "gateway",
  access: needs("own"),
  params: z.object({
    author: z.string().meta({ description: "First part of the model's id.", examples: ["sandbox"] }),
    model: z.string().meta({ description: "Second part of the model's id.", examples: ["echo"] }),
  }),
  response: z.object({
    data: CatalogModelView.extend({
      description: z.string().nullable(),
      tokenizer: z.string().nullable(),
      endpoints: z.array(CatalogEndpointView).describe("The endpoints that can be called first."),
    }).meta({ id: "CatalogModelDetails" }),
  }),
  handle({ deps, principal, params }) {
    const sources = readSources(deps, principal);
    const model = requireModel(sources.serving, `${params.author}/${params.model}`);
    const { generation } = deps;
    const endpoints = model.endpoints.map((endpoint) =>
      presentCatalogEndpoint(endpoint, { ...sources, model, generation }),
    );
    return {
      data: {
        ...presentCatalogModel(model, sources),
        description: model.description,
        tokenizer: model.tokenizer,
        endpoints: endpoints.toSorted((a, b) => Number(b.is_configured) - Number(a.is_configured)),
      },
    };
  },
});

function readSources(
  { generation, clock, resources }: StoreDeps,
  principal: ManagementPrincipal,
): ModelSources {
  const serving = generation.serving();
  const now = clock.now();
  const policy =
    principal.kind === "operator"
      ? mergePolicies([{ level: "gateway", policy: generation.settings.policy }])
      : policyOf(generation.settings.policy, principal);
  const tiersOf = resources.pages.of(listTiersByModel, serving, now);
  return { serving, isAllowed: createPolicyFilter(policy), tiersOf, now };
}

function presentTiers({ serving, now }: ModelSources): z.infer<typeof TierView>[] {
  const view = viewCatalog(serving);
  return serving.tiers.list.map((tier) => {
    const { id, name, description, rule } = tier;
    const cases = presentTier(tier, view, now)?.resolves_to ?? [];
    const resolves_to = cases.map(({ when, models }) => ({ when, models: [...models] }));
    return { id, name, description, is_free: rule.by === "free", resolves_to };
  });
}

/** @throws GatewayError `not_found`. */
function requireModel({ catalog }: Serving, id: string): ModelRecord {
  return (
    catalog.find(id) ??
    fail(
      "not_found",
      `The catalog has no model ${JSON.stringify(id.slice(0, 100))}. GET ${PATH} lists all models.`,
    )
  );
}
