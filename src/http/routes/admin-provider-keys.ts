import { z } from "zod";
import { fail } from "../../base/errors.ts";
import type { ManagementPrincipal } from "../../core/accounts/principal.ts";
import { tryProviderKey } from "../../core/generation/try-provider-key.ts";
import {
  changeProviderKey,
  createProviderKey,
  openProviderKey,
  presentProviderKey,
  removeProviderKey,
  requireProviderKey,
} from "../../core/provider-keys/manage-provider-keys.ts";
import type { ProviderKeyRecord } from "../../core/provider-keys/records.ts";
import { ACCOUNT_MANAGERS, requireOwnAccount } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { PAGE_QUERY, pageView } from "../api/pages.ts";
import type { HttpDeps } from "../context/context.ts";

const TAG = "Provider keys";
const PATH = "/api/admin/accounts/:id/provider-keys";

const ProviderKeyView = z
  .object({
    id: z.string(),
    account_id: z.string(),
    provider: z.string(),
    name: z.string(),
    last_four: z.string().describe("The last characters of its secret"),
    order: z.int().describe("Keys of one provider are tried from the lowest on"),
    enabled: z.boolean(),
    readable: z
      .boolean()
      .describe(
        "Whether the gateway can open the secret. `false`: the master key that sealed it is missing or has changed, and requests that need the key fail with 503. Store the key again, or restore the master key.",
      ),
    models: z.array(z.string()).nullable().describe("Patterns of the models it serves; null: all"),
    members: z.array(z.string()).nullable().describe("The users it serves; null: all, and service keys"),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
    last_error: z.object({ message: z.string(), at: z.iso.datetime() }).nullable(),
  })
  .meta({ id: "ProviderKey", description: "A key at a provider that an account brings, without its secret" });

const OfAccount = z.object({ id: z.string() });
const OfKey = z.object({ id: z.string(), key_id: z.string() });

/** Patterns, or users' ids. */
const list = z.array(z.string().min(1).max(256)).min(1).max(100);
/** A service account's file is the longest that there is. Characters. */
const secret = z.string().trim().min(8).max(16_384);

const wish = {
  name: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({ description: "What it is for", examples: ["Ours"] })
    .optional(),
  order: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe("Keys of one provider are tried from the lowest on. Default: behind those that are there"),
  enabled: z.boolean().optional().describe("false: it is not used. Default: true"),
  models: list.nullish().describe("Patterns of the models it serves, `*` for any characters; null: all"),
  members: list.nullish().describe("Ids of the users it serves; null: all, and service keys"),
};

/** `GET /api/admin/accounts/{id}/provider-keys`: the account's own keys, by provider and order, without secrets. */
export const listProviderKeys = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "The account's own keys at providers, by provider and order, without secrets",
  access: ACCOUNT_MANAGERS,
  params: OfAccount,
  query: z.strictObject(PAGE_QUERY),
  body: NOTHING,
  response: pageView(ProviderKeyView),
  async handle({ principal, params, query, deps }) {
    const accountId = await requireAccount(principal, params.id, deps);
    await deps.providerKeyStores.ring.saveUses();
    const keys = await deps.providerKeyStores.store.listProviderKeys(accountId);
    const page = takePage(keys, query.after, query.limit);
    const next = page.at(-1)?.id === keys.at(-1)?.id ? null : (page.at(-1)?.id ?? null);
    return { data: page.map((key) => presentProviderKey(deps.providerKeyStores, key)), next };
  },
});

/** `POST /api/admin/accounts/{id}/provider-keys`: stores a key. Its secret is shown in no answer. */
export const postProviderKey = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Store a key at a provider; its secret is never shown again",
  access: ACCOUNT_MANAGERS,
  params: OfAccount,
  query: NOTHING,
  body: z.strictObject({
    provider: z
      .string()
      .min(1)
      .max(100)
      .meta({ description: "The provider's slug", examples: ["openai"] }),
    key: secret.meta({ description: "The secret; no answer shows it", examples: ["sk-0123456789abcdef"] }),
    ...wish,
  }),
  response: z.object({ data: ProviderKeyView }),
  status: 201,
  async handle({ principal, params, body, deps }) {
    const accountId = await requireAccount(principal, params.id, deps);
    const { provider, key, ...rest } = body;
    const wanted = { ...rest, accountId, provider, secret: key };
    return {
      data: presentProviderKey(
        deps.providerKeyStores,
        await createProviderKey(deps.providerKeyStores, deps.generation.serving(), wanted),
      ),
    };
  },
});

/** `PATCH /api/admin/accounts/{id}/provider-keys/{key_id}`: changes what is given; `key` replaces the secret. */
export const patchProviderKey = defineEndpoint({
  method: "PATCH",
  path: `${PATH}/:key_id`,
  tag: TAG,
  summary: "Change a key at a provider, or replace its secret",
  access: ACCOUNT_MANAGERS,
  params: OfKey,
  query: NOTHING,
  body: z.strictObject({ key: secret.optional().describe("Replaces the secret"), ...wish }),
  response: z.object({ data: ProviderKeyView }),
  async handle({ principal, params, body, deps }) {
    const found = await findKey(principal, params, deps);
    const { key, ...rest } = body;
    const changed = await changeProviderKey(deps.providerKeyStores, deps.generation.serving(), found, {
      ...rest,
      secret: key,
    });
    return { data: presentProviderKey(deps.providerKeyStores, changed) };
  },
});

/** `DELETE /api/admin/accounts/{id}/provider-keys/{key_id}`: forgets a key and its secret. */
export const deleteProviderKey = defineEndpoint({
  method: "DELETE",
  path: `${PATH}/:key_id`,
  tag: TAG,
  summary: "Forget a key at a provider; no further request is made with it",
  access: ACCOUNT_MANAGERS,
  params: OfKey,
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true) }) }),
  async handle({ principal, params, deps }) {
    const { id } = await findKey(principal, params, deps);
    await removeProviderKey(deps.providerKeyStores, id);
    return { data: { id, deleted: true } };
  },
});

/** `POST /api/admin/accounts/{id}/provider-keys/{key_id}/test`: asks the provider for one token with it. */
export const testProviderKey = defineEndpoint({
  method: "POST",
  path: `${PATH}/:key_id/test`,
  tag: TAG,
  summary: "Ask the provider for one token with a key",
  access: ACCOUNT_MANAGERS,
  params: OfKey,
  query: NOTHING,
  body: NOTHING,
  response: z.object({
    data: z.object({
      status: z
        .enum(["ok", "refused", "out_of_reach"])
        .describe("refused: the provider did not take it, or its account there has no credit"),
      message: z.string(),
      model: z.string().nullable().describe("The model that was asked"),
    }),
  }),
  async handle({ principal, params, deps }) {
    const found = await findKey(principal, params, deps);
    const { provider, key } = openProviderKey(deps.providerKeyStores, rosterOf(deps), found);
    const trial = await tryProviderKey(
      deps.generation,
      deps.generation.serving(),
      provider,
      key,
      found.models,
    );
    const at = deps.clock.now();
    const error = trial.status === "ok" ? null : { message: trial.message, at };
    deps.providerKeyStores.ring.recordUse({ id: found.id, usedAt: at, error });
    return { data: trial };
  },
});

function rosterOf({ generation }: HttpDeps) {
  return generation.serving().servedModels;
}

/** @throws GatewayError `not_found` for an account that there is not, or that is another's. */
async function requireAccount(
  principal: ManagementPrincipal,
  id: string,
  { accountCache }: HttpDeps,
): Promise<string> {
  const accountId = requireOwnAccount(principal, id);
  const account = await accountCache.account(accountId);
  return account === null ? fail("not_found", "There is no account with that id.") : accountId;
}

async function findKey(
  principal: ManagementPrincipal,
  { id, key_id }: z.infer<typeof OfKey>,
  deps: HttpDeps,
): Promise<ProviderKeyRecord> {
  const accountId = await requireAccount(principal, id, deps);
  return requireProviderKey(deps.providerKeyStores.store, accountId, key_id);
}

/** @throws GatewayError for a key to go on behind that is not there any more. */
function takePage(
  keys: readonly ProviderKeyRecord[],
  after: string | undefined,
  limit: number,
): readonly ProviderKeyRecord[] {
  if (after === undefined) return keys.slice(0, limit);
  const at = keys.findIndex(({ id }) => id === after);
  if (at < 0) fail("invalid_request", "after: there is no such key.", { metadata: { field: "after" } });
  return keys.slice(at + 1, at + 1 + limit);
}
