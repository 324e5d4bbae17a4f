import { z } from "zod";
import packageJson from "../../../../package.json" with { type: "json" };
import { fail } from "../../../base/failures/errors.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { RIGHTS, ROLES } from "../../../core/accounts/records/rights.ts";
import { hashSecret } from "../../../core/accounts/records/secrets.ts";
import { createAdminSessionKey, type SessionKey } from "../../../core/console/console-sessions.ts";
import { findOperatorKey, takeOneTimeCode } from "../../../core/console/one-time-codes.ts";
import { isIdentityKey } from "../../../core/console/sign-in-identity.ts";
import { needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { listOwnTeams, TeamOfMember } from "../../api/member-teams.ts";
import type { RequestContext } from "../../context/context.ts";
import { authorizeManagement, hasRight, roleOf } from "../../middleware/authorize.ts";
import { baseUrlOf } from "../../middleware/browser-checks.ts";
import { signInOptions } from "../../middleware/identify-session.ts";
import {
  clearSessionCookie,
  hashSessionCookie,
  writeSessionCookie,
} from "../../middleware/session-cookie.ts";

const TAG = "Console";
const PATH = "/api/console/session";

/** The role of a session: the operator's, or the role of the key's user in its account. */
export const SessionRole = z.enum(["operator", ...ROLES]);

const Named = z.object({ id: z.string(), name: z.string() });

const SessionView = z.object({
  role: SessionRole.describe(
    "`operator` sees everything. The other roles are those of the key's user in its account.",
  ),
  rights: z
    .array(z.enum(RIGHTS))
    .describe("What the role may do in the account, as `GET /api/admin/me` says."),
  teams: z.array(TeamOfMember).describe("The teams of the user in the account."),
  account: Named.extend({ kind: z.enum(["user", "organization"]) })
    .nullable()
    .describe("The account that the session manages. `null` for the operator."),
  user: Named.nullable().describe("The user of the key. `null` for service keys and for the operator."),
  key_id: z.string().describe("Id of the key that the session acts as. The session ends with it."),
  expires_at: z.iso
    .datetime()
    .describe("Latest end of the session. It ends earlier after 12 hours without a request."),
  version: z.string().describe("Version of the gateway."),
  base_url: z.string().describe("URL of the gateway for browsers, without a path."),
  sign_in: z
    .object({ oidc: z.object({ name: z.string() }).nullable() })
    .describe("Ways to sign in besides a management key."),
});

const NO_STORE = { "cache-control": "no-store" };

/** `POST /api/console/session`: signs a browser in. The response sets the session cookie. */
export const postSession = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Sign in to the console with a management key or a one-time code. Sets the session cookie",
  needs: "gateway",
  access: { kind: "sign_in" },
  body: z.strictObject({
    key: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({
        description: "A management key.",
        examples: ["$MANAGEMENT_KEY"],
      }),
    code: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("A one-time code, which `gateway start` and `gateway console` print in a link."),
  }),
  response: SessionView,
  status: 201,
  async handle({ principal: { addressHash }, body, context, request }) {
    const console = requireConsole(context);
    if ((body.key === undefined) === (body.code === undefined))
      fail("invalid_request", "Send either key or code.", { metadata: { field: "key" } });
    const signIn = () =>
      body.key === undefined
        ? signInWithCode(body.code ?? "", context)
        : signInWithKey(body.key.trim(), context);
    const { key, principal } = await console.failedSignIns.withSecret(addressHash, signIn);
    const { secret, session } = await console.sessions.open(key, request.headers.get("user-agent"));
    const former = hashSessionCookie(request, context);
    if (former !== null) await console.sessions.replace(former);
    context.session = session;
    await recordSignIn(context, body.key === undefined ? "code" : "key");
    const view = await presentSession(principal, request, context);
    const headers = { ...NO_STORE, "set-cookie": writeSessionCookie(secret, request, context) };
    return Response.json(view, { status: 201, headers });
  },
});

/** `GET /api/console/session`: the session of the cookie. */
export const getSession = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "Retrieve the console session of the cookie",
  needs: "gateway",
  access: { kind: "console_session" },
  response: SessionView,
  async handle({ principal, request, context }) {
    return Response.json(await presentSession(principal, request, context), { headers: NO_STORE });
  },
});

/** `DELETE /api/console/session`: signs out. */
export const deleteSession = defineEndpoint({
  method: "DELETE",
  path: PATH,
  tag: TAG,
  summary: "Sign out of the console: end the session of the cookie",
  needs: "gateway",
  access: { kind: "console_session" },
  response: z.object({
    signed_out: z.literal(true),
    sign_out_url: z
      .string()
      .nullable()
      .describe("Address at which the browser also signs out at the identity provider. `null` means none."),
  }),
  async handle({ request, context, audit }) {
    const id = context.session?.id ?? "";
    await requireConsole(context).sessions.store.deleteSession(id);
    audit({ target: id, changes: { signed_out: true } });
    const headers = { ...NO_STORE, "set-cookie": clearSessionCookie(request, context) };
    const body = { signed_out: true, sign_out_url: await findSignOutUrl(request, context) };
    return Response.json(body, { headers });
  },
});

/** A provider that cannot be reached does not keep the browser from signing out here. */
async function findSignOutUrl(request: Request, context: RequestContext): Promise<string | null> {
  const { oidc } = requireConsole(context);
  const { session, deps } = context;
  const key = session === null ? null : await deps.resources.keyStores.keys.findKey(session.keyId);
  if (oidc === null || key === null || !isIdentityKey(key)) return null;
  return oidc.provider.signOutUrl(`${baseUrlOf(request, context)}/console`).catch((error) => {
    deps.log.warn("the provider of the sign-in was not asked to sign out", { detail: String(error) });
    return null;
  });
}

interface SignedIn {
  readonly key: SessionKey;
  readonly principal: ManagementPrincipal;
}

/** @throws GatewayError `authentication` for an invalid key, `permission_denied` for a key that cannot manage. */
async function signInWithKey(secret: string, context: RequestContext): Promise<SignedIn> {
  const identified = await context.deps.callers.keyCache.identify(secret);
  if (identified === null)
    return fail(
      "authentication",
      "The management key is not valid: it is unknown, revoked or expired. Create one with: gateway keys create console --management",
      { metadata: { field: "key" } },
    );
  const access = needs("own");
  const principal = await authorizeManagement(identified, access, context);
  const hash = hashSecret(secret);
  if (principal.kind === "key") return { principal, key: principal.key };
  const { keys } = context.deps.resources.keyStores;
  return { principal, key: (await keys.findKeyByHash(hash)) ?? createAdminSessionKey(hash) };
}

/** @throws GatewayError `authentication` for an invalid code, `conflict` if the operator has no key for the session. */
async function signInWithCode(code: string, context: RequestContext): Promise<SignedIn> {
  const {
    callers: { keyCache },
    resources: { keyStores },
    clock,
  } = context.deps;
  const key = await findOperatorKey(keyStores.keys, keyCache.adminHash, clock.now());
  if (key === null)
    return fail(
      "conflict",
      "The operator has no valid management key for the session. Create one with: gateway keys create console --management",
    );
  if (!(await takeOneTimeCode(requireConsole(context).sessions.store, code, clock.now())))
    return fail(
      "authentication",
      "The one-time code is not valid: it was already used, or is older than an hour. Get a new link with: gateway console",
      { metadata: { field: "code" } },
    );
  return { key, principal: { kind: "operator", keyId: key.id } };
}

async function recordSignIn({ deps, session, requestId }: RequestContext, by: "key" | "code"): Promise<void> {
  if (session === null) return;
  const { keyId, userId, accountId, id } = session;
  await deps.resources.audit.appendAudit({
    at: deps.clock.now(),
    keyId,
    userId,
    action: `POST ${PATH}`,
    accountId,
    target: id,
    requestId,
    changes: { signed_in_by: by },
  });
}

async function presentSession(
  principal: ManagementPrincipal,
  request: Request,
  context: RequestContext,
): Promise<z.infer<typeof SessionView>> {
  const { session, deps } = context;
  if (session === null) throw new Error("the request has no session");
  const account = principal.kind === "operator" ? null : principal.account;
  const user = session.userId === null ? null : await deps.callers.accountCache.account(session.userId);
  return {
    role: principal.kind === "operator" ? "operator" : roleOf(principal),
    rights: RIGHTS.filter((right) => hasRight(principal, right)),
    teams: [...listOwnTeams(principal)],
    account: account && { id: account.id, name: account.name, kind: account.kind },
    user: user && { id: user.id, name: user.name },
    key_id: session.keyId,
    expires_at: new Date(session.expiresAt).toISOString(),
    version: packageJson.version,
    base_url: baseUrlOf(request, context),
    sign_in: signInOptions(deps.browser.console),
  };
}

function requireConsole({ deps }: RequestContext) {
  return deps.browser.console ?? fail("not_found", "The console is disabled (console.enabled).");
}
