import { z } from "zod";
import {
  changeAccount,
  createAccount,
  describeAccount,
  findAccount,
} from "../../core/accounts/manage-accounts.ts";
import { describeMember } from "../../core/accounts/manage-members.ts";
import { DollarsField, IdField, NameField, nanodollarsOf } from "../api/account-fields.ts";
import { MANAGING, OPERATOR, requireOperatorFor, requireOwnAccount, SEEING } from "../api/api-caller.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../api/pages.ts";
import { PolicyField, PolicyView, readPolicy } from "../api/policy-field.ts";
import { MemberView } from "./admin-members.ts";

const UserView = z
  .object({
    id: z.string(),
    name: z.string(),
    overdraft: z
      .number()
      .nullable()
      .describe("US dollars that its balance may go below zero; null: no bound"),
    policy: PolicyView,
    created_at: z.iso.datetime(),
    closed_at: z.iso.datetime().nullable().describe("Since when it calls nothing; null: it is open"),
  })
  .meta({ id: "User", description: "A user and what they may spend" });

/** `POST /api/admin/users`: makes a user. */
export const postUser = defineEndpoint({
  method: "POST",
  path: "/api/admin/users",
  tag: "Users",
  summary: "Make a user",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject({
    name: NameField,
    overdraft: DollarsField.nullish().describe(
      "US dollars that its balance may go below zero; null: no bound. The operator's to set",
    ),
    policy: PolicyField.optional(),
  }),
  response: z.object({ data: UserView }),
  status: 201,
  async handle({ body, deps, note }) {
    const { name, overdraft, policy } = body;
    const account = await createAccount(deps.keyMaker, "user", {
      name,
      overdraft: nanodollarsOf(overdraft),
      policy: readPolicy(policy),
    });
    note({ accountId: account.id, target: account.id, changes: body });
    return { data: describeAccount(account) };
  },
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
  handle({ query, deps }) {
    return makePage({
      limit: query.limit,
      load: (limit) => deps.keyMaker.accounts.listAccounts("user", query.after ?? null, limit),
      describe: describeAccount,
      cursorOf: ({ id }) => id,
    });
  },
});

/** `GET /api/admin/users/{id}`: a user and the organizations they are in. */
export const getUser = defineEndpoint({
  method: "GET",
  path: "/api/admin/users/:id",
  tag: "Users",
  summary: "A user, and the organizations they are in",
  access: SEEING,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: UserView.extend({ memberships: z.array(MemberView) }) }),
  async handle({ caller, params, deps }) {
    const { accounts } = deps.keyMaker;
    const user = await findAccount(accounts, "user", requireOwnAccount(caller, params.id));
    const memberships = (await accounts.listMemberships(user.id)).map(describeMember);
    return { data: { ...describeAccount(user), memberships } };
  },
});

/** `PATCH /api/admin/users/{id}`: changes a user; `closed` in place of deleting, for what they spent stays in the ledger. */
export const patchUser = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/users/:id",
  tag: "Users",
  summary: "Change a user; a closed one calls nothing and keeps its ledger",
  access: MANAGING,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: z.strictObject({
    name: NameField.optional(),
    overdraft: DollarsField.nullish().describe(
      "US dollars that its balance may go below zero; null: no bound. The operator's to set",
    ),
    policy: PolicyField.optional(),
    closed: z.boolean().optional().describe("true closes it: it calls nothing and keeps its ledger"),
  }),
  response: z.object({ data: UserView }),
  async handle({ caller, params, body, deps, note }) {
    requireOwnAccount(caller, params.id);
    requireOperatorFor("overdraft", body.overdraft, caller);
    const account = await changeAccount(deps.keyMaker, "user", params.id, {
      name: body.name,
      overdraft: nanodollarsOf(body.overdraft),
      policy: readPolicy(body.policy),
      isClosed: body.closed,
    });
    deps.accountRing.forget();
    note({ accountId: account.id, target: account.id, changes: body });
    return { data: describeAccount(account) };
  },
});
