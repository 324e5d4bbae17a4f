import { z } from "zod";
import { IdInput, SearchInput } from "../../../core/accounts/fields/resource-fields.ts";
import { findAccount } from "../../../core/accounts/manage/manage-accounts.ts";
import { putMember, removeMember } from "../../../core/accounts/manage/manage-members.ts";
import { MEMBER_SETTINGS, MemberView, presentMember } from "../../../core/accounts/records/member-fields.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import type { MemberRecord } from "../../../core/accounts/records/records.ts";
import type { AccountStore } from "../../../core/accounts/stores/account-store.ts";
import { ACCOUNT_MANAGERS, ACCOUNT_READERS, requireOwnAccount, requireRank } from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";

const MemberParams = z.object({ id: IdInput, user_id: IdInput });
const { role, daily_limit } = MEMBER_SETTINGS;

/** `GET /api/admin/organizations/{id}/members`: the members of an organization. */
export const listMembers = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations/:id/members",
  tag: "Members",
  summary: "List the members of an organization",
  access: ACCOUNT_READERS,
  params: z.object({ id: IdInput }),
  query: z.strictObject({
    ...PAGE_QUERY,
    search: SearchInput.optional().describe(
      "Only members whose name, e-mail address or id contains this text (case-insensitive).",
    ),
  }),
  response: pageView(
    MemberView.extend({ user_name: z.string().nullable().describe("Display name of the user.") }),
  ),
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
        const names = await accounts.findAccountNames(members.map(({ userId }) => userId));
        return members.map((member) => ({
          ...presentMember(member),
          user_name: names.get(member.userId) ?? null,
        }));
      },
      cursorOf: ({ userId }) => userId,
    });
  },
});

/** `PUT /api/admin/organizations/{id}/members/{user_id}`: makes a user a member, or replaces their role and limit. */
export const putOrganizationMember = defineEndpoint({
  method: "PUT",
  path: "/api/admin/organizations/:id/members/:user_id",
  tag: "Members",
  summary: "Make a user a member of an organization, or replace a member's role and daily limit",
  access: ACCOUNT_MANAGERS,
  params: MemberParams,
  body: z.strictObject({ role: role.input, daily_limit: daily_limit.input.default(null) }),
  response: z.object({ data: MemberView }),
  async handle({ principal, params, body, deps, audit }) {
    const { id, user_id } = params;
    requireOwnAccount(principal, id);
    requireRank(principal, body.role);
    const found = await requireRankOver(deps.resources.keyStores.accounts, principal, params);
    const member = await putMember(deps.resources.keyStores, {
      organizationId: id,
      userId: user_id,
      role: body.role,
      dailyLimit: daily_limit.read(body.daily_limit),
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
  access: ACCOUNT_MANAGERS,
  params: MemberParams,
  response: z.object({ data: z.object({ organization_id: z.string(), user_id: z.string() }) }),
  async handle({ principal, params, deps, audit }) {
    const { id, user_id } = params;
    requireOwnAccount(principal, id);
    await requireRankOver(deps.resources.keyStores.accounts, principal, params);
    const revoked = await removeMember(deps.resources.keyStores, id, user_id);
    deps.callers.accountCache.memberChanged(id, user_id);
    for (const key of revoked) deps.callers.keyCache.changed(key);
    audit({ accountId: id, target: `${id}/${user_id}`, changes: { revoked_keys: revoked.length } });
    return { data: { organization_id: id, user_id } };
  },
});

/** Rejects a change of a member with a higher role than the principal's. Returns the member; null if there is none. */
async function requireRankOver(
  accounts: AccountStore,
  principal: ManagementPrincipal,
  { id, user_id }: z.infer<typeof MemberParams>,
): Promise<MemberRecord | null> {
  const member = await accounts.findMember(id, user_id);
  if (member !== null) requireRank(principal, member.role);
  return member;
}
