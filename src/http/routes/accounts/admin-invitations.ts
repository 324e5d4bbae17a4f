import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { findAccount } from "../../../core/accounts/manage/manage-accounts.ts";
import {
  createInvitation,
  findInvitation,
  withdrawInvitation,
} from "../../../core/accounts/manage/manage-invitations.ts";
import {
  InvitationBody,
  InvitationView,
  presentInvitation,
} from "../../../core/accounts/records/invitation-fields.ts";
import type { InvitationRecord, InvitedTeam } from "../../../core/accounts/records/invitation-records.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { type Role, rightOver } from "../../../core/accounts/records/rights.ts";
import { leadsTeam, needs, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { hasRight, requireRight } from "../../middleware/authorize.ts";

const TAG = "Invitations";
const PATH = "/api/admin/organizations/:id/invitations";

const OrganizationParams = z.object({ id: IdInput });

/** `GET /api/admin/organizations/{id}/invitations`: the invitations of an organization. Leads see those that they have made. */
export const listInvitations = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "List the invitations of an organization with their state; leads of teams see their own",
  access: needs("own"),
  params: OrganizationParams,
  query: z.strictObject(PAGE_QUERY),
  response: pageView(InvitationView),
  async handle({ principal, params, query, deps }) {
    const organizationId = requireOwnAccount(principal, params.id);
    const createdBy = listedInviterOf(principal);
    await findAccount(deps.resources.keyStores.accounts, "organization", organizationId);
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.resources.keyStores.invitations.listInvitations({
          organizationId,
          createdBy,
          afterId: query.after ?? null,
          limit,
        }),
      present: (invitations) => presentAll(deps, invitations),
      cursorOf: ({ id }) => id,
    });
  },
});

/** Returns the user whose invitations alone a principal sees; null if it sees all. @throws GatewayError `permission_denied`. */
function listedInviterOf(principal: ManagementPrincipal): string | null {
  if (principal.kind === "operator" || hasRight(principal, "inspect")) return null;
  if (!leadsAnyTeam(principal)) requireRight(principal, "manage_people");
  return principal.key.userId;
}

function leadsAnyTeam(principal: ManagementPrincipal): boolean {
  return principal.kind === "key" && (principal.member?.teams ?? []).some(({ isLead }) => isLead);
}

/** `POST /api/admin/organizations/{id}/invitations`: invites a person. The response alone has the link. */
export const postInvitation = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary:
    "Invite a person to an organization by a link that works once; leads invite members into their teams",
  access: needs("own"),
  params: OrganizationParams,
  body: InvitationBody,
  response: z.object({
    link: z.string().describe("The link. It is shown once: only its hash is stored."),
    data: InvitationView,
  }),
  status: 201,
  errors: ["conflict"],
  respondsWithSecret: true,
  async handle({ principal, params, body, deps, consoleUrl, audit }) {
    const organizationId = requireOwnAccount(principal, params.id);
    const { role, email, expires_in_hours: expiresInHours } = body;
    const teams = body.teams.map(({ id, is_lead }) => ({ id, isLead: is_lead }));
    requireRightToInvite(principal, { role, teams });
    const base = consoleUrl();
    const { secret, invitation } = await createInvitation(deps.resources.keyStores, {
      ...{ organizationId, role, teams, email, expiresInHours },
      createdBy: principal.kind === "operator" ? null : principal.key.userId,
    });
    audit({
      accountId: organizationId,
      target: invitation.id,
      changes: {
        role,
        ...(email !== null && { email }),
        ...(body.teams.length > 0 && { teams: body.teams }),
        expires_in_hours: expiresInHours,
      },
    });
    const [data] = await presentAll(deps, [invitation]);
    return { link: `${base}/invite#code=${secret}`, data };
  },
});

/** `DELETE /api/admin/organizations/{id}/invitations/{invitation_id}`: withdraws an invitation. */
export const deleteInvitation = defineEndpoint({
  method: "DELETE",
  path: `${PATH}/:invitation_id`,
  tag: TAG,
  summary: "Withdraw an open invitation: its link no longer works",
  access: needs("own"),
  params: OrganizationParams.extend({ invitation_id: IdInput }),
  response: z.object({ data: InvitationView }),
  errors: ["conflict"],
  async handle({ principal, params, deps, audit }) {
    const organizationId = requireOwnAccount(principal, params.id);
    // Rejects those who see no invitations.
    listedInviterOf(principal);
    const invitation = await findInvitation(deps.resources.keyStores, organizationId, params.invitation_id);
    const isOwn = principal.kind === "key" && (invitation.createdBy ?? "") === principal.key.userId;
    if (!isOwn) requireRight(principal, rightOver(invitation.role));
    const withdrawn = await withdrawInvitation(deps.resources.keyStores, invitation);
    audit({ accountId: organizationId, target: invitation.id, changes: { withdrawn: true } });
    const [data] = await presentAll(deps, [withdrawn]);
    return { data };
  },
});

/**
 * Rejects an invitation that gives more than the principal may: owners need `manage_owners`, and leads of teams may invite members into
 * their own teams only.
 * @throws GatewayError `permission_denied`.
 */
function requireRightToInvite(
  principal: ManagementPrincipal,
  { role, teams }: { readonly role: Role; readonly teams: readonly InvitedTeam[] },
): void {
  if (hasRight(principal, rightOver(role))) return;
  if (hasRight(principal, "manage_people") || !leadsAnyTeam(principal))
    requireRight(principal, rightOver(role));
  if (role !== "member")
    rejectLead("role", "Leads of teams invite members only. Send `role: member`, or ask an owner or admin.");
  if (teams.length === 0 || !teams.every(({ id }) => leadsTeam(principal, id)))
    rejectLead(
      "teams",
      "Leads invite into the teams that they lead. Name at least one of these, and no other.",
    );
  if (teams.some(({ isLead }) => isLead))
    rejectLead("teams", "Only owners and admins invite leads. Send `is_lead: false`.");
}

function rejectLead(field: string, message: string): never {
  return fail("permission_denied", message, { metadata: { field } });
}

/** Returns invitations with the names of their users and teams. */
async function presentAll({ resources, clock }: StoreDeps, invitations: readonly InvitationRecord[]) {
  const { accounts, teams } = resources.keyStores;
  const users = invitations.flatMap(({ createdBy, userId }) => [createdBy, userId]);
  const names = new Map([
    ...(await accounts.findAccountNames(unique(users))),
    ...(await teams.findTeamNames(unique(invitations.flatMap((one) => one.teams.map(({ id }) => id))))),
  ]);
  const now = clock.now();
  return invitations.map((invitation) => presentInvitation(invitation, { names, now }));
}

function unique(ids: readonly (string | null)[]): readonly string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}
