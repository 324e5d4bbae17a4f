import { z } from "zod";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { findAccount } from "../../../core/accounts/manage/manage-accounts.ts";
import {
  presentAccount,
  USER_FILTERS,
  UserFieldsView,
} from "../../../core/accounts/records/account-fields.ts";
import { MemberView, presentMember } from "../../../core/accounts/records/member-fields.ts";
import { needs, OPERATOR, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import {
  listAccounts,
  NewUserBody,
  patchAccount,
  postAccount,
  UserChangeBody,
} from "../../api/manage-accounts.ts";
import { PAGE_QUERY, pageView } from "../../api/pages.ts";

const UserView = UserFieldsView.meta({ id: "User", description: "A user: an account of one person." });

/** `POST /api/admin/users`: creates a user. */
export const postUser = defineEndpoint({
  method: "POST",
  path: "/api/admin/users",
  tag: "Users",
  summary: "Create a user",
  access: OPERATOR,
  body: NewUserBody,
  response: z.object({ data: UserView }),
  status: 201,
  handle: (input) => postAccount("user", input),
});

/** `GET /api/admin/users`: all users, newest first. */
export const listUsers = defineEndpoint({
  method: "GET",
  path: "/api/admin/users",
  tag: "Users",
  summary: "List all users, newest first",
  access: OPERATOR,
  query: z.strictObject({ ...PAGE_QUERY, ...USER_FILTERS }),
  response: pageView(UserView),
  handle: (input) => listAccounts("user", input),
});

/** `GET /api/admin/users/{id}`: a user and their memberships. */
export const getUser = defineEndpoint({
  method: "GET",
  path: "/api/admin/users/:id",
  tag: "Users",
  summary: "Retrieve a user and their memberships in organizations",
  access: needs("read"),
  params: z.object({ id: IdInput }),
  response: z.object({ data: UserFieldsView.extend({ memberships: z.array(MemberView) }) }),
  async handle({ principal, params, deps }) {
    const { accounts } = deps.resources.keyStores;
    const user = await findAccount(accounts, "user", requireOwnAccount(principal, params.id));
    const memberships = (await accounts.listMemberships(user.id)).map(presentMember);
    return { data: { ...presentAccount(user), memberships } };
  },
});

/** `PATCH /api/admin/users/{id}`: changes a user. Users are closed, not deleted, because their ledger remains. */
export const patchUser = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/users/:id",
  tag: "Users",
  summary: "Update, close or reopen a user. Omitted fields keep their value",
  access: needs("manage"),
  params: z.object({ id: IdInput }),
  body: UserChangeBody,
  response: z.object({ data: UserView }),
  handle: (input) => patchAccount("user", input),
});
