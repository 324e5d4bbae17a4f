import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { toDollars } from "../../../base/numbers/money.ts";
import { dayOf } from "../../../base/time/time.ts";
import { IdInput, SearchInput } from "../../../core/accounts/fields/resource-fields.ts";
import { findAccount } from "../../../core/accounts/manage/manage-accounts.ts";
import { putMember, removeMember } from "../../../core/accounts/manage/manage-members.ts";
import { MEMBER_SETTINGS, MemberView, presentMember } from "../../../core/accounts/records/member-fields.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import type { MemberRecord } from "../../../core/accounts/records/records.ts";
import { rightOver } from "../../../core/accounts/records/rights.ts";
import type { AccountStore } from "../../../core/accounts/stores/account-store.ts";
import { mayRead, needs, requireOwnAccount } from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { findTeamsOf, TeamOfMember } from "../../api/member-teams.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import { requireRight } from "../../middleware/authorize.ts";

const MemberParams = z.object({ id: IdInput, user_id: IdInput });
const { role, daily_limit } = MEMBER_SETTINGS;

const ListedMember = MemberView.extend({
  user_name: z.string().nullable().describe("Display name of the user."),
  teams: z.array(TeamOfMember).describe("The teams of the member in the organization."),
}).meta({ id: "ListedMember", description: "A member as lists show it." });

/** The query parameter that ends a membership although rules have given it. */
export const ForceQuery = z
  .enum(["true", "false"])
  .default("false")
  .describe(
    "End also a membership that rules of OpenID Connect have given. It may come back at the next sign-in.",
  );

/** `GET /api/admin/organizations/{id}/members`: the members of an organization. */
export const listMembers = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations/:id/members",
  tag: "Members",
  summary: "List the members of an organization",
  access: needs("read"),
  params: z.object({ id: IdInput }),
  query: z.strictObject({
    ...PAGE_QUERY,
    search: SearchInput.optional().describe(
      "Only members whose name, e-mail address or id contains this text (case-insensitive).",
    ),
  }),
  response: pageView(ListedMember),
  async handle({ principal, params, query, deps }) {
    const { accounts } = deps.resources.keyStores;
    const { id } = await findAccount(accounts, "organization", requireOwnAccount(principal, params.id));
    return makePage({
      limit: query.limit,
      load: (limit) =>
        accounts.listMembers({
          organizationId: id,
          search: query.search,
          afterUserId: query.after ?? null,
          limit,
        }),
      async present(members) {
        const users = members.map(({ userId }) => userId);
        const names = await accounts.findAccountNames(users);
        const teamsOf = await findTeamsOf(deps, id, users);
        return members.map((member) => ({
          ...presentMember(member),
          user_name: names.get(member.userId) ?? null,
          teams: teamsOf(member.userId),
        }));
      },
      cursorOf: ({ userId }) => userId,
    });
  },
});

/** `GET /api/admin/organizations/{id}/members/{user_id}`: a member, for those who may read the organization, and for the member. */
export const getMember = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations/:id/members/:user_id",
  tag: "Members",
  summary: "Retrieve a member with their teams, and the amount that they have spent today",
  access: needs("own"),
  params: MemberParams,
  response: z.object({
    data: ListedMember.extend({
      email: z.string().nullable().describe("E-mail address of the user."),
      spent_today: z
        .number()
        .describe("US dollars that the member has spent of the organization's balance today (UTC)."),
    }),
  }),
  async handle({ principal, params: { id, user_id }, deps }) {
    requireOwnAccount(principal, id);
    const { accounts } = deps.resources.keyStores;
    const isSeen = mayRead(principal, { accountId: id, userId: user_id });
    const member = isSeen ? await accounts.findMember(id, user_id) : null;
    if (member === null) return fail("not_found", "This organization has no member with that id.");
    await deps.generation.recorder.drain();
    const today = dayOf(deps.clock.now());
    const [user, teamsOf, spent] = await Promise.all([
      accounts.findAccount(user_id),
      findTeamsOf(deps, id, [user_id]),
      deps.resources.credits.store.sumSpending({
        ...{ accountId: id, userId: user_id, days: { from: today, to: today } },
      }),
    ]);
    return {
      data: {
        ...presentMember(member),
        user_name: user?.name ?? null,
        teams: teamsOf(user_id),
        email: user?.email ?? null,
        spent_today: toDollars(spent),
      },
    };
  },
});

/** `PUT /api/admin/organizations/{id}/members/{user_id}`: makes a user a member, or replaces their role and limit. */
export const putOrganizationMember = defineEndpoint({
  method: "PUT",
  path: "/api/admin/organizations/:id/members/:user_id",
  tag: "Members",
  summary: "Make a user a member of an organization, or replace a member's role and daily limit",
  access: needs("manage_people"),
  params: MemberParams,
  body: z.strictObject({ role: role.input, daily_limit: daily_limit.input.default(null) }),
  response: z.object({ data: MemberView }),
  errors: ["conflict"],
  async handle({ principal, params, body, deps, audit }) {
    const { id, user_id } = params;
    requireOwnAccount(principal, id);
    requireRight(principal, rightOver(body.role));
    const found = await requireRightOver(deps.resources.keyStores.accounts, principal, params);
    const member = await putMember(deps.resources.keyStores, {
      organizationId: id,
      userId: user_id,
      role: body.role,
      dailyLimit: daily_limit.read(body.daily_limit),
      source: "manual",
    });
    deps.callers.accountCache.memberChanged(id, user_id);
    const after = presentMember(member);
    const changes =
      found === null ? { before: null, after: body } : describeChange(body, presentMember(found), after);
    audit({ accountId: id, target: `${id}/${user_id}`, changes });
    return { data: after };
  },
});

/** `DELETE /api/admin/organizations/{id}/members/{user_id}`: removes a member. */
export const deleteMember = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/organizations/:id/members/:user_id",
  tag: "Members",
  summary: "Remove a member, and revoke their keys of the organization",
  access: needs("manage_people"),
  params: MemberParams,
  query: z.strictObject({ force: ForceQuery }),
  response: z.object({ data: z.object({ organization_id: z.string(), user_id: z.string() }) }),
  errors: ["conflict"],
  async handle({ principal, params, query, deps, audit }) {
    const { id, user_id } = params;
    requireOwnAccount(principal, id);
    await requireRightOver(deps.resources.keyStores.accounts, principal, params);
    const revoked = await removeMember(deps.resources.keyStores, {
      ...{ organizationId: id, userId: user_id, by: "manual" },
      isForced: query.force === "true",
    });
    deps.callers.accountCache.memberChanged(id, user_id);
    for (const key of revoked) deps.callers.keyCache.changed(key);
    audit({ accountId: id, target: `${id}/${user_id}`, changes: { revoked_keys: revoked.length } });
    return { data: { organization_id: id, user_id } };
  },
});

/** Rejects a change of a member whose role the principal may not give. Returns the member; null if there is none. */
async function requireRightOver(
  accounts: AccountStore,
  principal: ManagementPrincipal,
  { id, user_id }: z.infer<typeof MemberParams>,
): Promise<MemberRecord | null> {
  const member = await accounts.findMember(id, user_id);
  if (member !== null) requireRight(principal, rightOver(member.role));
  return member;
}
