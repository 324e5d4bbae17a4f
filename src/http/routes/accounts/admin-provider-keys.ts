import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { changeShape, readFields } from "../../../core/accounts/fields/resource-fields.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import {
  changeProviderKey,
  createProviderKey,
  openProviderKey,
  presentProviderKey,
  removeProviderKey,
  requireProviderKey,
} from "../../../core/provider-keys/manage-provider-keys.ts";
import { PROVIDER_KEY_SETTINGS, ProviderKeyView } from "../../../core/provider-keys/provider-key-fields.ts";
import type { ProviderKeyRecord } from "../../../core/provider-keys/records.ts";
import { KeyTrialView, presentTrial } from "../../../core/questions/key-trial-view.ts";
import { listOpenedModels, tryProviderKey } from "../../../core/questions/try-provider-key.ts";
import { needs, OPERATOR, requireOwnAccount } from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const TAG = "Provider keys";
const PATH = "/api/admin/accounts/:id/provider-keys";

const OfAccount = z.object({ id: z.string() });
const OfKey = z.object({ id: z.string(), key_id: z.string() });

/** A secret. The longest kind is the JSON file of a service account. */
const secret = z.string().trim().min(8).max(16_384);

const SETTINGS = changeShape(PROVIDER_KEY_SETTINGS);

/** `GET /api/admin/accounts/{id}/provider-keys`: the account's own provider keys, without secrets. */
export const listProviderKeys = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "List the account's own provider keys (BYOK) by provider and order, without secrets",
  access: needs("inspect"),
  params: OfAccount,
  query: z.strictObject(PAGE_QUERY),
  response: pageView(ProviderKeyView),
  async handle({ principal, params, query, deps }) {
    const accountId = await requireAccount(principal, params.id, deps);
    await deps.resources.providerKeyStores.cache.saveUses();
    const keys = await deps.resources.providerKeyStores.store.listProviderKeys(accountId);
    const page = takePage(keys, query.after, query.limit);
    const next = page.at(-1)?.id === keys.at(-1)?.id ? null : (page.at(-1)?.id ?? null);
    return { data: page.map((key) => presentProviderKey(deps.resources.providerKeyStores, key)), next };
  },
});

/** `GET /api/admin/provider-keys`: the own provider keys of all accounts, without secrets. */
export const listAllProviderKeys = defineEndpoint({
  method: "GET",
  path: "/api/admin/provider-keys",
  tag: TAG,
  summary: "List the own provider keys (BYOK) of all accounts by id, without secrets",
  access: OPERATOR,
  query: z.strictObject(PAGE_QUERY),
  response: pageView(ProviderKeyView),
  async handle({ query, deps }) {
    const { store, cache } = deps.resources.providerKeyStores;
    await cache.saveUses();
    return makePage({
      limit: query.limit,
      load: (limit) => store.listSealedByOthers(null, query.after ?? null, limit),
      present: (keys) => keys.map((key) => presentProviderKey(deps.resources.providerKeyStores, key)),
      cursorOf: ({ id }) => id,
    });
  },
});

/** `POST /api/admin/accounts/{id}/provider-keys`: stores a provider key. No response contains its secret. */
export const postProviderKey = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Store a provider key (BYOK). No response contains its secret",
  access: needs("manage"),
  params: OfAccount,
  body: z.strictObject({
    provider: z
      .string()
      .min(1)
      .max(100)
      .meta({ description: "Slug of the provider.", examples: ["openai"] }),
    key: secret.meta({
      description: "The secret of the key. No response contains it.",
      examples: ["sk-0123456789abcdef"],
    }),
    ...SETTINGS,
  }),
  response: z.object({ data: ProviderKeyView }),
  status: 201,
  async handle({ principal, params, body, deps, audit }) {
    const accountId = await requireAccount(principal, params.id, deps);
    const { key: secret, ...shown } = body;
    const { provider } = body;
    const wanted = { ...readFields(PROVIDER_KEY_SETTINGS, body), accountId, provider, secret };
    const key = await createProviderKey(deps.resources.providerKeyStores, deps.generation.serving(), wanted);
    audit({ accountId, target: key.id, changes: { ...shown, account_id: accountId } });
    return { data: presentProviderKey(deps.resources.providerKeyStores, key) };
  },
});

/** `PATCH /api/admin/accounts/{id}/provider-keys/{key_id}`: changes a provider key; `key` replaces the secret. */
export const patchProviderKey = defineEndpoint({
  method: "PATCH",
  path: `${PATH}/:key_id`,
  tag: TAG,
  summary: "Update a provider key or replace its secret. Omitted fields keep their value",
  access: needs("manage"),
  params: OfKey,
  body: z.strictObject({ key: secret.optional().describe("Replaces the secret of the key."), ...SETTINGS }),
  response: z.object({ data: ProviderKeyView }),
  async handle({ principal, params, body, deps, audit }) {
    const found = await findKey(principal, params, deps);
    const { key: secret, ...shown } = body;
    const change = { ...readFields(PROVIDER_KEY_SETTINGS, body), secret };
    const changed = await changeProviderKey(deps.resources.providerKeyStores, deps.generation.serving(), {
      key: found,
      change,
    });
    const before = presentProviderKey(deps.resources.providerKeyStores, found);
    const after = presentProviderKey(deps.resources.providerKeyStores, changed);
    const changes = {
      ...describeChange(shown, before, after),
      ...(secret === undefined ? {} : { secret: true }),
    };
    audit({ accountId: found.accountId, target: found.id, changes });
    return { data: after };
  },
});

/** `DELETE /api/admin/accounts/{id}/provider-keys/{key_id}`: deletes a provider key and its secret. */
export const deleteProviderKey = defineEndpoint({
  method: "DELETE",
  path: `${PATH}/:key_id`,
  tag: TAG,
  summary: "Delete a provider key. No further requests are made with it",
  access: needs("manage"),
  params: OfKey,
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true) }) }),
  async handle({ principal, params, deps, audit }) {
    const key = await findKey(principal, params, deps);
    await removeProviderKey(deps.resources.providerKeyStores, key);
    const { id, accountId } = key;
    audit({ accountId, target: id, changes: { deleted: true } });
    return { data: { id, deleted: true } };
  },
});

/** `POST /api/admin/accounts/{id}/provider-keys/{key_id}/test`: requests one token from the provider with a key. */
export const testProviderKey = defineEndpoint({
  method: "POST",
  path: `${PATH}/:key_id/test`,
  tag: TAG,
  summary: "Test a provider key with a request for one token",
  access: needs("manage"),
  params: OfKey,
  response: z.object({
    data: KeyTrialView.extend({
      models: z.array(z.string()).describe("Ids of the models that the key gives access to."),
    }),
  }),
  async handle({ principal, params, deps, audit }) {
    const found = await findKey(principal, params, deps);
    audit({ accountId: found.accountId, target: found.id });
    const { provider, key } = openProviderKey(deps.resources.providerKeyStores, servedModelsOf(deps), found);
    const { generation } = deps;
    const { models } = found;
    const serving = generation.serving();
    const tried = { provider, key, models };
    const trial = await tryProviderKey(generation, serving, tried);
    const at = deps.clock.now();
    const error = trial.status === "ok" ? null : { message: trial.message, at };
    deps.resources.providerKeyStores.cache.recordUse({ id: found.id, usedAt: at, error });
    return { data: { ...presentTrial(trial), models: listOpenedModels(serving, tried) } };
  },
});

function servedModelsOf({ generation }: StoreDeps) {
  return generation.serving().servedModels;
}

/** @throws GatewayError `not_found` for an account that does not exist or that the principal may not manage. */
async function requireAccount(
  principal: ManagementPrincipal,
  id: string,
  { callers: { accountCache } }: StoreDeps,
): Promise<string> {
  const accountId = requireOwnAccount(principal, id);
  const account = await accountCache.account(accountId);
  return account === null ? fail("not_found", "There is no account with that id.") : accountId;
}

async function findKey(
  principal: ManagementPrincipal,
  { id, key_id }: z.infer<typeof OfKey>,
  deps: StoreDeps,
): Promise<ProviderKeyRecord> {
  const accountId = await requireAccount(principal, id, deps);
  return requireProviderKey(deps.resources.providerKeyStores.store, accountId, key_id);
}

/**
 * Returns the page after the key with the id `after`.
 * @throws GatewayError `invalid_request` if there is no such key.
 */
function takePage(
  keys: readonly ProviderKeyRecord[],
  after: string | undefined,
  limit: number,
): readonly ProviderKeyRecord[] {
  if (after === undefined) return keys.slice(0, limit);
  const at = keys.findIndex(({ id }) => id === after);
  if (at < 0)
    fail("invalid_request", "after must be the `next` of a previous page.", { metadata: { field: "after" } });
  return keys.slice(at + 1, at + 1 + limit);
}
