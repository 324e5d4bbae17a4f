import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { OidcError } from "../../../core/console/oidc-provider.ts";
import { type OidcConfig, oidcFields } from "../../../core/console/oidc-schema.ts";
import type { OidcTrial } from "../../../core/console/oidc-trial-store.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import type { OidcDeps } from "../../context/console-deps.ts";
import type { RequestContext } from "../../context/context.ts";
import { baseUrlOf } from "../../middleware/browser-checks.ts";
import { CALLBACK, writeTrialCookie } from "../../middleware/oidc-cookie.ts";
import { SessionRole } from "./console-session.ts";

const TAG = "Console";
const PATH = "/api/console/oidc/trials";

const ClaimView = z.object({
  name: z.string().describe("A claim that rules name."),
  values: z.array(z.string()).describe("Its first 100 values."),
  unknown: z
    .enum(["absent", "too many"])
    .nullable()
    .describe("Why the claim is not known. `null` means it is known."),
});

const RightsView = z.object({
  role: SessionRole.describe("The role of the session: `operator`, or the role in the first organization."),
  user_id: z
    .string()
    .nullable()
    .describe("The user of the person. `null` for the operator, and for a user who would be created."),
  organizations: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        role: SessionRole,
        teams: z
          .array(z.object({ id: z.string(), name: z.string(), is_lead: z.boolean() }))
          .describe("Teams of the person after the sign-in."),
        unknown_teams: z
          .array(z.string())
          .describe("Teams that rules name and the organization does not have. The sign-in ignores them."),
      }),
    )
    .describe("Organizations of the person after the sign-in."),
});

const TrialView = z
  .object({
    id: z.string(),
    status: z
      .enum(["pending", "succeeded", "failed"])
      .describe("`pending` while the person signs in at the provider."),
    error: z
      .object({ message: z.string(), detail: z.string() })
      .nullable()
      .describe("Why the person would not be signed in. `null` unless the trial has failed."),
    subject: z
      .string()
      .nullable()
      .describe("The provider's name for the person (`sub`). `null` without a valid ID token."),
    rights: RightsView.nullable().describe(
      "Rights that the person would get. `null` unless the trial has succeeded.",
    ),
    claims: z.array(ClaimView).describe("What the provider sent of the claims that rules name."),
    expires_at: z.iso.datetime().describe("When the trial is forgotten."),
  })
  .meta({ id: "OidcTrial", description: "A trial sign-in with settings that are not in force." });

/** `POST /api/console/oidc/trials`: begins a trial sign-in. The response sets a cookie, with which the browser comes back. */
export const postOidcTrial = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Begin a trial sign-in with settings of OpenID Connect that are not in force. Nothing is changed",
  needs: "gateway",
  access: { kind: "console_session" },
  body: oidcFields
    .omit({ client_secret_file: true })
    .extend({
      issuer: oidcFields.shape.issuer.meta({ examples: ["$OIDC_ISSUER"] }),
      client_secret: oidcFields.shape.client_secret.meta({ examples: ["$OIDC_CLIENT_SECRET"] }),
    })
    .describe(
      "The settings to try, as `console.oidc` in the configuration. Without `client_secret`, the secret in force is used if issuer and client are the same.",
    ),
  response: z.object({
    data: TrialView.extend({
      url: z.string().describe("Address at the provider. Open it in the browser that sent this request."),
      redirect_uri: z.string().describe("Address to register at the provider."),
    }),
  }),
  status: 201,
  errors: ["permission_denied"],
  async handle({ principal, body, context, request, audit }) {
    const console = requireConsole(context);
    const { session } = context;
    if (session === null || principal.kind !== "operator")
      return fail("permission_denied", "Only the operator may try settings of OpenID Connect.");
    if (request.headers.has("idempotency-key"))
      return fail("invalid_request", "A trial sign-in cannot be repeated. Omit Idempotency-Key.");
    const config: OidcConfig = {
      ...body,
      client_secret: body.client_secret ?? findSecret(body, console.oidc),
    };
    const redirectUri = baseUrlOf(request, context) + CALLBACK;
    const { trial, url, state } = await console.trials
      .begin({ config, redirectUri, session })
      .catch(rejectUnreachable);
    audit({ target: trial.id, changes: { issuer: body.issuer, client_id: body.client_id } });
    const data = { ...presentTrial(trial), url, redirect_uri: redirectUri };
    const headers = { "cache-control": "no-store", "set-cookie": writeTrialCookie(state, request, context) };
    return Response.json({ data }, { status: 201, headers });
  },
});

/** `GET /api/console/oidc/trials/:id`: the state of a trial sign-in. */
export const getOidcTrial = defineEndpoint({
  method: "GET",
  path: `${PATH}/:id`,
  tag: TAG,
  summary: "Retrieve a trial sign-in: what the person would be allowed to do, or why the sign-in has failed",
  needs: "gateway",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  response: z.object({ data: TrialView }),
  errors: ["not_found"],
  async handle({ params, context }) {
    const trial = await requireConsole(context).trials.find(params.id);
    if (trial === null)
      return fail(
        "not_found",
        "There is no trial sign-in with that id. It is forgotten 15 minutes after its end.",
      );
    return { data: presentTrial(trial) };
  },
});

/** The secret is sent to the provider only, so it is used for the same client at the same provider. */
function findSecret(
  { issuer, client_id }: Pick<OidcConfig, "issuer" | "client_id">,
  oidc: OidcDeps | null,
): string {
  const known = oidc?.config;
  if (known?.client_secret !== undefined && known.issuer === issuer && known.client_id === client_id)
    return known.client_secret;
  return fail("invalid_request", "client_secret is required for another issuer or client.", {
    metadata: { field: "client_secret" },
  });
}

function rejectUnreachable(error: unknown): never {
  if (!(error instanceof OidcError)) throw error;
  return fail(
    "invalid_request",
    `The identity provider cannot be reached at this issuer: ${error.internal}.`,
    {
      metadata: { field: "issuer" },
    },
  );
}

function presentTrial({ id, outcome, expiresAt }: OidcTrial): z.infer<typeof TrialView> {
  const rights = outcome?.rights ?? null;
  return {
    id,
    status: outcome === null ? "pending" : outcome.problem === null ? "succeeded" : "failed",
    error: outcome?.problem ?? null,
    subject: outcome?.subject ?? null,
    rights: rights && {
      role: rights.isOperator ? "operator" : (rights.organizations[0]?.role ?? "member"),
      user_id: rights.userId,
      organizations: rights.organizations.map(({ id, name, role, teams, unknownTeams }) => ({
        ...{ id, name, role },
        teams: teams.map((team) => ({ id: team.id, name: team.name, is_lead: team.isLead })),
        unknown_teams: [...unknownTeams],
      })),
    },
    claims: [...(outcome?.claims ?? [])].map((claim) => ({ ...claim, values: [...claim.values] })),
    expires_at: new Date(expiresAt).toISOString(),
  };
}

function requireConsole({ deps }: RequestContext) {
  return deps.browser.console ?? fail("not_found", "The console is disabled (console.enabled).");
}
