import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { formatTime } from "../../../base/time/time.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { ADMIN_KEY_ID, type ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../../core/accounts/records/records.ts";
import type { Role } from "../../../core/accounts/records/rights.ts";
import type { AccountStore } from "../../../core/accounts/stores/account-store.ts";
import type { KeyStore } from "../../../core/accounts/stores/key-store.ts";
import type { ConsoleSession } from "../../../core/console/console-session.ts";
import { listedAccountOf, needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { hasRight } from "../../middleware/authorize.ts";
import { SessionRole } from "./console-session.ts";

const Named = z.object({ id: z.string(), name: z.string() });

const ConsoleSessionView = z
  .object({
    id: z.string().describe("Id of the session, `sess_…`."),
    key: Named.describe("The key that the session acts as."),
    account: Named.describe("The account of the key."),
    user: Named.nullable().describe("The user of the key. `null` for service keys and for the operator."),
    role: SessionRole.nullable().describe(
      "`null` if the key's user is not a member any more; the session is then rejected.",
    ),
    user_agent: z.string().nullable().describe("The browser's own name at the sign-in."),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().describe("Up to a minute late."),
    expires_at: z.iso
      .datetime()
      .describe("Latest end of the session. It ends earlier after 12 hours without a request."),
    is_current: z.boolean().describe("Whether the request belongs to this session."),
  })
  .meta({ id: "ConsoleSession", description: "A browser that is signed in to the console." });

/** `GET /api/admin/sessions`: the console sessions that the principal may end. */
export const listSessions = defineEndpoint({
  method: "GET",
  path: "/api/admin/sessions",
  tag: "Console",
  summary:
    "List console sessions, newest first: all sessions for the operator, the account's for owners and admins, otherwise your own",
  access: needs("own"),
  query: z.strictObject({
    ...PAGE_QUERY,
    account_id: IdInput.optional().describe("Only the sessions of this account."),
    user_id: IdInput.optional().describe("Only the sessions of this user."),
  }),
  response: pageView(ConsoleSessionView),
  async handle({ principal, query, deps, sessionId }) {
    const accountId = listedAccountOf(principal, query.account_id);
    const own = sessionUserOf(principal);
    if (own !== null && query.user_id !== undefined && query.user_id !== own) rejectOtherUser();
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.resources.consoleSessions.listSessions({
          accountId,
          userId: own ?? query.user_id ?? null,
          afterId: query.after ?? null,
          limit,
          now: deps.clock.now(),
        }),
      present: (sessions) =>
        Promise.all(
          sessions.map(async (session) => ({
            ...(await presentSession(session, deps.resources.keyStores)),
            is_current: session.id === sessionId,
          })),
        ),
      cursorOf: ({ id }) => id,
    });
  },
});

/** `DELETE /api/admin/sessions/{id}`: ends a session. */
export const deleteAdminSession = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/sessions/:id",
  tag: "Console",
  summary: "End a console session. Its browser is signed out at its next request",
  access: needs("own"),
  params: z.object({ id: IdInput }),
  response: z.object({ data: z.object({ id: z.string(), ended: z.literal(true) }) }),
  async handle({ principal, params: { id }, deps, audit }) {
    const session = await findOwnSession(deps, principal, id);
    if (!(await deps.resources.consoleSessions.deleteSession(id))) rejectUnknownSession();
    audit({ accountId: session.accountId, target: id, changes: { ended: true } });
    return { data: { id, ended: true } };
  },
});

/** Returns the only user whose sessions a principal may see; null for all users of the account. */
function sessionUserOf(principal: ManagementPrincipal): string | null {
  return principal.kind === "operator" || hasRight(principal, "manage_people") ? null : principal.key.userId;
}

function rejectOtherUser(): never {
  return fail("not_found", "With your role, you can list only your own sessions. Omit user_id.", {
    metadata: { field: "user_id" },
  });
}

/** @throws GatewayError `not_found`, which does not reveal whether the session exists. */
async function findOwnSession(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  id: string,
): Promise<ConsoleSession> {
  const session = await deps.resources.consoleSessions.findSession(id);
  if (session === null) return rejectUnknownSession();
  if (principal.kind === "operator") return session;
  const userId = sessionUserOf(principal);
  const isOwn = session.accountId === principal.account.id && (userId === null || session.userId === userId);
  return isOwn ? session : rejectUnknownSession();
}

function rejectUnknownSession(): never {
  return fail("not_found", "There is no session with that id. GET /api/admin/sessions lists the sessions.");
}

/** What the names in a view of a session are read from. */
interface SessionNames {
  readonly accounts: Pick<AccountStore, "findAccount" | "findMember">;
  readonly keys: Pick<KeyStore, "findKey">;
}

/** Returns the view of a session that the API and the commands show. */
async function presentSession(session: ConsoleSession, names: SessionNames) {
  const { id, keyId, accountId, userId, userAgent } = session;
  const account = await names.accounts.findAccount(accountId);
  const user = userId === null ? null : await names.accounts.findAccount(userId);
  const key = keyId === ADMIN_KEY_ID ? null : await names.keys.findKey(keyId);
  return {
    id,
    key: { id: keyId, name: keyId === ADMIN_KEY_ID ? "configured admin key" : (key?.name ?? keyId) },
    account: { id: accountId, name: account?.name ?? accountId },
    user: userId === null ? null : { id: userId, name: user?.name ?? userId },
    role: await findRole(session, names),
    user_agent: userAgent,
    created_at: formatTime(session.createdAt),
    last_used_at: formatTime(session.lastUsedAt),
    expires_at: formatTime(session.expiresAt),
  };
}

async function findRole(
  { accountId, userId }: ConsoleSession,
  { accounts }: SessionNames,
): Promise<Role | "operator" | null> {
  if (accountId === DEFAULT_ACCOUNT_ID) return "operator";
  if (userId === null || userId === accountId) return "owner";
  return (await accounts.findMember(accountId, userId))?.role ?? null;
}
