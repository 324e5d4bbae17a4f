import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { principalOfAccount, principalOfKey } from "../../../core/accounts/memory/inference-principal.ts";
import type { AccountPrincipal, ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../../core/accounts/records/records.ts";
import type { TierRecord } from "../../../core/catalog/tiers/tier-records.ts";
import { tierSchema } from "../../../core/catalog/tiers/tier-schema.ts";
import type { GenerationDeps } from "../../../core/generation/call/call.ts";
import { createNamedRoutes } from "../../../core/named-routes/named-routes.ts";
import { definitionSchema, findNameFault } from "../../../core/named-routes/route-schema.ts";
import { explainRoute } from "../../../core/questions/explain-route.ts";
import { CLIENT_APIS } from "../../../wire/client-apis/client-apis.ts";
import type { ClientApi } from "../../../wire/client-apis/request/inference-request.ts";
import { managedAccountOf, needs, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { RouteExplanation } from "../../api/route-explanation.ts";
import type { HttpDeps } from "../../context/context.ts";
import { parseWithPreset } from "../../inference/parse-with-preset.ts";

const MAX_HEADERS = 50;

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, "must be the name of a header");
const headerValue = z
  .string()
  .regex(/^[\x20-\x7e]{0,1000}$/, "must be printable ASCII of at most 1000 characters");

const ExplainBody = z.strictObject({
  api: z
    .enum(Object.keys(CLIENT_APIS) as [ClientApi, ...ClientApi[]])
    .default("chat.completions")
    .describe("Client API of the request."),
  key_id: IdInput.optional().describe("Explain the request as if it were sent with this inference key."),
  account_id: IdInput.optional().describe(
    "Explain the request as if this account sent it, with a key without restrictions. Defaults to the caller's own account.",
  ),
  headers: z
    .record(headerName, headerValue)
    .refine(
      (headers) => Object.keys(headers).length <= MAX_HEADERS,
      `must not have more than ${MAX_HEADERS} headers`,
    )
    .default({})
    .describe("Headers of the request, by which tiers may choose."),
  tier: tierSchema
    .optional()
    .describe("A tier to try, which is not stored. It replaces the tier in force with its id."),
  named_route: z
    .strictObject({ name: z.string().max(BOUNDS.modelIdChars), definition: definitionSchema })
    .optional()
    .describe(
      "A named route to try, which is not stored. It replaces the one with its name: of the operator, or of the account if the caller is not the operator or the route is a preset.",
    ),
  request: z.record(z.string(), z.unknown()).meta({
    description: "The body of the request. Its `model` defaults to the id of `tier`.",
    examples: [{ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] }],
  }),
});

/** `POST /api/admin/route/explain`: explains how a request of a key or account would be routed. */
export const explainRouteOf = defineEndpoint({
  method: "POST",
  path: "/api/admin/route/explain",
  tag: "Tiers",
  summary:
    "Explain how a request of a key or an account would be routed, also with a tier that is not stored",
  needs: "gateway",
  access: needs("read"),
  body: ExplainBody,
  response: z.object({
    data: RouteExplanation,
  }),
  errors: ["invalid_model", "context_length_exceeded", "insufficient_credits", "model_not_allowed"],
  changesNothing: true,
  async handle({ principal, body, deps }) {
    const { api, tier, named_route: route } = body;
    const caller = await findCaller(deps, principal, body);
    const tried = tier?.id ?? route?.name;
    const request = tried === undefined ? body.request : { model: tried, ...body.request };
    const headers = new Headers(body.headers);
    const bytes = Buffer.from(JSON.stringify(request));
    const generation = withRoute(withTier(deps.generation, tier), route, principal);
    const { request: parsed, preset } = await parseWithPreset(
      generation,
      { api, parse: (body) => CLIENT_APIS[api].parse(body, deps.clients.renameModel, headers) },
      { body: bytes, principal: caller },
    );
    const call = { principal: caller, request: parsed, preset, headers };
    return { data: await explainRoute(generation, call) };
  },
});

type Named = Pick<z.infer<typeof ExplainBody>, "key_id" | "account_id">;

async function findCaller(
  {
    resources: {
      keyStores: { keys },
    },
    callers: { accountCache: accounts },
  }: HttpDeps,
  principal: ManagementPrincipal,
  { key_id, account_id }: Named,
): Promise<AccountPrincipal> {
  const own = managedAccountOf(principal);
  if (key_id !== undefined)
    return principalOfKey({ keys, accounts }, key_id, (id) => own === null || own === id);
  const accountId = account_id ?? own ?? DEFAULT_ACCOUNT_ID;
  return principalOfAccount(accounts, requireOwnAccount(principal, accountId));
}

/** Returns the dependencies of a generation with a tier that replaces the one in force. */
function withTier(generation: GenerationDeps, tier: TierRecord | undefined): GenerationDeps {
  if (tier === undefined) return generation;
  const serving = generation.serving();
  const { tiers } = serving;
  const find = (id: string) => (id.toLowerCase() === tier.id ? tier : tiers.find(id));
  return { ...generation, serving: () => ({ ...serving, tiers: { ...tiers, find } }) };
}

/**
 * Returns the dependencies of a generation with a named route that replaces the one in force.
 * @throws GatewayError `invalid_request` for a name that such a route cannot have.
 */
function withRoute(
  generation: GenerationDeps,
  tried: z.infer<typeof ExplainBody>["named_route"],
  principal: ManagementPrincipal,
): GenerationDeps {
  if (tried === undefined) return generation;
  const { definition } = tried;
  const name = tried.name.toLowerCase();
  const fault = findNameFault(name, definition.kind);
  if (fault !== null)
    fail("invalid_request", `named_route.name: ${fault}.`, { metadata: { field: "named_route" } });
  const route = { name, definition, version: null, updatedAt: null };
  if (principal.kind === "operator" && definition.kind !== "preset") {
    const serving = generation.serving();
    const namedRoutes = createNamedRoutes([...serving.namedRoutes.list, { ...route, accountId: null }]);
    return { ...generation, serving: () => ({ ...serving, namedRoutes }) };
  }
  const {
    accounts: { accountRoutes },
  } = generation;
  const of = async (accountId: string) => {
    const own = await accountRoutes.of(accountId);
    return createNamedRoutes([...(own?.list ?? []), { ...route, accountId }]);
  };
  return { ...generation, accounts: { ...generation.accounts, accountRoutes: { ...accountRoutes, of } } };
}
