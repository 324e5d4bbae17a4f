import { z } from "zod";
import { rateLimitField } from "./rate-limit-fields.ts";
import type { AccountRecord, Policy } from "./records.ts";
import {
  changeShape,
  dollarsField,
  NameInput,
  nullableTimeField,
  PatternsInput,
  plainField,
  presentFields,
  readFields,
  settableField,
  timeField,
  viewShape,
} from "./resource-fields.ts";

const Patterns = z.array(z.string());

function flagField(description: string) {
  return settableField(z.boolean(), z.boolean(), description);
}

const POLICY_FIELDS = {
  allowed_models: settableField(
    Patterns.nullable(),
    PatternsInput.nullable(),
    "Models that may be called: ids or patterns with `*`. `null` allows all models.",
  ),
  denied_models: settableField(
    Patterns,
    PatternsInput,
    "Models that may not be called: ids or patterns with `*`.",
  ),
  allowed_providers: settableField(
    Patterns.nullable(),
    PatternsInput.nullable(),
    "Slugs of the providers that may be used. `null` allows all providers.",
  ),
  denied_providers: settableField(Patterns, PatternsInput, "Slugs of the providers that may not be used."),
  deny_data_collection: flagField("Use only providers known not to train on request data."),
  zero_retention: flagField("Use only providers known not to retain request data."),
  own_keys_only: flagField(
    "Use only the account's own provider keys (BYOK), never the gateway's platform keys.",
  ),
};

const PolicyView = z.object(viewShape(POLICY_FIELDS)).meta({
  id: "Policy",
  description: "The models and providers that an account may use, and the data handling it requires.",
});
const PolicyInput = z.strictObject(changeShape(POLICY_FIELDS)).meta({
  id: "PolicyChange",
  description: "A policy, or the part of it to change. Omitted fields keep their value.",
});

const SETTINGS = {
  overdraft: dollarsField("US dollars by which the balance may fall below zero. `null` means no bound."),
  policy: {
    view: PolicyView,
    input: PolicyInput,
    present: (policy: Policy) => presentFields(POLICY_FIELDS, policy),
    read: (json: z.infer<typeof PolicyInput>) => readFields(POLICY_FIELDS, json),
  },
  rate_limit: rateLimitField(
    "The account's own rate limit, instead of the configured one. `null` resets it. Only the operator may set it.",
  ),
};

/** The fields that requests can set of a user. */
export const USER_SETTINGS = {
  name: settableField(z.string(), NameInput, "Display name."),
  ...SETTINGS,
};

/** The fields that requests can set of an organization. */
export const ORGANIZATION_SETTINGS = {
  ...USER_SETTINGS,
  monthly_limit: dollarsField(
    "US dollars that all members together may spend in a calendar month (UTC). `null` means no limit.",
  ),
};

const TIMES = {
  created_at: timeField("Creation time (RFC 3339)."),
  closed_at: nullableTimeField(
    "Time at which the account was closed (RFC 3339). A closed account cannot make requests; its ledger remains. `null` means the account is open.",
  ),
};

const USER_FIELDS = { id: plainField(z.string(), "Id of the user, `user_…`."), ...USER_SETTINGS, ...TIMES };

const { name, overdraft, policy, rate_limit, monthly_limit } = ORGANIZATION_SETTINGS;
const ORGANIZATION_FIELDS = {
  id: plainField(z.string(), "Id of the organization, `org_…`."),
  name,
  overdraft,
  monthly_limit,
  policy,
  rate_limit,
  ...TIMES,
};

/** A user in a response. */
export const UserFieldsView = z.object(viewShape(USER_FIELDS));

/** An organization in a response. */
export const OrganizationView = z
  .object(viewShape(ORGANIZATION_FIELDS))
  .meta({ id: "Organization", description: "An organization: an account that several users share." });

/** Returns an account as the management API and the commands show it. Only organizations have a monthly limit. */
export function presentAccount(account: AccountRecord): Record<string, unknown> {
  return presentFields(account.kind === "organization" ? ORGANIZATION_FIELDS : USER_FIELDS, account);
}
