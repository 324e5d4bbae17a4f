import { z } from "zod";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { findAccount } from "../../../core/accounts/manage/manage-accounts.ts";
import {
  ORGANIZATION_FILTERS,
  OrganizationView,
  presentAccount,
} from "../../../core/accounts/records/account-fields.ts";
import { needs, OPERATOR, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import {
  listAccounts,
  NewOrganizationBody,
  OrganizationChangeBody,
  patchAccount,
  postAccount,
} from "../../api/manage-accounts.ts";
import { PAGE_QUERY, pageView } from "../../api/pages.ts";
import { requireRight } from "../../middleware/authorize.ts";

/** `POST /api/admin/organizations`: creates an organization, with its first owner if one is given. */
export const postOrganization = defineEndpoint({
  method: "POST",
  path: "/api/admin/organizations",
  tag: "Organizations",
  summary: "Create an organization",
  access: OPERATOR,
  body: NewOrganizationBody.extend({
    owner: IdInput.optional().describe("Id of the user who is the first owner."),
  }),
  response: z.object({ data: OrganizationView }),
  status: 201,
  handle: (input) => postAccount("organization", input),
});

/** `GET /api/admin/organizations`: all organizations, newest first. */
export const listOrganizations = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations",
  tag: "Organizations",
  summary: "List all organizations, newest first",
  access: OPERATOR,
  query: z.strictObject({ ...PAGE_QUERY, ...ORGANIZATION_FILTERS }),
  response: pageView(OrganizationView),
  handle: (input) => listAccounts("organization", input),
});

/** `GET /api/admin/organizations/{id}`: one organization. */
export const getOrganization = defineEndpoint({
  method: "GET",
  path: "/api/admin/organizations/:id",
  tag: "Organizations",
  summary: "Retrieve an organization",
  access: needs("read"),
  params: z.object({ id: IdInput }),
  response: z.object({ data: OrganizationView }),
  async handle({ principal, params, deps }) {
    requireOwnAccount(principal, params.id);
    return {
      data: presentAccount(await findAccount(deps.resources.keyStores.accounts, "organization", params.id)),
    };
  },
});

/** `PATCH /api/admin/organizations/{id}`: changes an organization. Only an owner or the operator may close it. */
export const patchOrganization = defineEndpoint({
  method: "PATCH",
  path: "/api/admin/organizations/:id",
  tag: "Organizations",
  summary: "Update, close or reopen an organization. Omitted fields keep their value",
  access: needs("manage"),
  params: z.object({ id: IdInput }),
  body: OrganizationChangeBody,
  response: z.object({ data: OrganizationView }),
  handle(input) {
    if (input.body.closed !== undefined) requireRight(input.principal, "manage_owners");
    return patchAccount("organization", input);
  },
});
