import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { credentialIdOf } from "../../../core/accounts/records/principal.ts";
import { presentTier } from "../../../core/catalog/tiers/present-tier.ts";
import { type ListedTier, TIER_SOURCES } from "../../../core/catalog/tiers/tier-manager.ts";
import { TIER_PREFIX } from "../../../core/catalog/tiers/tier-name.ts";
import type { TierRecord } from "../../../core/catalog/tiers/tier-records.ts";
import { tierSchema } from "../../../core/catalog/tiers/tier-schema.ts";
import { listNamedModels } from "../../../core/catalog/tiers/tiers.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { viewServed } from "./tier-views.ts";

const TAG = "Tiers";
const PATH = "/api/admin/tiers";

const TierInput = tierSchema.omit({ id: true });

const TierView = tierSchema
  .extend({
    id: z.string().describe("Id of the tier, `gateway-auto/…`."),
    source: z
      .enum(TIER_SOURCES)
      .describe(
        "Where the tier is defined. `catalog`: it ships with the program and can be replaced. `file`: in the configuration file; it cannot be changed here.",
      ),
    file: z.string().nullable().describe("The configuration file, if the tier is defined there."),
    line: z.int().nullable().describe("Line of the tier in the file."),
    updated_at: z.iso
      .datetime()
      .nullable()
      .describe(
        "Time at which the tier was stored. `null` for one that is not stored, and if that was more than 100 revisions ago.",
      ),
    replaces: z
      .array(z.enum(TIER_SOURCES))
      .describe("Other definitions of a tier with this id, which are not in force."),
    resolves_to: z
      .array(z.object({ when: z.string(), models: z.array(z.string()) }))
      .describe("The models of each case that are served here, in order of preference."),
    unknown_models: z
      .array(z.string())
      .describe("Models of the tier that the catalog does not have. They are skipped."),
  })
  .meta({ id: "Tier", description: "A model id that stands for a choice of models." });

const OfTier = z.object({
  id: z.string().meta({
    description: "Id of the tier, with or without `gateway-auto/`. Encode its slash as `%2F`.",
    examples: ["fast"],
  }),
});

/** `GET /api/admin/tiers`: the tiers in force. */
export const listTiers = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "List the tiers in force, where each is defined, and the served models that it resolves to",
  access: OPERATOR,
  response: z.object({ data: z.array(TierView) }),
  async handle({ deps }) {
    return { data: (await deps.resources.tierManager.list()).map((tier) => present(deps, tier)) };
  },
});

/** `GET /api/admin/tiers/{id}`: a tier in force. */
export const getTier = defineEndpoint({
  method: "GET",
  path: `${PATH}/:id`,
  tag: TAG,
  summary: "Retrieve a tier",
  access: OPERATOR,
  params: z.object({
    id: OfTier.shape.id.meta({ examples: ["free"] }),
  }),
  response: z.object({ data: TierView }),
  handle: async ({ params, deps }) => ({ data: await find(deps, params.id) }),
});

/** `PUT /api/admin/tiers/{id}`: stores a tier. */
export const putTier = defineEndpoint({
  method: "PUT",
  path: `${PATH}/:id`,
  tag: TAG,
  summary: "Create or replace a tier. All gateways use it within a second",
  access: OPERATOR,
  params: OfTier,
  body: TierInput.meta({
    id: "TierInput",
    description: "A tier without its id, which is in the path.",
    examples: [
      {
        name: "Fast",
        description: "Quick answers.",
        rule: {
          by: "balance",
          paid: { models: ["openai/gpt-5-mini"] },
          else: { models: ["openai/gpt-5-nano"] },
        },
      },
    ],
  }),
  response: z.object({ data: TierView }),
  async handle({ principal, params, body, deps, audit }) {
    const tier: TierRecord = { ...body, id: checkId(params.id) };
    const before = await deps.resources.tierManager.put(tier, credentialIdOf(principal));
    audit({ target: tier.id, changes: { before, after: tier } });
    return { data: await find(deps, tier.id) };
  },
});

/** `DELETE /api/admin/tiers/{id}`: deletes a stored tier. */
export const deleteTier = defineEndpoint({
  method: "DELETE",
  path: `${PATH}/:id`,
  tag: TAG,
  summary: "Delete a stored tier. If it replaced a tier of the catalog, that tier is in force again",
  access: OPERATOR,
  params: OfTier,
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true) }) }),
  async handle({ principal, params, deps, audit }) {
    const id = fullId(params.id);
    const before = await deps.resources.tierManager.remove(id, credentialIdOf(principal));
    audit({ target: id, changes: { before, after: null } });
    return { data: { id, deleted: true } };
  },
});

/** Returns a tier's whole id, in lower case. */
function fullId(id: string): string {
  const lower = id.toLowerCase();
  return lower.startsWith(TIER_PREFIX) ? lower : TIER_PREFIX + lower;
}

/** @throws GatewayError `invalid_request` for an id that no tier can have. */
function checkId(id: string): string {
  const { data, error } = tierSchema.shape.id.safeParse(fullId(id));
  return data ?? fail("invalid_request", `id: ${error?.issues[0]?.message}.`, { metadata: { field: "id" } });
}

/** @throws GatewayError `not_found`. */
async function find(deps: StoreDeps, id: string) {
  const tiers = await deps.resources.tierManager.list();
  const found = tiers.find(({ tier }) => tier.id === fullId(id));
  const known = tiers.map(({ tier }) => tier.id).join(", ");
  return found === undefined
    ? fail("not_found", `There is no tier ${JSON.stringify(id.slice(0, 100))}. The tiers are ${known}.`)
    : present(deps, found);
}

function present({ generation, clock }: StoreDeps, listed: ListedTier) {
  const { tier } = listed;
  const serving = generation.serving();
  const served = viewServed(serving, () => true);
  return {
    ...presentListedTier(listed),
    resolves_to: presentTier(tier, served, clock.now())?.resolves_to ?? [],
    unknown_models: listNamedModels(tier.rule).filter((id) => serving.catalog.find(id) === undefined),
  };
}

/** Returns a tier and where it is defined, as the management API and the commands show them. */
function presentListedTier({ tier, source, file, line, updatedAt, replaces }: ListedTier) {
  const updated_at = updatedAt === null ? null : new Date(updatedAt).toISOString();
  return { ...tier, source, file, line, updated_at, replaces };
}
