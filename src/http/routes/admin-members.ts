import { z } from "zod";
import type { AccountStore } from "../../core/accounts/account-store.ts";
import { findAccount } from "../../core/accounts/manage-accounts.ts";
import { presentMember, putMember, removeMember } from "../../core/accounts/manage-members.ts";
import type { ManagementPrincipal } from "../../core/accounts/principal.ts";
import { ROLES } from "../../core/accounts/records.ts";
import { ACCOUNT_MANAGERS, ACCOUNT_READERS, requireOwnAccount, requireRank } from "../api/access.ts";
import { DollarsField, IdField, nanodollarsOf } from "../api/account-fields.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../api/pages.ts";

/** A member as answers show them. */
export const MemberView = z
  .object({
    organization_id: z.string(),
    user_id: z.string(),
    role: z.enum(ROLES),
    daily_limit: z
      .number()
      .nullable()
      .describe("US dollars that they may spend in a day (UTC); null: no limit"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "Member", description: "A user in an organization" });

const MemberParams = z.object({ id: IdField, user_id: IdField });

/** `GET /api/admin/organizations/{id}/members`: the members of an organization. */
export const listMembers = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations/:id/members",
  tag: "Members",
  summary: "The members of an organization",
  access: ACCOUNT_READERS,
  params: z.object({ id: IdField }),
  query: z.strictObject(PAGE_QUERY),
  body: NOTHING,
  response: pageView(MemberView),
  async handle({ principal, params, query, deps }) {
    const { accounts } = deps.keyStores;
    const { id } = await findAccount(accounts, "organization", requireOwnAccount(principal, params.id));
    return makePage({
      limit: query.limit,
      load: (limit) => accounts.listMembers(id, query.after ?? null, limit),
      describe: presentMember,
      cursorOf: ({ userId }) => userId,
    });
  },
});

/** `PUT /api/admin/organizations/{id}/members/{user_id}`: makes a user a member, or replaces their role and limit. */
export const putOrganizationMember = defineEndpoint({
  method: "PUT",
  path: "/api/admin/organizations/:id/members/:user_id",
  tag: "Members",
  summary: "Make a user a member, or replace their role and daily limit",
  access: ACCOUNT_MANAGERS,
  params: MemberParams,
  query: NOTHING,
  body: z.strictObject({
    role: z.enum(ROLES).meta({
      description: "owner and admin manage, billing sees, member calls models",
      examples: ["member"],
    }),
    daily_limit: DollarsField.nullable()
      .default(null)
      .describe("US dollars that they may spend in a day (UTC); null: no limit"),
  }),
  response: z.object({ data: MemberView }),
  async handle({ principal, params, body, deps, note }) {
    const { id, user_id } = params;
    requireOwnAccount(principal, id);
    requireRank(principal, body.role);
    await requireRankOver(deps.keyStores.accounts, principal, id, user_id);
    const member = await putMember(deps.keyStores, {
      organizationId: id,
      userId: user_id,
      role: body.role,
      dailyLimit: nanodollarsOf(body.daily_limit),
    });
    deps.accountCache.forget();
    note({ accountId: id, target: `${id}/${user_id}`, changes: body });
    return { data: presentMember(member) };
  },
});

/** `DELETE /api/admin/organizations/{id}/members/{user_id}`: their keys of the organization are refused from now on. */
export const deleteMember = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/organizations/:id/members/:user_id",
  tag: "Members",
  summary: "Take a member out; their keys of the organization are refused from now on",
  access: ACCOUNT_MANAGERS,
  params: MemberParams,
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: z.object({ organization_id: z.string(), user_id: z.string() }) }),
  async handle({ principal, params, deps, note }) {
    const { id, user_id } = params;
    requireOwnAccount(principal, id);
    await requireRankOver(deps.keyStores.accounts, principal, id, user_id);
    await removeMember(deps.keyStores, id, user_id);
    deps.accountCache.forget();
    note({ accountId: id, target: `${id}/${user_id}`, changes: {} });
    return { data: { organization_id: id, user_id } };
  },
});

/** Only owners touch owners. */
async function requireRankOver(
  accounts: AccountStore,
  principal: ManagementPrincipal,
  organizationId: string,
  userId: string,
): Promise<void> {
  const member = await accounts.findMember(organizationId, userId);
  if (member !== null) requireRank(principal, member.role);
}
