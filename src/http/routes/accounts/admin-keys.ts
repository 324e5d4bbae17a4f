import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { toDollars } from "../../../base/numbers/money.ts";
import { DAY_MS } from "../../../base/time/time.ts";
import { KEY_IDENTITY, KEY_SETTINGS, KeyView, presentKey } from "../../../core/accounts/fields/key-fields.ts";
import {
  changeShape,
  IdInput,
  readFields,
  SearchInput,
} from "../../../core/accounts/fields/resource-fields.ts";
import { changeKey, issueKey, type KeyChange } from "../../../core/accounts/manage/manage-keys.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../../../core/accounts/records/records.ts";
import {
  ACCOUNT_MANAGERS,
  ACCOUNT_MEMBERS,
  listedAccountOf,
  listedUserOf,
  managedAccountOf,
  mayRead,
  requireOwnAccount,
  requireRank,
} from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const CHANGE_SHAPE = changeShape(KEY_SETTINGS);
const ChangeBody = z.strictObject(CHANGE_SHAPE);
const NewBody = z.strictObject({
  ...CHANGE_SHAPE,
  name: KEY_SETTINGS.name.input,
  kind: KEY_IDENTITY.kind.input.default("inference"),
  account_id: KEY_IDENTITY.account_id.input
    .optional()
    .describe("Id of the account that owns the key and pays for its use. Default: the caller's own account."),
  user_id: KEY_IDENTITY.user_id.input
    .optional()
    .describe(
      "For an organization's key: id of the member whose key it is. Default: `null`, a service key of the organization.",
    ),
});

/** `POST /api/admin/keys`: creates a key. Only this response contains its secret. */
export const postKey = defineEndpoint({
  method: "POST",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "Create a key. Only this response contains the secret",
  access: ACCOUNT_MANAGERS,
  body: NewBody,
  response: z.object({
    key: z.string().describe("The secret of the key. It is not stored and cannot be retrieved again."),
    data: KeyView,
  }),
  status: 201,
  respondsWithSecret: true,
  async handle({ principal, body, deps, audit }) {
    const own = managedAccountOf(principal) ?? DEFAULT_ACCOUNT_ID;
    const accountId = requireOwnAccount(principal, body.account_id ?? own);
    const { name, kind, user_id: userId = null } = body;
    if (kind === "management") requireManagementKeyOf(principal, userId);
    const wanted = { ...readChange(principal, body), name, kind, accountId, userId };
    const { secret, key } = await issueKey(deps.resources.keyStores, deps.generation.serving, wanted);
    deps.callers.keyCache.changed(key);
    audit({ accountId, target: key.id, changes: { ...body, account_id: accountId } });
    return { key: secret, data: presentKey(key) };
  },
});

/**
 * Rejects a management key for another user, unless an owner creates it: that user may have a higher role, now or later.
 * @throws GatewayError `permission_denied`.
 */
function requireManagementKeyOf(principal: ManagementPrincipal, userId: string | null): void {
  const ownUserId = principal.kind === "key" ? principal.key.userId : null;
  if (userId === null || userId !== ownUserId) requireRank(principal, "owner");
}

/** `GET /api/admin/keys`: the keys that the principal may read, newest first, without secrets. */
export const listKeys = defineEndpoint({
  method: "GET",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "List keys, newest first, without secrets",
  access: ACCOUNT_MEMBERS,
  query: z.strictObject({
    ...PAGE_QUERY,
    account_id: IdInput.optional().describe("Only the keys of this account."),
    user_id: IdInput.optional().describe("Only the keys of this user."),
    name: z.string().min(1).max(200).optional().describe("Only the keys with this name (case-insensitive)."),
    search: SearchInput.optional().describe(
      "Only keys whose name or hint contains this text (case-insensitive).",
    ),
    unused: z
      .string()
      .regex(/^(never|[1-9]\d{0,3}d)$/, 'must be "never" or a number of days such as "30d"')
      .optional()
      .meta({
        description:
          "Only keys that are not revoked and are not in use: `never` used, or neither created nor used for a number of days, such as `30d`.",
        examples: ["30d"],
      }),
  }),
  response: pageView(KeyView),
  handle({ principal, query, deps }) {
    const accountId = listedAccountOf(principal, query.account_id);
    const userId = listedUserOf(principal, query.user_id);
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.resources.keyStores.keys.listKeys({
          limit,
          ...(accountId === null ? {} : { accountId }),
          ...(userId === null ? {} : { userId }),
          ...(query.name === undefined ? {} : { name: query.name }),
          ...(query.search === undefined ? {} : { search: query.search }),
          ...(query.unused === undefined ? {} : { unused: readUnused(query.unused, deps.clock.now()) }),
          ...(query.after === undefined ? {} : { afterId: query.after }),
        }),
      present: (keys) => keys.map(presentKey),
      cursorOf: ({ id }) => id,
    });
  },
});

function readUnused(unused: string, now: number): { readonly before: number | null } {
  return { before: unused === "never" ? null : now - Number.parseInt(unused, 10) * DAY_MS };
}

/** `GET /api/admin/keys/{id}`: a key, and the amount spent with it. */
export const getManagedKey = defineEndpoint({
  method: "GET",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Retrieve a key without its secret, and the amount spent with it",
  access: ACCOUNT_MEMBERS,
  params: z.object({ id: IdInput }),
  response: z.object({
    data: KeyView.extend({
      usage: z.number().describe("US dollars spent with the key."),
      usage_nanodollars: z.int(),
    }),
  }),
  async handle({ principal, params, deps }) {
    const key = await deps.resources.keyStores.keys.findKey(params.id);
    if (key === null || !mayRead(principal, key)) return rejectUnknownKey();
    await deps.generation.recorder.drain();
    const spent = await deps.resources.credits.store.sumSpending({ keyId: key.id });
    return { data: { ...presentKey(key), usage: toDollars(spent), usage_nanodollars: spent } };
  },
});

/** `PATCH /api/admin/keys/{id}`: changes the settings of a key. */
export const patchKey = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Update a key. Omitted fields keep their value",
  access: ACCOUNT_MANAGERS,
  params: z.object({ id: IdInput }),
  body: ChangeBody,
  response: z.object({ data: KeyView }),
  async handle({ principal, params, body, deps, audit }) {
    const found = await findOwnKey(deps, principal, params.id);
    const change = readChange(principal, body);
    const key = await changeKey(deps.resources.keyStores, deps.generation.serving, { key: found, change });
    deps.callers.keyCache.changed(key);
    audit({
      accountId: key.accountId,
      target: key.id,
      changes: describeChange(body, presentKey(found), presentKey(key)),
    });
    return { data: presentKey(key) };
  },
});

/** `DELETE /api/admin/keys/{id}`: revokes a key. */
export const deleteKey = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Revoke a key. Later requests with it are rejected",
  access: ACCOUNT_MANAGERS,
  params: z.object({ id: IdInput }),
  response: z.object({ data: KeyView }),
  async handle({ principal, params, deps, audit }) {
    const found = await findOwnKey(deps, principal, params.id);
    const key =
      (await deps.resources.keyStores.keys.revokeKey(found.id, deps.clock.now())) ?? rejectUnknownKey();
    deps.callers.keyCache.changed(key);
    audit({ accountId: key.accountId, target: key.id, changes: { revoked: true } });
    return { data: presentKey(key) };
  },
});

/** Returns a key that the principal may change. */
async function findOwnKey(deps: StoreDeps, principal: ManagementPrincipal, id: string): Promise<KeyRecord> {
  const key = await deps.resources.keyStores.keys.findKey(id);
  if (key === null || !(principal.kind === "operator" || key.accountId === principal.account.id))
    return rejectUnknownKey();
  if (key.kind === "management") await requireRankOfKey(deps, principal, key);
  return key;
}

/** Rejects changes to a key of a higher role. A management key has the role of its user, a service key that of an owner. */
async function requireRankOfKey(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  { accountId, userId }: Pick<KeyRecord, "accountId" | "userId">,
): Promise<void> {
  const member =
    userId === null ? null : await deps.resources.keyStores.accounts.findMember(accountId, userId);
  requireRank(principal, userId === null ? "owner" : (member?.role ?? "member"));
}

function rejectUnknownKey(): never {
  return fail("not_found", "There is no key with that id. GET /api/admin/keys lists the keys.");
}

/** Returns the change in a body, with the source of the rate limit. */
function readChange(principal: ManagementPrincipal, body: z.infer<typeof ChangeBody>): KeyChange {
  const { rateLimit: limit, ...change } = readFields(KEY_SETTINGS, body);
  if (limit === undefined) return change;
  return { ...change, rateLimit: { limit, setBy: principal.kind === "operator" ? "operator" : "account" } };
}
