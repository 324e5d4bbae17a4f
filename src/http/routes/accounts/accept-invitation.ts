import { z } from "zod";
import { fail, rejectField } from "../../../base/failures/errors.ts";
import { NameInput } from "../../../core/accounts/fields/resource-fields.ts";
import { findOpenInvitation, type OpenInvitation } from "../../../core/accounts/manage/manage-invitations.ts";
import { InvitationView, presentInvitedTeams } from "../../../core/accounts/records/invitation-fields.ts";
import type { AccountRecord } from "../../../core/accounts/records/records.ts";
import {
  acceptAsNewUser,
  acceptAsUser,
  type InvitationParts,
  requireInvitedEmail,
} from "../../../core/console/accept-invitation.ts";
import type { ConsoleSession } from "../../../core/console/console-session.ts";
import type { IdentifiedSession, SessionKey } from "../../../core/console/console-sessions.ts";
import { isIdentityKey, renewIdentityKey } from "../../../core/console/sign-in-identity.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { ACCEPT_PATH, recordAcceptance } from "../../api/record-acceptance.ts";
import type { ConsoleDeps } from "../../context/console-deps.ts";
import type { RequestContext } from "../../context/context.ts";
import { findRequestSession } from "../../middleware/identify-session.ts";
import { START_WITH_INVITATION, writeInvitationCookie } from "../../middleware/oidc-cookie.ts";
import { writeSessionCookie } from "../../middleware/session-cookie.ts";

const TAG = "Invitations";
const NO_STORE = { "cache-control": "no-store" };

const Code = z
  .string()
  .min(1)
  .max(500)
  .meta({ description: "The secret of the link, after `#code=`.", examples: ["$INVITATION_CODE"] });
const Named = z.object({ id: z.string(), name: z.string() });

const OfferView = z
  .object({
    organization: Named,
    ...InvitationView.pick({ role: true, teams: true, email: true, expires_at: true }).shape,
  })
  .meta({ id: "InvitationOffer", description: "What an invitation offers to the person who has its link." });

/** `POST /api/console/invitations/preview`: what an invitation offers. */
export const previewInvitation = defineEndpoint({
  method: "POST",
  path: "/api/console/invitations/preview",
  tag: TAG,
  summary: "Read what an invitation offers, without using it",
  needs: "gateway",
  access: { kind: "sign_in" },
  body: z.strictObject({ code: Code }),
  response: z.object({ data: OfferView }),
  errors: ["not_found", "conflict"],
  changesNothing: true,
  async handle({ principal: { addressHash }, body, context }) {
    const { invitation, organization, teams } = await findOpen(context, addressHash, body.code);
    const names = new Map(teams.map(({ id, name }) => [id, name]));
    const data: z.infer<typeof OfferView> = {
      organization: { id: organization.id, name: organization.name },
      role: invitation.role,
      teams: presentInvitedTeams(invitation, names),
      email: invitation.email,
      expires_at: new Date(invitation.expiresAt).toISOString(),
    };
    return Response.json({ data }, { headers: NO_STORE });
  },
});

const AcceptedView = z.object({
  key: z
    .string()
    .nullable()
    .describe(
      "A management key of the organization for signing in to the console. It is shown once. `null` for a person who signs in through the OpenID Connect provider, or has the key with which they manage the organization.",
    ),
  data: z.object({
    status: z
      .enum(["accepted", "sign_in"])
      .describe(
        "`accepted`: the browser is signed in to the organization. `sign_in`: the person must first sign in at the OpenID Connect provider, and the invitation is accepted when they come back.",
      ),
    sign_in_path: z
      .string()
      .nullable()
      .describe(
        "Path at which this browser signs in at the provider, within ten minutes. `null` for `accepted`.",
      ),
    organization: Named,
    user: Named.nullable().describe("The user who has accepted. `null` for `sign_in`."),
  }),
});

/** `POST /api/console/invitations/accept`: accepts an invitation for the user of the browser's session, or for a new person. */
export const postAcceptance = defineEndpoint({
  method: "POST",
  path: ACCEPT_PATH,
  tag: TAG,
  summary: "Accept an invitation, as the user who is signed in or as a new one. Sets the session cookie",
  needs: "gateway",
  access: { kind: "sign_in" },
  body: z.strictObject({
    code: Code,
    name: NameInput.optional().describe(
      "Display name of a new person. Omit it for a user who is signed in, and if people sign in through OpenID Connect.",
    ),
  }),
  response: AcceptedView,
  errors: ["not_found", "permission_denied", "conflict"],
  async handle({ principal: { addressHash }, body: { code, name }, context, request }) {
    const open = await findOpen(context, addressHash, code);
    const session = await findRequestSession(request, context);
    const { oidc } = requireConsole(context);
    if (name !== undefined && (session !== null || oidc !== null))
      rejectField("name", "is for new people of a gateway without OpenID Connect only. Omit it");
    if (session !== null) return acceptInSession(open, session, { request, context });
    if (oidc !== null) return leadToProvider(open, code, { request, context });
    return acceptAsNew(open, name ?? rejectField("name", "is required"), { request, context });
  },
});

interface Asked {
  readonly request: Request;
  readonly context: RequestContext;
}

function findOpen({ deps }: RequestContext, addressHash: string, code: string): Promise<OpenInvitation> {
  const find = () => findOpenInvitation(deps.resources.keyStores, code);
  return requireConsole({ deps }).failedSignIns.withSecret(addressHash, find, "not_found");
}

/** Keeps the invitation in a cookie that only the sign-in at the provider sends. */
function leadToProvider({ organization }: OpenInvitation, code: string, { request, context }: Asked) {
  const cookie = writeInvitationCookie(code, request, context);
  return present({ organization, user: null, key: null }, [cookie]);
}

async function acceptAsNew(open: OpenInvitation, name: string, asked: Asked): Promise<Response> {
  const { user, key, secret, accepted } = await acceptAsNewUser(partsOf(asked.context), open, name);
  await recordAcceptance(asked.context, { accepted, keyId: key.id, createdUser: true });
  const cookie = await openSession(key, null, asked);
  return present({ organization: open.organization, user, key: secret }, [cookie]);
}

/**
 * Accepts an invitation for the user of a session. A session of another account is replaced by one of the organization: with a key of its
 * own, or for a person of the OpenID Connect provider with that of their sessions.
 */
async function acceptInSession(
  open: OpenInvitation,
  { session, principal }: IdentifiedSession,
  asked: Asked,
): Promise<Response> {
  const { context } = asked;
  const { organization } = open;
  const user = await requireUserOf(session, context);
  requireInvitedEmail(open, user.email, OTHER_USER);
  const isThere = session.accountId === organization.id;
  const renew = isThere ? null : findRenewal(principal, context);
  const { key, secret, accepted } = await acceptAsUser(partsOf(context), open, {
    userId: user.id,
    makesKey: !isThere && renew === null,
  });
  await recordAcceptance(context, { accepted, keyId: session.keyId, createdUser: false });
  const next = renew === null ? key : await renew({ accountId: organization.id, userId: user.id });
  const cookies = next === null ? [] : [await openSession(next, session, asked)];
  return present({ organization, user, key: secret }, cookies);
}

/** Returns how a person of the OpenID Connect provider gets the key for sessions in another account; null for other people. */
function findRenewal(principal: IdentifiedSession["principal"], context: RequestContext) {
  const { oidc } = requireConsole(context);
  // Without the provider, the person could not sign in again.
  if (oidc === null || principal.kind !== "key" || !isIdentityKey(principal.key)) return null;
  const { name } = principal.key;
  return (of: { readonly accountId: string; readonly userId: string }) =>
    renewIdentityKey(oidc, { name, ...of });
}

const OTHER_USER =
  "The user that you are signed in as has another one, or none. Sign out and open the link again, or ask for an invitation without an e-mail address.";

/** @throws GatewayError `conflict` for a session of the operator or of a service key. */
async function requireUserOf({ userId }: ConsoleSession, { deps }: RequestContext): Promise<AccountRecord> {
  const user = userId === null ? null : await deps.resources.keyStores.accounts.findAccount(userId);
  return (
    user ??
    fail(
      "conflict",
      "This browser is signed in with a key that belongs to no user. Sign out and open the link again, or open it in another browser.",
      { metadata: { reason: "no_user" } },
    )
  );
}

/**
 * Opens a session, which replaces the browser's former one and keeps the time of the sign-in at the provider. Returns its cookie.
 */
async function openSession(
  key: SessionKey,
  former: ConsoleSession | null,
  { request, context }: Asked,
): Promise<string> {
  const { sessions } = requireConsole(context);
  const authenticatedAt = former?.authenticatedAt ?? null;
  const { secret } = await sessions.open(key, request.headers.get("user-agent"), authenticatedAt);
  if (former !== null) await sessions.replace(former.hash);
  return writeSessionCookie(secret, request, context);
}

interface Outcome {
  readonly organization: AccountRecord;
  /** Null if the person must first sign in at the provider. */
  readonly user: AccountRecord | null;
  readonly key: string | null;
}

function present({ organization, user, key }: Outcome, cookies: readonly string[]): Response {
  const body: z.infer<typeof AcceptedView> = {
    key,
    data: {
      status: user === null ? "sign_in" : "accepted",
      sign_in_path: user === null ? START_WITH_INVITATION : null,
      organization: { id: organization.id, name: organization.name },
      user: user && { id: user.id, name: user.name },
    },
  };
  const headers = new Headers(NO_STORE);
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return Response.json(body, { headers });
}

function partsOf({ deps }: RequestContext): InvitationParts {
  return { stores: deps.resources.keyStores, ...deps.callers };
}

function requireConsole({ deps }: Pick<RequestContext, "deps">): ConsoleDeps {
  return deps.browser.console ?? fail("not_found", "The console is disabled (console.enabled).");
}
