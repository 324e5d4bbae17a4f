import { z } from "zod";
import { ROLES } from "../accounts/records/rights.ts";
import { PlainText } from "../catalog/records/plain-text-schema.ts";
import { FILE_ONLY, SECRET } from "../settings/config-marks.ts";

/** The maximum number of teams that one rule names. */
const MAX_TEAMS_OF_RULE = 50;

const oidcRule = z.union(
  [
    z.strictObject({ claim: z.string().min(1), value: z.string().min(1), operator: z.literal(true) }),
    z.strictObject({
      claim: z.string().min(1),
      value: z.string().min(1),
      organization: z.string().min(1),
      role: z.enum(ROLES),
      teams: z
        .array(z.string().min(1))
        .min(1)
        .max(MAX_TEAMS_OF_RULE)
        .optional()
        .describe("Teams of the organization that the person joins, by id or name."),
      lead: z.boolean().optional().describe("Whether the person leads these teams."),
    }),
  ],
  {
    error: `must have claim, value, and either operator: true or organization and role, then also teams (1 to ${MAX_TEAMS_OF_RULE}) and lead`,
  },
);

/** The settings of sign-in through an OpenID Connect provider, each by itself. */
export const oidcFields = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/ })
    .refine(isSafeIssuer, "must be an https address, or http on this machine")
    .describe("Issuer: the address under which the provider publishes .well-known/openid-configuration."),
  client_id: z.string().min(1).describe("Id of the client that is registered at the provider."),
  client_secret: z
    .string()
    .min(1)
    .meta({ [SECRET]: true })
    .optional()
    .describe("Secret of the client. GATEWAY_OIDC_CLIENT_SECRET."),
  client_secret_file: z
    .string()
    .min(1)
    .optional()
    .describe("File with the secret of the client, instead of client_secret. Read again every hour.")
    .meta({ [FILE_ONLY]: true }),
  name: PlainText.min(1).max(80).default("single sign-on").describe("Name on the sign-in page."),
  scopes: z
    .array(z.string().min(1))
    .default(["openid", "profile", "email"])
    .describe("Scopes to request. Some providers send groups only for a special scope."),
  rules: z
    .array(oidcRule)
    .max(1_000)
    .default([])
    .describe(
      "Rules that give rights to people by a claim in their ID token or userinfo, such as a group: a role in an organization, with teams of it, or all rights as the operator. In the organizations that rules name, the rules decide who is a member, except about memberships that were made by hand or by an invitation.",
    ),
  create_users: z
    .boolean()
    .default(false)
    .describe("Whether a user is created at the first sign-in of a person to whom a rule gives a role."),
  reauthenticate_ms: z
    .int()
    .min(60_000)
    .nullable()
    .default(900_000)
    .describe(
      "How long after the sign-in at the provider a session may make changes that give money or rights, such as credits, overdrafts, roles and management keys. After that, the person must sign in again. null: for the whole session.",
    ),
});

/** The settings of sign-in through an OpenID Connect provider. */
export const oidcSchema = oidcFields
  .refine(
    ({ client_secret, client_secret_file }) =>
      (client_secret === undefined) !== (client_secret_file === undefined),
    "must have either client_secret (GATEWAY_OIDC_CLIENT_SECRET) or client_secret_file",
  )
  .describe("Sign-in to the console through an OpenID Connect provider; see docs/console.md.");

/** The checked settings of sign-in through an OpenID Connect provider. */
export type OidcConfig = z.infer<typeof oidcSchema>;

/** Secrets are sent to the issuer, so it must use TLS unless it is on the same machine. */
function isSafeIssuer(issuer: string): boolean {
  if (!URL.canParse(issuer)) return true;
  const { protocol, hostname } = new URL(issuer);
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
