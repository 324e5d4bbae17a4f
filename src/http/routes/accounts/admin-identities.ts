import { z } from "zod";
import { fail, rejectField } from "../../../base/failures/errors.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { requireUser } from "../../../core/accounts/manage/manage-accounts.ts";
import type { Identity } from "../../../core/console/identity-store.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";

const TAG = "Console";
const PATH = "/api/admin/identities";
/** The maximum number of identities in a list. */
const MAX_IDENTITIES = 10_000;

const Issuer = z.url().max(1_000).optional();
const Subject = z
  .string()
  .min(1)
  .max(255)
  .meta({ description: "Subject (`sub`) of the person at the provider.", examples: ["248289761001"] });

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
  summary: "List the people of the OpenID Connect provider who are linked to users, oldest first",
  access: OPERATOR,
  response: z.object({ data: z.array(IdentityView) }),
  async handle({ deps }) {
    const found = await deps.resources.identities.listIdentities(MAX_IDENTITIES);
    return {
      data: found.map(({ createdAt, ...identity }) => ({
        ...presentLink(identity),
        created_at: new Date(createdAt).toISOString(),
      })),
    };
  },
});

/** `POST /api/admin/users/{id}/identities`: links a person to a user. */
export const postIdentity = defineEndpoint({
  method: "POST",
  path: "/api/admin/users/:id/identities",
  tag: TAG,
  summary: "Link a person of the OpenID Connect provider to a user",
  access: OPERATOR,
  params: z.object({ id: IdInput }),
  body: z.strictObject({
    issuer: Issuer.meta({
      description:
        "Issuer (`iss`) of the OpenID Connect provider. Default: the configured `console.oidc.issuer`.",
      examples: ["https://id.example.com"],
    }),
    subject: Subject,
  }),
  response: z.object({ data: IdentityLink }),
  status: 201,
  errors: ["conflict"],
  async handle({ params: { id: userId }, body, deps, audit }) {
    const issuer =
      body.issuer ??
      deps.browser.oidcIssuer ??
      rejectField("issuer", "is required, because no provider is configured (console.oidc)");
    const link = { issuer, subject: body.subject, userId };
    await requireUser(deps.resources.keyStores, userId, "id");
    if (!(await deps.resources.identities.addIdentity({ ...link, createdAt: deps.clock.now() })))
      fail("conflict", `The person ${link.subject} is linked to a user already. Remove that link first.`);
    audit(describeLink(link));
    return { data: presentLink(link) };
  },
});

/** `DELETE /api/admin/users/{id}/identities/{subject}`: removes the link of a person to a user. */
export const deleteIdentity = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/users/:id/identities/:subject",
  tag: TAG,
  summary: "Remove the link of a person to a user. Existing sessions of the person continue",
  access: OPERATOR,
  params: z.object({ id: IdInput, subject: Subject }),
  query: z.strictObject({
    issuer: Issuer.describe(
      "Issuer (`iss`) of the provider. Default: that of the user's link to the subject.",
    ),
  }),
  response: z.object({ data: IdentityLink }),
  async handle({ params: { id, subject }, query, deps, audit }) {
    const links = (await deps.resources.identities.listIdentities(MAX_IDENTITIES)).filter(
      (one) => one.userId === id && one.subject === subject && one.issuer === (query.issuer ?? one.issuer),
    );
    const [link, other] = links;
    if (link === undefined) return fail("not_found", `The person ${subject} is not linked to ${id}.`);
    if (other !== undefined)
      rejectField("issuer", "is required: people of several issuers have this subject");
    await deps.resources.identities.removeIdentity(link.issuer, link.subject);
    audit(describeLink(link));
    return { data: presentLink(link) };
  },
});

type Link = Omit<Identity, "createdAt">;

function presentLink({ issuer, subject, userId }: Link) {
  return { issuer, subject, user_id: userId };
}

function describeLink({ issuer, subject, userId }: Link) {
  return { accountId: userId, target: userId, changes: { issuer, subject } };
}
