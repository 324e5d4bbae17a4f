import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { changeKey, issueKey, presentKey } from "../../core/accounts/manage-keys.ts";
import type { ManagementPrincipal } from "../../core/accounts/principal.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../../core/accounts/records.ts";
import {
  ACCOUNT_MANAGERS,
  ACCOUNT_READERS,
  listedAccountOf,
  managedAccountOf,
  requireOwnAccount,
  requireRank,
} from "../api/access.ts";
import { DollarsField, IdField, NameField, nanodollarsOf, PatternsField } from "../api/account-fields.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../api/pages.ts";
import { RateLimitField, RateLimitView, readRateLimit } from "../api/rate-limit-field.ts";
import type { HttpDeps } from "../context/context.ts";

const KeyView = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(["inference", "management"]),
    hint: z.string().describe("Its first and last characters"),
    account_id: z.string().describe("Whose it is"),
    user_id: z
      .string()
      .nullable()
      .describe("Of an organization's key: the member whose it is; null: a service key"),
    spend_limit: z
      .number()
      .nullable()
      .describe("US dollars that may be spent through it in all; null: no limit"),
    models: z.array(z.string()).nullable().describe("Patterns of the models it may call; null: all"),
    rate_limit: RateLimitView,
    rate_limit_set_by: z
      .enum(["operator", "account"])
      .nullable()
      .describe("The operator's stands in place of what is configured, the account's can only tighten it"),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().describe("When it ends; null: never"),
    revoked_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "Key", description: "A key of the gateway, without its secret" });

/** What can be said of a key when it is made, and changed later. */
const KEY_SETTINGS = {
  spend_limit: DollarsField.nullish().describe(
    "US dollars that may be spent through it in all; null: no limit",
  ),
  models: PatternsField.nullish().describe("The models it may call, `*` for any characters; null: all"),
  rate_limit: RateLimitField.optional().describe(
    "Its own; null: as configured. The operator's stands in place of what is configured, the account's can only tighten it",
  ),
  expires_at: z.iso.datetime({ offset: true }).nullish().describe("When it ends; null: never"),
};

/** `POST /api/admin/keys`: makes a key. The answer is the only place where its secret is shown. */
export const postKey = defineEndpoint({
  method: "POST",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "Make a key; the answer alone shows it",
  access: ACCOUNT_MANAGERS,
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject({
    name: NameField,
    kind: z
      .enum(["inference", "management"])
      .default("inference")
      .describe("inference calls models, management manages"),
    account_id: IdField.optional().describe("Whose it is. Default: the caller's own account"),
    user_id: IdField.nullish().describe(
      "Of an organization's key: the member whose it is. Default: none, a service key",
    ),
    ...KEY_SETTINGS,
  }),
  response: z.object({ key: z.string().describe("The secret: shown here and nowhere else"), data: KeyView }),
  status: 201,
  answersSecret: true,
  async handle({ principal, body, deps, note }) {
    const own = managedAccountOf(principal) ?? DEFAULT_ACCOUNT_ID;
    const accountId = requireOwnAccount(principal, body.account_id ?? own);
    const ownUserId = principal.kind === "key" ? principal.key.userId : null;
    const { name, kind, user_id: userId = null } = body;
    // A key of somebody above would make its maker more than they are, also when that somebody rises later.
    if (kind === "management" && (userId === null || userId !== ownUserId)) requireRank(principal, "owner");
    const { secret, key } = await issueKey(deps.keyStores, deps.generation.serving, {
      name,
      kind,
      accountId,
      userId,
      spendLimit: nanodollarsOf(body.spend_limit) ?? null,
      models: body.models ?? null,
      rateLimit: readKeyRateLimit(principal, body.rate_limit),
      expiresAt: readTime(body.expires_at) ?? null,
    });
    deps.keyCache.forget();
    note({ accountId, target: key.id, changes: { ...body, account_id: accountId } });
    return { key: secret, data: presentKey(key) };
  },
});

/** `GET /api/admin/keys`: the keys that the caller may see, newest first, without secrets. */
export const listKeys = defineEndpoint({
  method: "GET",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "Keys, newest first, without secrets",
  access: ACCOUNT_READERS,
  params: NOTHING,
  query: z.strictObject({ ...PAGE_QUERY, account_id: IdField.optional().describe("Of one account alone") }),
  body: NOTHING,
  response: pageView(KeyView),
  handle({ principal, query, deps }) {
    const accountId = listedAccountOf(principal, query.account_id);
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.keyStores.keys.listKeys({
          limit,
          ...(accountId === null ? {} : { accountId }),
          ...(query.after === undefined ? {} : { afterId: query.after }),
        }),
      describe: presentKey,
      cursorOf: ({ id }) => id,
    });
  },
});

/** `PATCH /api/admin/keys/{id}`: changes a key's name, spending limit, models, rate limit or end. */
export const patchKey = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Change a key's name, spending limit, models, rate limit or end",
  access: ACCOUNT_MANAGERS,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: z.strictObject({
    name: NameField.optional(),
    ...KEY_SETTINGS,
  }),
  response: z.object({ data: KeyView }),
  async handle({ principal, params, body, deps, note }) {
    const found = await findOwnKey(deps, principal, params.id);
    const key = await changeKey(deps.keyStores, deps.generation.serving, found, {
      name: body.name,
      spendLimit: nanodollarsOf(body.spend_limit),
      models: body.models,
      rateLimit: readKeyRateLimit(principal, body.rate_limit),
      expiresAt: readTime(body.expires_at),
    });
    deps.keyCache.forget();
    note({ accountId: key.accountId, target: key.id, changes: body });
    return { data: presentKey(key) };
  },
});

/** `DELETE /api/admin/keys/{id}`: revokes a key; requests with it are refused from now on. */
export const deleteKey = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Revoke a key; requests with it are refused from now on",
  access: ACCOUNT_MANAGERS,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: KeyView }),
  async handle({ principal, params, deps, note }) {
    const found = await findOwnKey(deps, principal, params.id);
    const key = (await deps.keyStores.keys.revokeKey(found.id, deps.clock.now())) ?? refuseUnknownKey();
    deps.keyCache.forget();
    note({ accountId: key.accountId, target: key.id, changes: { revoked: true } });
    return { data: presentKey(key) };
  },
});

/** A key that the caller may change. */
async function findOwnKey(deps: HttpDeps, principal: ManagementPrincipal, id: string): Promise<KeyRecord> {
  const key = await deps.keyStores.keys.findKey(id);
  if (key === null || !(principal.kind === "operator" || key.accountId === principal.account.id))
    return refuseUnknownKey();
  if (key.kind === "management") await requireRankOfKey(deps, principal, key);
  return key;
}

/** A management key is worth its user's role, and without a user an owner's: nobody changes one above theirs. */
async function requireRankOfKey(
  deps: HttpDeps,
  principal: ManagementPrincipal,
  { accountId, userId }: Pick<KeyRecord, "accountId" | "userId">,
): Promise<void> {
  const member = userId === null ? null : await deps.keyStores.accounts.findMember(accountId, userId);
  requireRank(principal, userId === null ? "owner" : (member?.role ?? "member"));
}

function refuseUnknownKey(): never {
  return fail("not_found", "There is no key with that id. GET /api/admin/keys lists them.");
}

function readKeyRateLimit(principal: ManagementPrincipal, field: Parameters<typeof readRateLimit>[0]) {
  const limit = readRateLimit(field);
  const setBy: "operator" | "account" = principal.kind === "operator" ? "operator" : "account";
  return limit === undefined ? undefined : { limit, setBy };
}

function readTime<Time extends string | null | undefined>(time: Time) {
  return typeof time === "string" ? Date.parse(time) : (time as Exclude<Time, string>);
}
