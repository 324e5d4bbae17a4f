import { z } from "zod";
import {
  changeShape,
  IdInput,
  readFields,
  SearchInput,
} from "../../../core/accounts/fields/resource-fields.ts";
import {
  changeTeam,
  createTeam,
  deleteTeam as endTeam,
  findTeam,
  putTeamMember,
  removeTeamMember,
} from "../../../core/accounts/manage/manage-teams.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import type { TeamRecord } from "../../../core/accounts/records/records.ts";
import {
  presentTeam,
  presentTeamMember,
  TEAM_SETTINGS,
  TeamMemberView,
  TeamView,
} from "../../../core/accounts/records/team-fields.ts";
import { MAX_TEAM_MEMBERS } from "../../../core/accounts/stores/team-store.ts";
import { isInTeam, listedAccountOf, needs, requireOwnAccount, requireTeamRight } from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { hasRight } from "../../middleware/authorize.ts";
import { ForceQuery } from "./admin-members.ts";

const TAG = "Teams";
const PATH = "/api/admin/organizations/:id/teams";
const ONE = `${PATH}/:team_id`;
const MEMBERS = `${ONE}/members`;

const OrganizationParams = z.object({ id: IdInput });
const TeamParams = z.object({ id: IdInput, team_id: IdInput });
const MemberParams = TeamParams.extend({ user_id: IdInput });
const SHAPE = changeShape(TEAM_SETTINGS);

const ListedTeam = TeamView.extend({ members: z.int().describe("Number of members.") });

/** `GET /api/admin/organizations/{id}/teams`: the teams of an organization. Without the right to read it, one's own teams. */
export const listTeams = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary:
    "List the teams of an organization by name; members without the right to read it see their own teams",
  access: needs("own"),
  params: OrganizationParams,
  response: z.object({ data: z.array(ListedTeam) }),
  async handle({ principal, params, deps }) {
    const id = requireOwnAccount(principal, params.id);
    const { teams } = deps.resources.keyStores;
    const all = await teams.listTeams(id);
    const counts = await teams.countTeamMembers(id);
    const seen = all.filter((team) => hasRight(principal, "read") || isInTeam(principal, team.id));
    const byName = seen.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
    return { data: byName.map((team) => ({ ...presentTeam(team), members: counts.get(team.id) ?? 0 })) };
  },
});

/** `GET /api/admin/teams`: the teams of all organizations, or of the own one. Without the right to read it, one's own teams. */
export const listAllTeams = defineEndpoint({
  method: "GET",
  path: "/api/admin/teams",
  tag: TAG,
  summary:
    "List teams, newest first, deleted ones too: of all organizations for the operator, otherwise of the key's account; members without the right to read it see their own teams",
  access: needs("own"),
  query: z.strictObject({
    ...PAGE_QUERY,
    account_id: IdInput.optional().describe("Only the teams of this organization."),
    named: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Only the teams with this id or name (case-insensitive)."),
    search: SearchInput.optional().describe(
      "Only teams whose name or id contains this text (case-insensitive).",
    ),
  }),
  response: pageView(TeamView),
  async handle({ principal, query, deps }) {
    const organizationId = listedAccountOf(principal, query.account_id) ?? undefined;
    const { named, search, after: afterId } = query;
    const readsAll = principal.kind === "operator" || hasRight(principal, "read");
    const ids = readsAll ? undefined : (principal.member?.teams ?? []).map(({ teamId }) => teamId);
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.resources.keyStores.teams.listAllTeams({ organizationId, ids, named, search, afterId, limit }),
      present: (teams) => teams.map(presentTeam),
      cursorOf: ({ id }) => id,
    });
  },
});

/** `POST /api/admin/organizations/{id}/teams`: creates a team. */
export const postTeam = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Create a team in an organization",
  access: needs("manage_people"),
  params: OrganizationParams,
  body: z.strictObject({ ...SHAPE, name: TEAM_SETTINGS.name.input }),
  response: z.object({ data: TeamView }),
  status: 201,
  errors: ["conflict"],
  async handle({ principal, params, body, deps, audit }) {
    const organizationId = requireOwnAccount(principal, params.id);
    const settings = { ...readFields(TEAM_SETTINGS, body), name: body.name };
    const team = await createTeam(deps.resources.keyStores, deps.generation.serving, {
      organizationId,
      settings,
    });
    deps.callers.accountCache.changed(organizationId);
    audit({ accountId: organizationId, target: team.id, changes: body });
    return { data: presentTeam(team) };
  },
});

/** `GET /api/admin/organizations/{id}/teams/{team_id}`: a team. */
export const getTeam = defineEndpoint({
  method: "GET",
  path: ONE,
  tag: TAG,
  summary: "Retrieve a team",
  access: needs("own"),
  params: TeamParams,
  response: z.object({ data: ListedTeam }),
  async handle({ principal, params, deps }) {
    const team = await findSeen(deps, principal, params);
    const counts = await deps.resources.keyStores.teams.countTeamMembers(team.organizationId);
    return { data: { ...presentTeam(team), members: counts.get(team.id) ?? 0 } };
  },
});

/** `PATCH /api/admin/organizations/{id}/teams/{team_id}`: changes a team. */
export const patchTeam = defineEndpoint({
  method: "PATCH",
  path: ONE,
  tag: TAG,
  summary: "Update a team. Omitted fields keep their value",
  access: needs("manage_people"),
  params: TeamParams,
  body: z.strictObject(SHAPE).meta({ examples: [{ tags: ["team:search"] }] }),
  response: z.object({ data: TeamView }),
  errors: ["conflict"],
  async handle({ principal, params, body, deps, audit }) {
    const before = await findSeen(deps, principal, params);
    const change = readFields(TEAM_SETTINGS, body);
    const team = await changeTeam(deps.resources.keyStores, deps.generation.serving, {
      team: before,
      change,
    });
    deps.callers.accountCache.changed(team.organizationId);
    audit({
      accountId: team.organizationId,
      target: team.id,
      changes: describeChange(body, presentTeam(before), presentTeam(team)),
    });
    return { data: presentTeam(team) };
  },
});

/** `DELETE /api/admin/organizations/{id}/teams/{team_id}`: deletes a team. Its usage and requests remain. */
export const deleteTeam = defineEndpoint({
  method: "DELETE",
  path: ONE,
  tag: TAG,
  summary: "Delete a team with its memberships, and revoke its keys. Its usage remains",
  access: needs("manage_people"),
  params: TeamParams,
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true), revoked_keys: z.int() }) }),
  async handle({ principal, params, deps, audit }) {
    const team = await findSeen(deps, principal, params);
    const members = await listUsers(deps, team.id);
    const revoked = await endTeam(deps.resources.keyStores, team.id);
    const { accountCache, keyCache } = deps.callers;
    accountCache.changed(team.organizationId);
    for (const userId of members) accountCache.memberChanged(team.organizationId, userId);
    for (const key of revoked) keyCache.changed(key);
    audit({
      accountId: team.organizationId,
      target: team.id,
      changes: { name: team.name, revoked_keys: revoked.length },
    });
    return { data: { id: team.id, deleted: true, revoked_keys: revoked.length } };
  },
});

async function listUsers({ resources }: StoreDeps, teamId: string): Promise<readonly string[]> {
  const members = await resources.keyStores.teams.listTeamMembers({
    teamId,
    afterUserId: null,
    limit: MAX_TEAM_MEMBERS,
  });
  return members.map(({ userId }) => userId);
}

/** `GET /api/admin/organizations/{id}/teams/{team_id}/members`: the members of a team. */
export const listTeamMembers = defineEndpoint({
  method: "GET",
  path: MEMBERS,
  tag: TAG,
  summary: "List the members of a team",
  access: needs("own"),
  params: TeamParams,
  query: z.strictObject(PAGE_QUERY),
  response: pageView(
    TeamMemberView.extend({ user_name: z.string().nullable().describe("Display name of the user.") }),
  ),
  async handle({ principal, params, query, deps }) {
    const { id: teamId } = await findSeen(deps, principal, params);
    const { accounts, teams } = deps.resources.keyStores;
    return makePage({
      limit: query.limit,
      load: (limit) => teams.listTeamMembers({ teamId, afterUserId: query.after ?? null, limit }),
      async present(members) {
        const names = await accounts.findAccountNames(members.map(({ userId }) => userId));
        return members.map((member) => ({
          ...presentTeamMember(member),
          user_name: names.get(member.userId) ?? null,
        }));
      },
      cursorOf: ({ userId }) => userId,
    });
  },
});

/** `GET /api/admin/organizations/{id}/teams/{team_id}/candidates`: who can be added to a team, for those who may add members. */
export const listTeamCandidates = defineEndpoint({
  method: "GET",
  path: `${ONE}/candidates`,
  tag: TAG,
  summary: "List the members of the organization who are not in a team, for those who may add them",
  access: needs("own"),
  params: TeamParams,
  query: z.strictObject({
    ...PAGE_QUERY,
    search: SearchInput.optional().describe(
      "Only members whose name, e-mail address or id contains this text (case-insensitive).",
    ),
  }),
  response: pageView(
    z.object({
      user_id: z.string().describe("Id of the user."),
      user_name: z.string().nullable().describe("Display name of the user."),
    }),
  ),
  async handle({ principal, params, query, deps }) {
    const { id: teamId, organizationId } = await findSeen(deps, principal, params);
    requireTeamRight(principal, teamId, "lead");
    const { accounts } = deps.resources.keyStores;
    const { search, after: afterUserId = null } = query;
    return makePage({
      limit: query.limit,
      load: (limit) =>
        accounts.listMembers({ organizationId, outsideTeamId: teamId, search, afterUserId, limit }),
      async present(members) {
        const names = await accounts.findAccountNames(members.map(({ userId }) => userId));
        return members.map(({ userId }) => ({ user_id: userId, user_name: names.get(userId) ?? null }));
      },
      cursorOf: ({ userId }) => userId,
    });
  },
});

/** `PUT /api/admin/organizations/{id}/teams/{team_id}/members/{user_id}`: adds a member to a team. */
export const putMemberOfTeam = defineEndpoint({
  method: "PUT",
  path: `${MEMBERS}/:user_id`,
  tag: TAG,
  summary:
    "Add a member of the organization to a team, or replace whether they lead it. Leads may add members, and not leads",
  access: needs("own"),
  params: MemberParams,
  body: z.strictObject({
    is_lead: z
      .boolean()
      .default(false)
      .describe("Whether the member leads the team. Only owners and admins may set it."),
  }),
  response: z.object({ data: TeamMemberView }),
  errors: ["conflict"],
  async handle({ principal, params, body, deps, audit }) {
    const team = await findSeen(deps, principal, params);
    const found = await deps.resources.keyStores.teams.findTeamMember(team.id, params.user_id);
    requireTeamRight(principal, team.id, body.is_lead || found?.isLead === true ? "manage_people" : "lead");
    const member = await putTeamMember(deps.resources.keyStores, {
      ...{ team, userId: params.user_id, isLead: body.is_lead, source: "manual" },
    });
    deps.callers.accountCache.memberChanged(team.organizationId, params.user_id);
    const target = `${team.id}/${params.user_id}`;
    audit({ accountId: team.organizationId, target, changes: { ...body, team: team.name } });
    return { data: presentTeamMember(member) };
  },
});

/** `DELETE /api/admin/organizations/{id}/teams/{team_id}/members/{user_id}`: removes a member from a team. */
export const deleteMemberOfTeam = defineEndpoint({
  method: "DELETE",
  path: `${MEMBERS}/:user_id`,
  tag: TAG,
  summary: "Remove a member from a team, and revoke their keys of the team",
  access: needs("own"),
  params: MemberParams,
  query: z.strictObject({ force: ForceQuery }),
  response: z.object({ data: z.object({ team_id: z.string(), user_id: z.string(), revoked_keys: z.int() }) }),
  errors: ["conflict"],
  async handle({ principal, params, query, deps, audit }) {
    const team = await findSeen(deps, principal, params);
    const found = await deps.resources.keyStores.teams.findTeamMember(team.id, params.user_id);
    requireTeamRight(principal, team.id, found?.isLead === true ? "manage_people" : "lead");
    const revoked = await removeTeamMember(deps.resources.keyStores, {
      ...{ teamId: team.id, userId: params.user_id, by: "manual" },
      isForced: query.force === "true",
    });
    deps.callers.accountCache.memberChanged(team.organizationId, params.user_id);
    for (const key of revoked) deps.callers.keyCache.changed(key);
    const target = `${team.id}/${params.user_id}`;
    const changes = { team: team.name, revoked_keys: revoked.length };
    audit({ accountId: team.organizationId, target, changes });
    return { data: { team_id: team.id, user_id: params.user_id, revoked_keys: revoked.length } };
  },
});

/** Returns a team that the principal may see. @throws GatewayError `not_found`, also for a team of others. */
async function findSeen(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  { id, team_id }: z.infer<typeof TeamParams>,
): Promise<TeamRecord> {
  requireOwnAccount(principal, id);
  const isSeen = hasRight(principal, "read") || isInTeam(principal, team_id);
  return findTeam(deps.resources.keyStores, id, isSeen ? team_id : "");
}
