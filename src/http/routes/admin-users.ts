import { z } from "zod";
import { findAccount, presentAccount } from "../../core/accounts/manage-accounts.ts";
import { presentMember } from "../../core/accounts/manage-members.ts";
import { ACCOUNT_MANAGERS, ACCOUNT_READERS, OPERATOR, requireOwnAccount } from "../api/access.ts";
import { IdField } from "../api/account-fields.ts";
import {
  AccountChangeBody,
  AccountView,
  listAccounts,
  makeAccount,
  NewAccountBody,
  patchAccount,
} from "../api/account-settings.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { PAGE_QUERY, pageView } from "../api/pages.ts";
import { MemberView } from "./admin-members.ts";

const UserView = AccountView.meta({ id: "User", description: "A user and what they may spend" });

/** `POST /api/admin/users`: makes a user. */
export const postUser = defineEndpoint({
  method: "POST",
  path: "/api/admin/users",
  tag: "Users",
  summary: "Make a user",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: NewAccountBody,
  response: z.object({ data: UserView }),
  status: 201,
  handle: (input) => makeAccount("user", input),
});

/** `GET /api/admin/users`: users, newest first. */
export const listUsers = defineEndpoint({
  method: "GET",
  path: "/api/admin/users",
  tag: "Users",
  summary: "All users, newest first",
  access: OPERATOR,
  params: NOTHING,
  query: z.strictObject(PAGE_QUERY),
  body: NOTHING,
  response: pageView(UserView),
  handle: (input) => listAccounts("user", input),
});

/** `GET /api/admin/users/{id}`: a user and the organizations they are in. */
export const getUser = defineEndpoint({
  method: "GET",
  path: "/api/admin/users/:id",
  tag: "Users",
  summary: "A user, and the organizations they are in",
  access: ACCOUNT_READERS,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: AccountView.extend({ memberships: z.array(MemberView) }) }),
  async handle({ principal, params, deps }) {
    const { accounts } = deps.keyStores;
    const user = await findAccount(accounts, "user", requireOwnAccount(principal, params.id));
    const memberships = (await accounts.listMemberships(user.id)).map(presentMember);
    return { data: { ...presentAccount(user), memberships } };
  },
});

/** `PATCH /api/admin/users/{id}`: changes a user; `closed` in place of deleting, for what they spent stays in the ledger. */
export const patchUser = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/users/:id",
  tag: "Users",
  summary: "Change a user; a closed one calls nothing and keeps its ledger",
  access: ACCOUNT_MANAGERS,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: AccountChangeBody,
  response: z.object({ data: UserView }),
  handle: (input) => patchAccount("user", input),
});
