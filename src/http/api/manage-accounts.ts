import { z } from "zod";
import { changeShape, readFields } from "../../core/accounts/fields/resource-fields.ts";
import { changeAccount, createAccount, findAccount } from "../../core/accounts/manage/manage-accounts.ts";
import {
  ACCOUNT_SETTINGS,
  ORGANIZATION_SETTINGS,
  presentAccount,
  USER_SETTINGS,
} from "../../core/accounts/records/account-fields.ts";
import type { ManagementPrincipal } from "../../core/accounts/records/principal.ts";
import type { AccountRecord } from "../../core/accounts/records/records.ts";
import { requireOperatorFor, requireOwnAccount } from "./access.ts";
import { describeChange } from "./describe-change.ts";
import type { StoreInput } from "./endpoint.ts";
import { makePage, type PageQuery } from "./pages.ts";

const USER_SHAPE = changeShape(USER_SETTINGS);
const ORGANIZATION_SHAPE = changeShape(ORGANIZATION_SETTINGS);
const CLOSED = {
  closed: z
    .boolean()
    .optional()
    .describe(
      "`true` closes the account: it cannot make requests, and its ledger remains. `false` reopens it.",
    ),
};

export const NewUserBody = z.strictObject({ ...USER_SHAPE, name: USER_SETTINGS.name.input });
export const UserChangeBody = z.strictObject({ ...USER_SHAPE, ...CLOSED });
export const NewOrganizationBody = z.strictObject({
  ...ORGANIZATION_SHAPE,
  name: ORGANIZATION_SETTINGS.name.input,
});
export const OrganizationChangeBody = z.strictObject({ ...ORGANIZATION_SHAPE, ...CLOSED });

type Kind = AccountRecord["kind"];
type NewBody = z.infer<typeof NewOrganizationBody | typeof NewUserBody> & {
  readonly owner?: string | undefined;
};
type Input<Params, Body> = Pick<
  StoreInput<ManagementPrincipal, Params, unknown, Body>,
  "principal" | "params" | "body" | "deps" | "audit"
>;

/** Creates an account; an organization together with its first owner, if one is given. */
export async function postAccount(
  kind: Kind,
  { body, deps, audit }: Pick<Input<unknown, NewBody>, "body" | "deps" | "audit">,
) {
  const settings = { ...readFields(ACCOUNT_SETTINGS, body), name: body.name };
  const account = await createAccount(deps.resources.keyStores, deps.generation.serving, {
    kind,
    settings,
    ownerId: body.owner,
  });
  deps.callers.accountCache.changed(account.id);
  if (body.owner !== undefined) deps.callers.accountCache.memberChanged(account.id, body.owner);
  audit({ accountId: account.id, target: account.id, changes: body });
  return { data: presentAccount(account) };
}

interface AccountPageQuery extends PageQuery {
  readonly named?: string | undefined;
  readonly email?: string | undefined;
  readonly external_id?: string | undefined;
  readonly search?: string | undefined;
}

/** Returns a page of the accounts of a kind, newest first. */
export function listAccounts(
  kind: Kind,
  { query, deps }: Pick<StoreInput<unknown, unknown, AccountPageQuery, unknown>, "query" | "deps">,
) {
  const { named: alias, email, external_id: externalId, search, after: afterId } = query;
  const { accounts } = deps.resources.keyStores;
  return makePage({
    limit: query.limit,
    load: (limit) => accounts.listAccounts({ kind, alias, email, externalId, search, afterId, limit }),
    present: (rows) => rows.map(presentAccount),
    cursorOf: ({ id }) => id,
  });
}

/** Bounds on the use of an account, what it pays, and the unique texts by which commands find it. */
const OPERATOR_FIELDS = ["overdraft", "rate_limit", "plan", "email", "external_id"] as const;

/** Changes an account that the principal may manage. Some fields only the operator may set. */
export async function patchAccount(
  kind: Kind,
  {
    principal,
    params,
    body,
    deps,
    audit,
  }: Input<{ readonly id: string }, z.infer<typeof OrganizationChangeBody | typeof UserChangeBody>>,
) {
  requireOwnAccount(principal, params.id);
  const fields: Readonly<Record<string, unknown>> = body;
  for (const field of OPERATOR_FIELDS) requireOperatorFor(field, fields[field], principal);
  const before = await findAccount(deps.resources.keyStores.accounts, kind, params.id);
  const account = await changeAccount(deps.resources.keyStores, deps.generation.serving, {
    kind,
    id: params.id,
    change: { ...readFields(ACCOUNT_SETTINGS, body), isClosed: body.closed },
  });
  deps.callers.accountCache.changed(account.id);
  const changes = describeChange(body, presentForAudit(before), presentForAudit(account));
  audit({ accountId: account.id, target: account.id, changes });
  return { data: presentAccount(account) };
}

/** Returns an account with the fields that requests set: `closed` is the time `closed_at` in responses. */
function presentForAudit(account: AccountRecord): Record<string, unknown> {
  return { ...presentAccount(account), closed: account.closedAt !== null };
}
