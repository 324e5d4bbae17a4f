import { z } from "zod";
import { fail, rejectField } from "../../../base/failures/errors.ts";
import { PlainText } from "../../../core/catalog/records/plain-text-schema.ts";
import type { ProviderRecord } from "../../../core/catalog/records/records.ts";
import type { ProviderKey, ServedProvider } from "../../../core/deployments/served-provider.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import { KeyTrialView, presentTrial } from "../../../core/questions/key-trial-view.ts";
import { tryProviderKey } from "../../../core/questions/try-provider-key.ts";
import type { DrainTarget } from "../../../core/routing/health/drain-store.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import type { HttpDeps } from "../../context/context.ts";
import { type HealthSources, ProviderHealthView, presentProviderHealth } from "./present-provider-health.ts";

const TAG = "Health";
const PATH = "/api/admin/health";

const OfProvider = z.object({
  provider: z.string().meta({ description: "Slug of the provider.", examples: ["openai"] }),
});

/** `GET /api/admin/health`: the health of all providers, as this gateway process measures it. */
export const getHealth = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "Retrieve the recent health of all providers, measured by the gateway that answers",
  needs: "gateway",
  access: OPERATOR,
  response: z.object({
    gateway_id: z
      .string()
      .describe("Id of the gateway that answered. Other gateways and processes have their own measurements."),
    data: z.array(ProviderHealthView).describe("Providers with a platform key first, then by slug."),
  }),
  handle({ deps }) {
    const sources = readSources(deps);
    const rows = sources.serving.catalog.providers.map((record) => presentProviderHealth(record, sources));
    const data = rows.toSorted((a, b) => Number(a.state === "no_key") - Number(b.state === "no_key"));
    return { gateway_id: deps.generation.gatewayId, data };
  },
});

/** `POST /api/admin/health/{provider}/test`: requests one token from a provider with a platform key. */
export const testProvider = defineEndpoint({
  method: "POST",
  path: `${PATH}/:provider/test`,
  tag: TAG,
  summary: "Test a provider with a request for one token, with a platform key",
  needs: "gateway",
  access: OPERATOR,
  params: OfProvider,
  body: z.strictObject({
    model: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe("Id of the model to call. Defaults to the provider's cheapest one."),
    key: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Id of the platform key, as in `keys` of the provider's health. Defaults to the first."),
  }),
  response: z.object({ data: KeyTrialView }),
  async handle({ params, body, deps }) {
    const { generation } = deps;
    const serving = generation.serving();
    const provider = requireServed(serving, params.provider);
    const key = requireKey(provider, body.key);
    const models = body.model === undefined ? null : [requireModel(serving, provider, body.model)];
    return { data: presentTrial(await tryProviderKey(generation, serving, { provider, key, models })) };
  },
});

/** `POST /api/admin/health/{provider}/clear`: forgets what makes this gateway avoid or prefer a provider. */
export const clearProviderHealth = defineEndpoint({
  method: "POST",
  path: `${PATH}/:provider/clear`,
  tag: TAG,
  summary:
    "Forget the circuits, cooldowns, measurements, cached conversations and refused parameters of a provider",
  needs: "gateway",
  access: OPERATOR,
  params: OfProvider,
  response: z.object({
    gateway_id: z
      .string()
      .describe("Id of the gateway that answered. Other gateways keep their measurements."),
    data: ProviderHealthView,
  }),
  handle({ params, deps, audit }) {
    const {
      routing: { health, affinity, learnedRefusals },
      gatewayId,
    } = deps.generation;
    const record = requireProvider(deps.generation.serving(), params.provider);
    const { slug } = record;
    const keys = deps.generation.serving().servedModels.provider(slug)?.keys ?? [];
    health.forget(
      slug,
      keys.map(({ label }) => label),
    );
    const conversations = affinity.forget(slug);
    learnedRefusals.forget(slug);
    audit({ target: slug, changes: { gateway_id: gatewayId, conversations } });
    return { gateway_id: gatewayId, data: presentProviderHealth(record, readSources(deps)) };
  },
});

const Model = z
  .string()
  .min(1)
  .max(300)
  .optional()
  .describe("Id of a model, for only its endpoint at the provider. Defaults to all models of the provider.");

const DrainedView = z.object({
  gateway_id: z.string().describe("Id of the gateway that answered. Other gateways follow within a second."),
  data: ProviderHealthView,
});

/** `POST /api/admin/health/{provider}/drain`: takes a provider, or one of its endpoints, out of routing on all gateways. */
export const drainProvider = defineEndpoint({
  method: "POST",
  path: `${PATH}/:provider/drain`,
  tag: TAG,
  summary: "Take a provider or one of its model endpoints out of routing. Running requests end as usual",
  needs: "gateway",
  access: OPERATOR,
  params: OfProvider,
  body: z.strictObject({
    model: Model,
    until: z.iso
      .datetime({ offset: true })
      .nullable()
      .default(null)
      .describe(
        "Time at which it returns to routing (RFC 3339). `null` means that it lasts until an operator ends the drain.",
      ),
    note: PlainText.trim().min(1).max(300).optional().describe("Reason, shown to other operators."),
  }),
  response: DrainedView,
  errors: ["conflict"],
  async handle({ params, body, deps, audit }) {
    const now = deps.clock.now();
    const until = body.until === null ? null : Date.parse(body.until);
    if (until !== null && until <= now) rejectField("until", "must be in the future");
    const record = requireProvider(deps.generation.serving(), params.provider);
    const model = body.model === undefined ? null : requireEndpoint(deps, record, body.model);
    const drain = { provider: record.slug, model, since: now, until, note: body.note ?? null };
    await deps.generation.routing.drains.put(drain);
    audit({ target: targetOf(drain), changes: { drained: true, until: body.until, note: drain.note } });
    return presentDrained(record, deps);
  },
});

/** `DELETE /api/admin/health/{provider}/drain`: returns it to routing. */
export const undrainProvider = defineEndpoint({
  method: "DELETE",
  path: `${PATH}/:provider/drain`,
  tag: TAG,
  summary: "Return a drained provider or model endpoint to routing",
  needs: "gateway",
  access: OPERATOR,
  params: OfProvider,
  query: z.strictObject({ model: Model }),
  response: DrainedView,
  async handle({ params, query, deps, audit }) {
    const record = requireProvider(deps.generation.serving(), params.provider);
    const { catalog } = deps.generation.serving();
    // The catalog may have lost a model that was drained.
    const model = query.model === undefined ? null : (catalog.find(query.model)?.id ?? query.model);
    const target = { provider: record.slug, model };
    if (!(await deps.generation.routing.drains.remove(target)))
      fail("not_found", `${targetOf(target)} has no drain. GET /api/admin/health shows what has.`);
    audit({ target: targetOf(target), changes: { drained: false } });
    return presentDrained(record, deps);
  },
});

function presentDrained(record: ProviderRecord, deps: HttpDeps) {
  return {
    gateway_id: deps.generation.gatewayId,
    data: presentProviderHealth(record, readSources(deps)),
  };
}

/** Names what is drained in the audit log and in messages. */
function targetOf({ provider, model }: DrainTarget): string {
  return model === null ? provider : `${provider} ${model}`;
}

/** @throws GatewayError `invalid_request` unless the catalog lists an endpoint of the model at the provider. */
function requireEndpoint({ generation }: HttpDeps, { slug, name }: ProviderRecord, id: string): string {
  const model = generation.serving().catalog.find(id);
  if (model?.endpoints.some(({ provider }) => provider === slug) === true) return model.id;
  return fail("invalid_request", `model must be one that ${name} serves according to the catalog.`, {
    metadata: { field: "model" },
  });
}

function readSources({ clock, generation }: HttpDeps): HealthSources {
  const now = clock.now();
  const warm = generation.routing.affinity.countByProvider(now);
  return { deps: generation, serving: generation.serving(), warm, now };
}

/** @throws GatewayError `not_found`. */
function requireProvider({ catalog }: Serving, slug: string): ProviderRecord {
  const near = () => catalog.suggestProvider(slug, 3).join(", ");
  return (
    catalog.provider(slug) ??
    fail(
      "not_found",
      `There is no provider ${JSON.stringify(slug.slice(0, 100))}. Similar slugs: ${near() || "none"}.`,
    )
  );
}

/** @throws GatewayError `not_found` for an unknown provider, `invalid_request` for one without a platform key. */
function requireServed(serving: Serving, slug: string): ServedProvider {
  const { name, env } = requireProvider(serving, slug);
  const served = serving.servedModels.provider(slug);
  if (served !== undefined && served.keys.length > 0) return served;
  const how = env.apiKey[0] === undefined ? "" : ` Set ${env.apiKey[0]}, or providers.${slug}.api_keys.`;
  return fail("invalid_request", `This gateway has no platform key for ${name}.${how}`);
}

/** @throws GatewayError `invalid_request`. */
function requireKey({ keys }: ServedProvider, id: string | undefined): ProviderKey {
  const found = id === undefined ? keys[0] : keys.find(({ label }) => label === id);
  const known = keys.map(({ label }) => label).join(", ");
  return found ?? fail("invalid_request", `key must be one of ${known}.`, { metadata: { field: "key" } });
}

/** @throws GatewayError `invalid_request` unless the provider has an endpoint of the model. */
function requireModel({ catalog, servedModels }: Serving, provider: ServedProvider, id: string): string {
  const model = catalog.find(id);
  const deployments = model === undefined ? [] : servedModels.allDeploymentsOf(model.id);
  if (model !== undefined && deployments.some((deployment) => deployment.provider === provider))
    return model.id;
  return fail("invalid_request", `model must be one that ${provider.record.name} serves here.`, {
    metadata: { field: "model" },
  });
}
