import { z } from "zod";
import { PROMPT_CACHING, type PromptCaching } from "../../../wire/conversation/preferences.ts";
import { PlainText } from "../../catalog/records/plain-text-schema.ts";
import {
  COUNT_FORMAT,
  choiceFormat,
  DENY_LIST_FORMAT,
  EMAIL_FORMAT,
  EXTERNAL_ID_FORMAT,
  type FieldOption,
  flagFormat,
  INDEX_OR_NONE_FORMAT,
  LIST_FORMAT,
  NAME_FORMAT,
  type OptionTexts,
  PLAN_FORMAT,
} from "../fields/field-option.ts";
import { cacheField, promptLogField, tagsField } from "../fields/kept-fields.ts";
import { rateLimitField } from "../fields/rate-limit-fields.ts";
import {
  changeShape,
  dollarsField,
  NameInput,
  nullableTimeField,
  PatternsInput,
  plainField,
  presentFields,
  readFields,
  SearchInput,
  settableField,
  timeField,
  viewShape,
} from "../fields/resource-fields.ts";
import { type AccountRecord, type MemberKeys, NO_MEMBER_KEYS, PLAN_NAME, type Policy } from "./records.ts";

function flagField(description: string, option: FieldOption) {
  return settableField({ view: z.boolean(), input: z.boolean() }, description, option);
}

const Patterns = z.array(z.string());

function allowListField(description: string, texts: OptionTexts) {
  const schemas = { view: Patterns.nullable(), input: PatternsInput.nullable() };
  return settableField(schemas, description, { ...texts, ...LIST_FORMAT });
}

function denyListField(description: string, texts: OptionTexts) {
  return settableField({ view: Patterns, input: PatternsInput }, description, {
    ...texts,
    ...DENY_LIST_FORMAT,
  });
}

const PromptCachingView = z.enum(PROMPT_CACHING);

const POLICY_FIELDS = {
  allowed_models: allowListField(
    "Models that may be called: ids or patterns with `*`. A tier or a named route of the operator may use every model if the list names it. `null` allows all models.",
    {
      flags: "--allowed-models <patterns>",
      help: "Models that the account may call, comma-separated",
      none: "all",
    },
  ),
  denied_models: denyListField(
    "Models that may not be called: ids or patterns with `*`. An id also denies its releases (`-2024-08-06`, `-latest`).",
    {
      flags: "--denied-models <patterns>",
      help: "Models that the account may not call, comma-separated",
      none: "none",
    },
  ),
  allowed_providers: allowListField("Slugs of the providers that may be used. `null` allows all providers.", {
    flags: "--allowed-providers <slugs>",
    help: "Providers that may serve the account, comma-separated",
    none: "all",
  }),
  denied_providers: denyListField("Slugs of the providers that may not be used.", {
    flags: "--denied-providers <slugs>",
    help: "Providers that may not serve the account, comma-separated",
    none: "none",
  }),
  deny_data_collection: flagField("Use only providers known not to train on request data.", {
    flags: "--data-collection <allow|deny>",
    help: "Whether providers that train on prompts may serve the account",
    initial: "allow",
    ...flagFormat("deny", "allow"),
  }),
  zero_retention: flagField("Use only providers known not to retain request data.", {
    flags: "--retention <allow|deny>",
    help: "Whether providers that retain prompts may serve the account",
    initial: "allow",
    ...flagFormat("deny", "allow"),
  }),
  own_keys_only: flagField(
    "Use only the account's own provider keys (BYOK), never the gateway's platform keys.",
    {
      flags: "--own-keys-only <yes|no>",
      help: "Whether only the account's own provider keys (BYOK) may serve it",
      initial: "no",
      ...flagFormat("yes", "no"),
    },
  ),
  prompt_caching: {
    ...settableField<z.ZodType<PromptCaching | undefined>>(
      { view: PromptCachingView, input: PromptCachingView },
      "Whether the gateway sets cache marks in prompts, for vendors that need them: `auto` when that saves money, `off` never.",
      {
        flags: "--prompt-caching <auto|off>",
        help: "Whether the gateway adds cache marks to prompts where they pay off",
        initial: "auto",
        ...choiceFormat(PROMPT_CACHING),
      },
    ),
    present: (value: PromptCaching | undefined) => value ?? "auto",
  },
};

const PolicyView = z.object(viewShape(POLICY_FIELDS)).meta({
  id: "Policy",
  description:
    "The models and providers that an account or a team may use, and the data handling it requires.",
});
const PolicyInput = z.strictObject(changeShape(POLICY_FIELDS)).meta({
  id: "PolicyChange",
  description: "A policy, or the part of it to change. Omitted fields keep their value.",
});

/** The name of a plan. Two plans cannot differ in case alone. */
const PlanInput = z.string().regex(PLAN_NAME, "must be 1 to 64 of the characters a-z, 0-9, `.`, `_` and `-`");

/** An e-mail address. Stored in lower case, so that two users cannot differ in case alone. */
export const EmailInput = PlainText.trim()
  .toLowerCase()
  .max(254)
  .regex(z.regexes.unicodeEmail, "must be an e-mail address, such as ada@example.com");

/** Returns a text from elsewhere as an account stores it; null if it is no e-mail address. */
export function readEmail(text: unknown): string | null {
  return EmailInput.safeParse(text).data ?? null;
}

/** The operator's own id of an account. */
const ExternalIdInput = PlainText.trim().min(1).max(200);

const EXTERNAL_ID = settableField(
  { view: z.string().nullable(), input: ExternalIdInput.nullable() },
  "The operator's own id of the account, such as that of a billing system. Unique among all accounts. `null` means none. Only the operator may set it.",
  {
    flags: "--external-id <id>",
    help: "The operator's own id of the account",
    none: "none",
    ...EXTERNAL_ID_FORMAT,
  },
);

/** The policy of an account or a team. */
export const POLICY_FIELD = {
  view: PolicyView,
  input: PolicyInput,
  present: (policy: Policy) => presentFields(POLICY_FIELDS, policy),
  read: (json: z.infer<typeof PolicyInput>) => readFields(POLICY_FIELDS, json),
  parts: POLICY_FIELDS,
};

const SETTINGS = {
  external_id: EXTERNAL_ID,
  overdraft: dollarsField("US dollars by which the balance may fall below zero. `null` means no limit.", {
    flags: "--overdraft <dollars>",
    help: "How far the balance may go below zero, in US dollars",
    none: "no bound",
    initial: "0",
  }),
  policy: POLICY_FIELD,
  prompt_log: promptLogField("for keys without a value of their own. `null`: they are not stored."),
  cache: cacheField("for keys without a value of their own. `null`: they are not cached."),
  tags: tagsField("Tags of all requests of the account, in addition to their own."),
  rate_limit: rateLimitField(
    "The account's own rate limit, instead of the configured one. `null` resets it. Only the operator may set it.",
  ),
  plan: settableField(
    { view: z.string().nullable(), input: PlanInput.nullable() },
    "Name of the plan. `pricing.rules` in the configuration can set prices by plan. `null` means no plan.",
    {
      flags: "--plan <name>",
      help: "Plan, by which pricing rules set what the account pays",
      none: "no plan",
      ...PLAN_FORMAT,
    },
  ),
};

const NAME = settableField({ view: z.string(), input: NameInput }, "Display name.", {
  flags: "--name <name>",
  help: "Display name",
  ...NAME_FORMAT,
});

const USER_ONLY = {
  email: settableField(
    { view: z.string().nullable(), input: EmailInput.nullable() },
    "E-mail address, in lower case. Unique among all users. `null` means none. Only the operator may set it; a sign-in through OpenID Connect sets it if the provider has verified it.",
    { flags: "--email <address>", help: "E-mail address", none: "none", ...EMAIL_FORMAT },
  ),
};

const MEMBER_KEYS = {
  count: settableField(
    { view: z.int().nullable(), input: z.int().min(0).max(1_000).nullable() },
    "Valid keys that a member may have at once. `0`: members make no keys. `null` means no bound.",
    {
      flags: "--member-keys <count>",
      help: "Keys that each member may make",
      none: "no bound",
      initial: "10",
      ...INDEX_OR_NONE_FORMAT,
    },
  ),
  days: settableField(
    { view: z.int().nullable(), input: z.int().min(1).max(3_650).nullable() },
    "Days after which such a key expires at the latest. `null` means that it need not expire.",
    {
      flags: "--member-key-days <days>",
      help: "Days after which keys of members expire at the latest",
      none: "never",
      ...COUNT_FORMAT,
    },
  ),
  spend_limit: dollarsField(
    "US dollars that such a key may spend in a calendar month at most. `null` means that it needs no limit.",
    {
      flags: "--member-key-spend-limit <dollars>",
      help: "Largest monthly spending limit of keys of members, in US dollars",
      none: "none",
    },
  ),
};

const MemberKeysView = z.object(viewShape(MEMBER_KEYS)).meta({
  id: "MemberKeys",
  description: "The bounds within which members make inference keys for themselves.",
});
const MemberKeysInput = z.strictObject(changeShape(MEMBER_KEYS)).meta({
  id: "MemberKeysChange",
  description: "Bounds of members' keys, or the part of them to change. Omitted fields keep their value.",
});

const ORGANIZATION_ONLY = {
  member_keys: {
    view: MemberKeysView.describe("Bounds within which members make inference keys for themselves."),
    input: MemberKeysInput,
    present: (bounds: MemberKeys | null) => presentFields(MEMBER_KEYS, bounds ?? NO_MEMBER_KEYS),
    read: (json: z.infer<typeof MemberKeysInput>) => readFields(MEMBER_KEYS, json),
    parts: MEMBER_KEYS,
  },
  monthly_limit: dollarsField(
    "US dollars that all members together may spend in a calendar month (UTC). `null` means no limit.",
    {
      flags: "--monthly-limit <dollars>",
      help: "Monthly spending limit of all members together, in US dollars",
      none: "none",
    },
  ),
};

/** The fields that requests can set of a user. */
export const USER_SETTINGS = { name: NAME, ...USER_ONLY, ...SETTINGS };

/** The fields that requests can set of an organization. */
export const ORGANIZATION_SETTINGS = { name: NAME, ...SETTINGS, ...ORGANIZATION_ONLY };

/** The fields that requests can set of users, organizations, or both. */
export const ACCOUNT_SETTINGS = { ...USER_SETTINGS, ...ORGANIZATION_ONLY };

const TIMES = {
  created_at: timeField("Creation time (RFC 3339)."),
  closed_at: nullableTimeField(
    "Time at which the account was closed (RFC 3339). A closed account cannot make requests; its ledger remains. `null` means the account is open.",
  ),
};

const USER_FIELDS = { id: plainField(z.string(), "Id of the user, `user_…`."), ...USER_SETTINGS, ...TIMES };

const { overdraft, policy, prompt_log, cache, tags, rate_limit, plan } = SETTINGS;
const ORGANIZATION_FIELDS = {
  id: plainField(z.string(), "Id of the organization, `org_…`."),
  name: NAME,
  external_id: EXTERNAL_ID,
  overdraft,
  ...ORGANIZATION_ONLY,
  policy,
  prompt_log,
  cache,
  tags,
  rate_limit,
  plan,
  ...TIMES,
};

/** A user in a response. */
export const UserFieldsView = z.object(viewShape(USER_FIELDS));

/** The filters of a list of organizations. */
export const ORGANIZATION_FILTERS = {
  named: z
    .string()
    .min(1)
    .max(320)
    .optional()
    .describe(
      "Only accounts whose name, e-mail address or `external_id` is this text. Names and addresses are case-insensitive.",
    ),
  external_id: ExternalIdInput.optional().describe("Only the account with this `external_id`."),
  search: SearchInput.optional().describe(
    "Only accounts whose name, e-mail address, `external_id` or id contains this text (case-insensitive).",
  ),
};

/** The filters of a list of users. */
export const USER_FILTERS = {
  email: EmailInput.optional().describe("Only the user with this e-mail address."),
  ...ORGANIZATION_FILTERS,
};

/** An organization in a response. */
export const OrganizationView = z
  .object(viewShape(ORGANIZATION_FIELDS))
  .meta({ id: "Organization", description: "An organization: an account that several users share." });

/** Returns an account as the management API and the commands show it. Only organizations have a monthly limit. */
export function presentAccount(account: AccountRecord): Record<string, unknown> {
  return presentFields(account.kind === "organization" ? ORGANIZATION_FIELDS : USER_FIELDS, account);
}
