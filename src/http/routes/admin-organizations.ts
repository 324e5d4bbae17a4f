import { z } from "zod";
import {
  changeAccount,
  createAccount,
  describeAccount,
  findAccount,
} from "../../core/accounts/manage-accounts.ts";
import { DollarsField, IdField, NameField, nanodollarsOf } from "../api/account-fields.ts";
import {
  MANAGING,
  OPERATOR,
  requireOperatorFor,
  requireOwnAccount,
  requireRank,
  SEEING,
} from "../api/api-caller.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../api/pages.ts";
import { PolicyField, PolicyView, readPolicy } from "../api/policy-field.ts";

const OrganizationView = z
  .object({
    id: z.string(),
    name: z.string(),
    overdraft: z
      .number()
      .nullable()
      .describe("US dollars that its balance may go below zero; null: no bound"),
    monthly_limit: z
      .number()
      .nullable()
      .describe("US dollars that all members may spend in a month (UTC); null: no limit"),
    policy: PolicyView,
    created_at: z.iso.datetime(),
    closed_at: z.iso.datetime().nullable().describe("Since when it calls nothing; null: it is open"),
  })
  .meta({ id: "Organization", description: "An organization and what it may spend" });

/** `POST /api/admin/organizations`: makes an organization, with its first owner where one is named. */
export const postOrganization = defineEndpoint({
  method: "POST",
  path: "/api/admin/organizations",
  tag: "Organizations",
  summary: "Make an organization",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject({
    name: NameField,
    owner: IdField.optional().describe("Its first owner: a user's id"),
    monthly_limit: DollarsField.nullish().describe(
      "US dollars that all members may spend in a month (UTC); null: no limit",
    ),
    overdraft: DollarsField.nullish().describe(
      "US dollars that its balance may go below zero; null: no bound. The operator's to set",
    ),
    policy: PolicyField.optional(),
  }),
  response: z.object({ data: OrganizationView }),
  status: 201,
  async handle({ body, deps, note }) {
    const { name, owner, monthly_limit, overdraft, policy } = body;
    const wanted = {
      name,
      monthlyLimit: nanodollarsOf(monthly_limit),
      overdraft: nanodollarsOf(overdraft),
      policy: readPolicy(policy),
    };
    const account = await createAccount(deps.keyMaker, "organization", wanted, owner);
    deps.accountRing.forget();
    note({ accountId: account.id, target: account.id, changes: body });
    return { data: describeAccount(account) };
  },
});

/** `GET /api/admin/organizations`: organizations, newest first. */
export const listOrganizations = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations",
  tag: "Organizations",
  summary: "All organizations, newest first",
  access: OPERATOR,
  params: NOTHING,
  query: z.strictObject(PAGE_QUERY),
  body: NOTHING,
  response: pageView(OrganizationView),
  handle({ query, deps }) {
    return makePage({
      limit: query.limit,
      load: (limit) => deps.keyMaker.accounts.listAccounts("organization", query.after ?? null, limit),
      describe: describeAccount,
      cursorOf: ({ id }) => id,
    });
  },
});

/** `GET /api/admin/organizations/{id}`: an organization. */
export const getOrganization = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations/:id",
  tag: "Organizations",
  summary: "An organization",
  access: SEEING,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: OrganizationView }),
  async handle({ caller, params, deps }) {
    requireOwnAccount(caller, params.id);
    return { data: describeAccount(await findAccount(deps.keyMaker.accounts, "organization", params.id)) };
  },
});

/** `PATCH /api/admin/organizations/{id}`: changes an organization. Only an owner closes it. */
export const patchOrganization = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/organizations/:id",
  tag: "Organizations",
  summary: "Change an organization; a closed one calls nothing and keeps its ledger",
  access: MANAGING,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: z.strictObject({
    name: NameField.optional(),
    monthly_limit: DollarsField.nullish().describe(
      "US dollars that all members may spend in a month (UTC); null: no limit",
    ),
    overdraft: DollarsField.nullish().describe(
      "US dollars that its balance may go below zero; null: no bound. The operator's to set",
    ),
    policy: PolicyField.optional(),
    closed: z.boolean().optional().describe("true closes it: it calls nothing and keeps its ledger"),
  }),
  response: z.object({ data: OrganizationView }),
  async handle({ caller, params, body, deps, note }) {
    requireOwnAccount(caller, params.id);
    requireOperatorFor("overdraft", body.overdraft, caller);
    if (body.closed !== undefined) requireRank(caller, "owner");
    const account = await changeAccount(deps.keyMaker, "organization", params.id, {
      name: body.name,
      monthlyLimit: nanodollarsOf(body.monthly_limit),
      overdraft: nanodollarsOf(body.overdraft),
      policy: readPolicy(body.policy),
      isClosed: body.closed,
    });
    deps.accountRing.forget();
    note({ accountId: account.id, target: account.id, changes: body });
    return { data: describeAccount(account) };
  },
});
