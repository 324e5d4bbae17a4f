import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { toDollars } from "../../../base/numbers/money.ts";
import { DAY_MS, HOUR_MS } from "../../../base/time/time.ts";
import { KEY_IDENTITY, KEY_SETTINGS, KeyView, presentKey } from "../../../core/accounts/fields/key-fields.ts";
import {
  changeShape,
  IdInput,
  readFields,
  SearchInput,
} from "../../../core/accounts/fields/resource-fields.ts";
import {
  changeKey,
  issueKey,
  type KeyChange,
  type NewKey,
  rotateKey,
} from "../../../core/accounts/manage/manage-keys.ts";
import { fitMemberKey, requireTighter } from "../../../core/accounts/manage/member-keys.ts";
import type { AccountPrincipal, ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../../../core/accounts/records/records.ts";
import { rightOver } from "../../../core/accounts/records/rights.ts";
import { KEY_ORDERS } from "../../../core/accounts/stores/key-store.ts";
import { isIdentityKey } from "../../../core/console/sign-in-identity.ts";
import {
  leadsTeam,
  listedAccountOf,
  listedOwnersOf,
  managedAccountOf,
  mayRead,
  needs,
  READABLE_TEAM,
  readScopeOf,
  requireOwnAccount,
} from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { hasRight, requireRight } from "../../middleware/authorize.ts";

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
      "For an organization's key: id of the member whose key it is. Default: for members, and leads of teams too, their own id; for others `null`, a service key of the organization.",
    ),
  team_id: KEY_IDENTITY.team_id.input
    .optional()
    .describe(
      "For an organization's key: id of the team that it belongs to. The member must be one of the team.",
    ),
});

const ListedKey = KeyView.extend({
  account_name: z.string().nullable().describe("Display name of the account."),
  user_name: z.string().nullable().describe("Display name of the user whose key it is."),
  team_name: z.string().nullable().describe("Name of the team that the key belongs to."),
}).meta({ id: "ListedKey", description: "A key as lists show it." });

/** `POST /api/admin/keys`: creates a key. Only this response contains its secret. */
export const postKey = defineEndpoint({
  method: "POST",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "Create a key. Only this response contains the secret",
  access: needs("own"),
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
    const { name, kind, user_id: userId = defaultUserOf(principal), team_id: teamId = null } = body;
    const wanted = fitToRights(deps, principal, {
      ...{ ...readChange(principal, body), name, kind, accountId, userId, teamId },
    });
    const { secret, key } = await issueKey(deps.resources.keyStores, deps.generation.serving, wanted);
    deps.callers.keyCache.changed(key);
    audit({ accountId, target: key.id, changes: { ...body, account_id: accountId, user_id: key.userId } });
    return { key: secret, data: presentKey(key) };
  },
});

/**
 * Returns a wanted key as the principal may make it. Leads make keys of their team for its other members and for programs. Members make
 * their own, within the bounds of the organization.
 * @throws GatewayError `permission_denied`.
 */
function fitToRights(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  wanted: NewKey,
): NewKey & { most?: number } {
  if (wanted.kind === "management") requireManagementKeyOf(principal, wanted.userId ?? null);
  if (hasRight(principal, "manage_keys")) return wanted;
  const { account, key } = principal as AccountPrincipal;
  const isOwn = wanted.userId !== null && wanted.userId === key.userId;
  if (!isOwn && wanted.kind === "inference" && leadsTeam(principal, wanted.teamId ?? null)) return wanted;
  requireRight(principal, "own_keys");
  if (!isOwn)
    fail("permission_denied", "You may make keys for yourself only. Omit user_id.", {
      metadata: { field: "user_id" },
    });
  return fitMemberKey(wanted, account.memberKeys, deps.clock.now());
}

/** Returns whose a new key is if the request does not say: those who may not manage all keys make their own. */
function defaultUserOf(principal: ManagementPrincipal): string | null {
  return principal.kind === "operator" || hasRight(principal, "manage_keys") ? null : principal.key.userId;
}

/**
 * Rejects a principal who would get the secret of a management key of another user, except owners: that user may have a higher role, now
 * or later.
 * @throws GatewayError `permission_denied`.
 */
function requireManagementKeyOf(principal: ManagementPrincipal, userId: string | null): void {
  const ownUserId = principal.kind === "key" ? principal.key.userId : null;
  if (userId === null || userId !== ownUserId) requireRight(principal, "manage_owners");
}

/** `GET /api/admin/keys`: the keys that the principal may read, newest first, without secrets. */
export const listKeys = defineEndpoint({
  method: "GET",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "List keys, newest first, without secrets",
  access: needs("own"),
  query: z.strictObject({
    ...PAGE_QUERY,
    account_id: IdInput.optional().describe("Only the keys of this account."),
    user_id: IdInput.optional().describe("Only the keys of this user."),
    team_id: IdInput.optional().describe(`Only the keys of this team. ${READABLE_TEAM}`),
    older_than: z
      .string()
      .regex(/^[1-9]\d{0,3}d$/, 'must be a number of days such as "90d"')
      .optional()
      .meta({
        description: "Only keys that are not revoked and whose secret is older than a number of days.",
        examples: ["90d"],
      }),
    order: z
      .enum(KEY_ORDERS)
      .default("newest")
      .describe(
        "`newest` first, those with the `oldest_secret` first, or those that were `least_used` lately first.",
      ),
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
  response: pageView(ListedKey),
  handle({ principal, query, deps }) {
    const accountId = listedAccountOf(principal, query.account_id);
    const { userId, teamId } = listedOwnersOf(principal, query);
    // Without a filter, leads also see the keys of their teams.
    const seenBy = (query.user_id ?? query.team_id) === undefined ? readScopeOf(principal) : null;
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.resources.keyStores.keys.listKeys({
          limit,
          ...(accountId === null ? {} : { accountId }),
          ...(seenBy === null ? {} : { seenBy }),
          ...(userId === null || seenBy !== null ? {} : { userId }),
          ...(teamId === null ? {} : { teamId }),
          ...(query.older_than === undefined
            ? {}
            : { secretBefore: daysAgo(query.older_than, deps.clock.now()) }),
          order: query.order,
          ...(query.name === undefined ? {} : { name: query.name }),
          ...(query.search === undefined ? {} : { search: query.search }),
          ...(query.unused === undefined ? {} : { unused: readUnused(query.unused, deps.clock.now()) }),
          ...(query.after === undefined ? {} : { afterId: query.after }),
        }),
      present: (keys) => presentNamed(deps, keys),
      cursorOf: ({ id }) => id,
    });
  },
});

/** Returns keys with the names of their accounts, users and teams. */
async function presentNamed({ resources }: StoreDeps, keys: readonly KeyRecord[]) {
  const { accounts, teams } = resources.keyStores;
  const names = await accounts.findAccountNames([
    ...new Set(keys.flatMap(({ accountId, userId }) => [accountId, userId ?? []].flat())),
  ]);
  const named = await teams.findTeamNames([...new Set(keys.flatMap(({ teamId }) => teamId ?? []))]);
  return keys.map((key) => ({
    ...presentKey(key),
    account_name: names.get(key.accountId) ?? null,
    user_name: names.get(key.userId ?? "") ?? null,
    team_name: named.get(key.teamId ?? "") ?? null,
  }));
}

function readUnused(unused: string, now: number): { readonly before: number | null } {
  return { before: unused === "never" ? null : daysAgo(unused, now) };
}

function daysAgo(days: string, now: number): number {
  return now - Number.parseInt(days, 10) * DAY_MS;
}

/** `GET /api/admin/keys/{id}`: a key, and the amount spent with it. */
export const getManagedKey = defineEndpoint({
  method: "GET",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Retrieve a key without its secret, and the amount spent with it",
  access: needs("own"),
  params: z.object({ id: IdInput }),
  response: z.object({
    data: ListedKey.extend({
      usage: z.number().describe("US dollars spent with the key."),
      usage_nanodollars: z.int(),
    }),
  }),
  async handle({ principal, params, deps }) {
    const key = await deps.resources.keyStores.keys.findKey(params.id);
    if (key === null || !mayRead(principal, key)) return rejectUnknownKey();
    await deps.generation.recorder.drain();
    const spent = await deps.resources.credits.store.sumSpending({ keyId: key.id });
    const [shown] = await presentNamed(deps, [key]);
    return { data: { ...shown, usage: toDollars(spent), usage_nanodollars: spent } };
  },
});

/** `PATCH /api/admin/keys/{id}`: changes the settings of a key. */
export const patchKey = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Update a key. Omitted fields keep their value",
  access: needs("own"),
  params: z.object({ id: IdInput }),
  body: ChangeBody,
  response: z.object({ data: KeyView }),
  async handle({ principal, params, body, deps, audit }) {
    const found = await findOwnKey(deps, principal, params.id);
    const change = readChange(principal, body);
    if (!managesKey(principal, found)) requireTighter(found, change);
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

const MAX_OVERLAP_HOURS = 30 * 24;

/** `POST /api/admin/keys/{id}/rotate`: gives a key a new secret. */
export const rotateKeyOf = defineEndpoint({
  method: "POST",
  path: "/api/admin/keys/:id/rotate",
  tag: "Keys",
  summary:
    "Give a key a new secret. The present one stays valid for a while. Only this response contains the new one",
  access: needs("own"),
  params: z.object({ id: IdInput }),
  body: z.strictObject({
    overlap_hours: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_HOURS)
      .default(24)
      .describe("Hours for which the present secret stays valid. `0`: it ends at once, as after a leak."),
  }),
  response: z.object({
    key: z.string().describe("The new secret of the key. It is not stored and cannot be retrieved again."),
    data: KeyView,
  }),
  errors: ["conflict"],
  respondsWithSecret: true,
  async handle({ principal, params, body, deps, audit }) {
    const found = await findOwnKey(deps, principal, params.id);
    if (found.kind === "management") requireSecretFor(principal, found);
    const overlapMs = body.overlap_hours * HOUR_MS;
    const { secret, key } = await rotateKey(deps.resources.keyStores, { key: found, overlapMs });
    for (const one of [found, key]) deps.callers.keyCache.changed(one);
    audit({
      accountId: key.accountId,
      target: key.id,
      changes: { rotated: true, overlap_hours: body.overlap_hours },
    });
    return { key: secret, data: presentKey(key) };
  },
});

/**
 * Rejects the rotation of a management key whose new secret the principal may not have.
 * @throws GatewayError `permission_denied` for a key of another user; `conflict` for a key whose secret was given to no one.
 */
function requireSecretFor(principal: ManagementPrincipal, key: KeyRecord): void {
  requireManagementKeyOf(principal, key.userId);
  if (!isIdentityKey(key)) return;
  fail(
    "conflict",
    "This key is for the console sessions of a person who signs in through OpenID Connect, and its secret was given to no one. Revoke it to end the sessions, or create another key.",
  );
}

/** `DELETE /api/admin/keys/{id}`: revokes a key. */
export const deleteKey = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Revoke a key. Later requests with it are rejected",
  access: needs("own"),
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

/**
 * Returns a key that the principal may change, rotate and end: that of others with `manage_keys`, those of a team that they lead, and their
 * own inference keys.
 * @throws GatewayError `not_found`; `permission_denied`.
 */
async function findOwnKey(deps: StoreDeps, principal: ManagementPrincipal, id: string): Promise<KeyRecord> {
  const key = await deps.resources.keyStores.keys.findKey(id);
  if (key === null || !mayRead(principal, key)) return rejectUnknownKey();
  if (!managesKey(principal, key)) {
    requireRight(principal, "own_keys");
    if (key.kind === "management") requireRight(principal, "manage_keys");
  }
  if (key.kind === "management") await requireRightOverKey(deps, principal, key);
  return key;
}

/** Whether a principal may do everything with a key, and not only what owners of keys may. */
function managesKey(principal: ManagementPrincipal, { kind, teamId }: KeyRecord): boolean {
  return hasRight(principal, "manage_keys") || (kind === "inference" && leadsTeam(principal, teamId));
}

/** Rejects changes to a management key whose role the principal may not give. A service key has the role of an owner. */
async function requireRightOverKey(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  { accountId, userId }: Pick<KeyRecord, "accountId" | "userId">,
): Promise<void> {
  const member =
    userId === null ? null : await deps.resources.keyStores.accounts.findMember(accountId, userId);
  requireRight(principal, rightOver(userId === null ? "owner" : (member?.role ?? "member")));
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
