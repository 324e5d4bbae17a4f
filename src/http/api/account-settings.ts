import { z } from "zod";
import {
  type AccountChange,
  changeAccount,
  createAccount,
  presentAccount,
} from "../../core/accounts/manage-accounts.ts";
import type { ManagementPrincipal } from "../../core/accounts/principal.ts";
import type { AccountRecord } from "../../core/accounts/records.ts";
import { requireOperatorFor, requireOwnAccount } from "./access.ts";
import { DollarsField, NameField, nanodollarsOf } from "./account-fields.ts";
import type { ApiInput } from "./endpoint.ts";
import { makePage, type PageQuery } from "./pages.ts";
import { PolicyField, PolicyView, readPolicy } from "./policy-field.ts";
import { RateLimitField, RateLimitView, readRateLimit } from "./rate-limit-field.ts";

/** What may be set of every account. */
const SETTINGS = {
  overdraft: DollarsField.nullish().describe(
    "US dollars that its balance may go below zero; null: no bound. The operator's to set",
  ),
  policy: PolicyField.optional(),
  rate_limit: RateLimitField.optional().describe(
    "Its own, in place of what is configured; null: as configured. The operator's to set",
  ),
};
/** What may be set of an account that is made. */
export const NewAccountBody = z.strictObject({ name: NameField, ...SETTINGS });
/** What may be changed of an account. */
export const AccountChangeBody = z.strictObject({
  name: NameField.optional(),
  ...SETTINGS,
  closed: z.boolean().optional().describe("true closes it: it calls nothing and keeps its ledger"),
});
/** What organizations have besides. */
export const ORGANIZATION_SETTINGS = {
  monthly_limit: DollarsField.nullish().describe(
    "US dollars that all members may spend in a month (UTC); null: no limit",
  ),
};

/** An account as it is shown. */
export const AccountView = z.object({
  id: z.string(),
  name: z.string(),
  overdraft: z.number().nullable().describe("US dollars that its balance may go below zero; null: no bound"),
  policy: PolicyView,
  rate_limit: RateLimitView,
  created_at: z.iso.datetime(),
  closed_at: z.iso.datetime().nullable().describe("Since when it calls nothing; null: it is open"),
});

type Kind = AccountRecord["kind"];
type Settings = z.infer<typeof AccountChangeBody> & { readonly monthly_limit?: number | null | undefined };
type Input<Params, Body> = Pick<
  ApiInput<ManagementPrincipal, Params, unknown, Body>,
  "principal" | "params" | "body" | "deps" | "note"
>;

/** Makes an account; an organization with its first owner, if one is named. */
export async function makeAccount(
  kind: Kind,
  {
    body,
    deps,
    note,
  }: Pick<Input<unknown, Settings & { name: string; owner?: string | undefined }>, "body" | "deps" | "note">,
) {
  const wanted = { ...readSettings(body), name: body.name };
  const account = await createAccount(deps.keyStores, deps.generation.serving, kind, wanted, body.owner);
  deps.accountCache.forget();
  note({ accountId: account.id, target: account.id, changes: body });
  return { data: presentAccount(account) };
}

/** Accounts of a kind, newest first. */
export function listAccounts(
  kind: Kind,
  { query, deps }: Pick<ApiInput<unknown, unknown, PageQuery, unknown>, "query" | "deps">,
) {
  return makePage({
    limit: query.limit,
    load: (limit) => deps.keyStores.accounts.listAccounts(kind, query.after ?? null, limit),
    describe: presentAccount,
    cursorOf: ({ id }) => id,
  });
}

/** Changes an account that the caller may manage; what decides how much it may use is the operator's to set. */
export async function patchAccount(
  kind: Kind,
  { principal, params, body, deps, note }: Input<{ readonly id: string }, Settings>,
) {
  requireOwnAccount(principal, params.id);
  for (const field of ["overdraft", "rate_limit"] as const) requireOperatorFor(field, body[field], principal);
  const account = await changeAccount(
    deps.keyStores,
    deps.generation.serving,
    kind,
    params.id,
    readSettings(body),
  );
  deps.accountCache.forget();
  note({ accountId: account.id, target: account.id, changes: body });
  return { data: presentAccount(account) };
}

function readSettings(body: Settings): AccountChange {
  return {
    name: body.name,
    overdraft: nanodollarsOf(body.overdraft),
    monthlyLimit: nanodollarsOf(body.monthly_limit),
    policy: readPolicy(body.policy),
    rateLimit: readRateLimit(body.rate_limit),
    isClosed: body.closed,
  };
}
