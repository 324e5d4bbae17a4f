import { z } from "zod";
import { findAccount, presentAccount } from "../../core/accounts/manage-accounts.ts";
import {
  ACCOUNT_MANAGERS,
  ACCOUNT_READERS,
  OPERATOR,
  requireOwnAccount,
  requireRank,
} from "../api/access.ts";
import { IdField } from "../api/account-fields.ts";
import {
  AccountChangeBody,
  AccountView,
  listAccounts,
  makeAccount,
  NewAccountBody,
  ORGANIZATION_SETTINGS,
  patchAccount,
} from "../api/account-settings.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { PAGE_QUERY, pageView } from "../api/pages.ts";

const OrganizationView = AccountView.extend({
  monthly_limit: z
    .number()
    .nullable()
    .describe("US dollars that all members may spend in a month (UTC); null: no limit"),
}).meta({ id: "Organization", description: "An organization and what it may spend" });

/** `POST /api/admin/organizations`: makes an organization, with its first owner where one is named. */
export const postOrganization = defineEndpoint({
  method: "POST",
  path: "/api/admin/organizations",
  tag: "Organizations",
  summary: "Make an organization",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: NewAccountBody.extend({
    ...ORGANIZATION_SETTINGS,
    owner: IdField.optional().describe("Its first owner: a user's id"),
  }),
  response: z.object({ data: OrganizationView }),
  status: 201,
  handle: (input) => makeAccount("organization", input),
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
  handle: (input) => listAccounts("organization", input),
});

/** `GET /api/admin/organizations/{id}`: an organization. */
export const getOrganization = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations/:id",
  tag: "Organizations",
  summary: "An organization",
  access: ACCOUNT_READERS,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: OrganizationView }),
  async handle({ principal, params, deps }) {
    requireOwnAccount(principal, params.id);
    return { data: presentAccount(await findAccount(deps.keyStores.accounts, "organization", params.id)) };
  },
});

/** `PATCH /api/admin/organizations/{id}`: changes an organization. Only an owner closes it. */
export const patchOrganization = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/organizations/:id",
  tag: "Organizations",
  summary: "Change an organization; a closed one calls nothing and keeps its ledger",
  access: ACCOUNT_MANAGERS,
  params: z.object({ id: IdField }),
  query: NOTHING,
  body: AccountChangeBody.extend(ORGANIZATION_SETTINGS),
  response: z.object({ data: OrganizationView }),
  handle(input) {
    if (input.body.closed !== undefined) requireRank(input.principal, "owner");
    return patchAccount("organization", input);
  },
});
