import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { requireUser } from "../../core/accounts/manage-accounts.ts";
import { IdInput } from "../../core/accounts/resource-fields.ts";
import type { Identity } from "../../core/console/identity-store.ts";
import { OPERATOR } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import type { StoreDeps } from "../context/store-deps.ts";

const TAG = "Console";
const PATH = "/api/admin/identities";
/** Identities that a list has at most. */
const MAX_IDENTITIES = 10_000;

const LINK = {
  issuer: z
    .url()
    .max(1_000)
    .optional()
    .describe(
      "Issuer (`iss`) of the OpenID Connect provider. Default: the configured `console.oidc.issuer`.",
    ),
  subject: z.string().min(1).max(255).describe("Subject (`sub`) of the person at the provider."),
  user_id: IdInput.describe("Id of the user that the person is."),
};

const IdentityLink = z.object({ issuer: z.string(), subject: z.string(), user_id: z.string() });
const IdentityView = IdentityLink.extend({
  created_at: z.iso.datetime().describe("Time at which the person was linked (RFC 3339)."),
}).meta({
  id: "Identity",
  description: "A person at an OpenID Connect provider, and the user that the person is.",
});

/** `GET /api/admin/identities`: the people of the OpenID Connect provider who are linked to users. */
export const listIdentities = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "List the people of the OpenID Connect provider who are linked to users, the oldest first",
  access: OPERATOR,
  params: NOTHING,
  query: z.strictObject({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(MAX_IDENTITIES)
      .default(50)
      .describe("Maximum number of people in the list."),
  }),
  body: NOTHING,
  response: z.object({ data: z.array(IdentityView) }),
  async handle({ query, deps }) {
    const found = await deps.identities.listIdentities(query.limit);
    return {
      data: found.map(({ createdAt, ...identity }) => ({
        ...presentLink(identity),
        created_at: new Date(createdAt).toISOString(),
      })),
    };
  },
});

/** `POST /api/admin/identities`: links a person to a user. */
export const postIdentity = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Link a person of the OpenID Connect provider to a user",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject(LINK),
  response: z.object({ data: IdentityLink }),
  status: 201,
  errors: ["conflict"],
  async handle({ body, deps, audit }) {
    const link = readLink(body, deps);
    await requireUser(deps.keyStores, link.userId, "user_id");
    if (!(await deps.identities.addIdentity({ ...link, createdAt: deps.clock.now() })))
      fail("conflict", `The person ${link.subject} is linked to a user already. Remove that link first.`);
    audit(auditedLink(link));
    return { data: presentLink(link) };
  },
});

/** `DELETE /api/admin/identities`: removes the link of a person to a user. */
export const deleteIdentity = defineEndpoint({
  method: "DELETE",
  path: PATH,
  tag: TAG,
  summary: "Remove the link of a person to a user. Sessions of the person go on until they end",
  access: OPERATOR,
  params: NOTHING,
  query: z.strictObject(LINK),
  body: NOTHING,
  response: z.object({ data: IdentityLink }),
  async handle({ query, deps, audit }) {
    const link = readLink(query, deps);
    const found = await deps.identities.findIdentity(link.issuer, link.subject);
    if (found?.userId !== link.userId)
      fail("not_found", `The person ${link.subject} is not linked to ${link.userId}.`);
    await deps.identities.removeIdentity(link.issuer, link.subject);
    audit(auditedLink(link));
    return { data: presentLink(link) };
  },
});

type Link = Omit<Identity, "createdAt">;

interface LinkInput {
  readonly issuer?: string | undefined;
  readonly subject: string;
  readonly user_id: string;
}

/** @throws GatewayError `invalid_request` if no issuer is named and none is configured. */
function readLink({ issuer, subject, user_id: userId }: LinkInput, { oidcIssuer }: StoreDeps): Link {
  const named = issuer ?? oidcIssuer;
  if (named !== null) return { issuer: named, subject, userId };
  return fail("invalid_request", "No provider is configured (console.oidc). Name one with issuer.", {
    metadata: { field: "issuer" },
  });
}

function presentLink({ issuer, subject, userId }: Link) {
  return { issuer, subject, user_id: userId };
}

function auditedLink({ issuer, subject, userId }: Link) {
  return { accountId: userId, target: userId, changes: { issuer, subject } };
}
