import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { credentialIdOf, type ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import type { NamedRoutes } from "../../../core/named-routes/named-routes.ts";
import { presentListedRoute, presentTargets } from "../../../core/named-routes/present-named-route.ts";
import type { ListedRoute, RouteAddress } from "../../../core/named-routes/route-manager.ts";
import { definitionSchema } from "../../../core/named-routes/route-schema.ts";
import { managedAccountOf, needs, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const TAG = "Named routes";
const PATH = "/api/admin/named-routes";

const DefinitionInput = definitionSchema.meta({
  id: "NamedRouteInput",
  description: "What a named route stands for.",
  examples: [{ kind: "alias", target: "openai/gpt-5-mini" }],
});

const NamedRouteView = z
  .object({
    name: z.string().describe("What clients send as `model`."),
    account_id: z
      .string()
      .nullable()
      .describe(
        "Account whose requests use the route. `null` means it is the operator's and applies to all requests.",
      ),
    definition: definitionSchema,
    source: z
      .enum(["database", "file"])
      .describe("`file`: the route is defined in the configuration file and cannot be changed here."),
    file: z.string().nullable(),
    line: z.int().nullable().describe("Line of the route in the file."),
    version: z
      .int()
      .nullable()
      .describe(
        "Version of a stored route, which increases with each change. For a route of the operator, the revision of the stored configuration that changed it last.",
      ),
    updated_at: z.iso.datetime().nullable(),
    is_used: z
      .boolean()
      .describe(
        "Whether requests with the name use the route. `false` means that the catalog has a model with the name, and `replaces_model` is not set.",
      ),
    resolves_to: z
      .array(z.string())
      .describe("Models and tiers that the route leads to, directly or through other routes."),
    unknown_models: z
      .array(z.string())
      .describe(
        "Names that the route leads to and that are neither models nor tiers. Requests for them are rejected.",
      ),
  })
  .meta({ id: "NamedRoute", description: "A name that clients can send as `model`." });

const OfRoute = z.object({
  name: z.string().meta({ description: "Name of the route. Encode a slash as `%2F`.", examples: ["gpt-4o"] }),
});

const OfOwner = z.strictObject({
  account_id: IdInput.optional().describe(
    "Account that owns the route. Defaults to the account of the key; for the operator's key, to the routes of the operator.",
  ),
});

/** The common parts of all endpoints of one named route. */
const ONE = { path: `${PATH}/:name`, tag: TAG, params: OfRoute, query: OfOwner } as const;

/** `GET /api/admin/named-routes`: the named routes of the operator, or of an account. */
export const listNamedRoutes = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "List the named routes of the operator or of an account, and what they lead to",
  access: needs("read"),
  query: OfOwner,
  response: z.object({ data: z.array(NamedRouteView) }),
  async handle({ principal, query, deps }) {
    const accountId = await findOwner(principal, query.account_id, deps);
    const own = await findOwn(deps, accountId);
    const listed = await deps.resources.routeManager.list(accountId);
    return { data: listed.map((one) => present(deps, one, own)) };
  },
});

/** `GET /api/admin/named-routes/{name}`: a named route. */
export const getNamedRoute = defineEndpoint({
  ...ONE,
  method: "GET",
  summary: "Retrieve a named route",
  access: needs("read"),
  response: z.object({ data: NamedRouteView }),
  async handle({ principal, params, query, deps }) {
    return { data: await find(deps, await findAddress(principal, params, query, deps)) };
  },
});

/** `PUT /api/admin/named-routes/{name}`: stores a named route. */
export const putNamedRoute = defineEndpoint({
  ...ONE,
  method: "PUT",
  summary: "Create or replace a named route. All gateways use it within a second",
  access: needs("manage"),
  body: DefinitionInput,
  response: z.object({ data: NamedRouteView }),
  async handle({ principal, params, query, body, deps, audit }) {
    const address = await findAddress(principal, params, query, deps);
    const before = await deps.resources.routeManager.put(address, body, credentialIdOf(principal));
    audit({ accountId: address.accountId, target: address.name, changes: { before, after: body } });
    return { data: await find(deps, address) };
  },
});

/** `DELETE /api/admin/named-routes/{name}`: deletes a stored named route. */
export const deleteNamedRoute = defineEndpoint({
  ...ONE,
  method: "DELETE",
  summary: "Delete a stored named route",
  access: needs("manage"),
  response: z.object({ data: z.object({ name: z.string(), deleted: z.literal(true) }) }),
  async handle({ principal, params, query, deps, audit }) {
    const address = await findAddress(principal, params, query, deps);
    const before = await deps.resources.routeManager.remove(address, credentialIdOf(principal));
    audit({ accountId: address.accountId, target: address.name, changes: { before, after: null } });
    return { data: { name: address.name, deleted: true } };
  },
});

/** `GET /api/admin/named-routes/{name}/versions`: the kept versions of a named route. */
export const listNamedRouteVersions = defineEndpoint({
  ...ONE,
  path: `${PATH}/:name/versions`,
  method: "GET",
  summary: "List the last versions of a stored named route, newest first",
  access: needs("read"),
  response: z.object({
    data: z.array(z.object({ version: z.int(), definition: definitionSchema, updated_at: z.iso.datetime() })),
  }),
  async handle({ principal, params, query, deps }) {
    const address = await findAddress(principal, params, query, deps);
    const versions = await deps.resources.routeManager.listVersions(address);
    return {
      data: versions.map(({ version, definition, updatedAt }) => ({
        version,
        definition,
        updated_at: new Date(updatedAt).toISOString(),
      })),
    };
  },
});

/** `POST /api/admin/named-routes/{name}/restore`: stores an earlier version again. */
export const restoreNamedRoute = defineEndpoint({
  ...ONE,
  path: `${PATH}/:name/restore`,
  method: "POST",
  summary: "Restore an earlier version of a named route, as its next version",
  access: needs("manage"),
  body: z.strictObject({ version: z.int().min(1).describe("The version to restore.") }),
  response: z.object({ data: NamedRouteView }),
  async handle({ principal, params, query, body, deps, audit }) {
    const address = await findAddress(principal, params, query, deps);
    const by = credentialIdOf(principal);
    const changes = await deps.resources.routeManager.restore(address, body.version, by);
    audit({ accountId: address.accountId, target: address.name, changes });
    return { data: await find(deps, address) };
  },
});

/** @throws GatewayError `not_found` for an account that does not exist or that the principal may not manage. */
async function findOwner(
  principal: ManagementPrincipal,
  asked: string | undefined,
  { callers: { accountCache } }: StoreDeps,
): Promise<string | null> {
  const accountId = asked === undefined ? managedAccountOf(principal) : requireOwnAccount(principal, asked);
  if (accountId === null || (await accountCache.account(accountId)) !== null) return accountId;
  return fail("not_found", "There is no account with that id.");
}

async function findAddress(
  principal: ManagementPrincipal,
  { name }: z.infer<typeof OfRoute>,
  { account_id }: z.infer<typeof OfOwner>,
  deps: StoreDeps,
): Promise<RouteAddress> {
  return { accountId: await findOwner(principal, account_id, deps), name: name.toLowerCase() };
}

/** @throws GatewayError `not_found`. */
async function find(deps: StoreDeps, { accountId, name }: RouteAddress) {
  const found = (await deps.resources.routeManager.list(accountId)).find(({ route }) => route.name === name);
  if (found !== undefined) return present(deps, found, await findOwn(deps, accountId));
  return fail("not_found", `There is no named route ${JSON.stringify(name.slice(0, 100))}.`);
}

async function findOwn({ generation }: StoreDeps, accountId: string | null): Promise<NamedRoutes | null> {
  return accountId === null ? null : generation.accounts.accountRoutes.of(accountId);
}

function present({ generation }: StoreDeps, listed: ListedRoute, own: NamedRoutes | null) {
  return {
    ...presentListedRoute(listed),
    ...presentTargets(listed.route, { sources: generation.serving(), own }),
  };
}
