import { z } from "zod";
import { choiceFormat, LIST_FORMAT, NAME_FORMAT } from "./field-option.ts";
import { cacheField, promptLogField, tagsField } from "./kept-fields.ts";
import type { KeyRateLimit } from "./rate-limit.ts";
import { rateLimitField } from "./rate-limit-fields.ts";
import {
  dollarsField,
  expiryField,
  IdInput,
  NameInput,
  nullableTimeField,
  PatternsInput,
  plainField,
  presentFields,
  type SettableField,
  type Shown,
  settableField,
  timeField,
  viewShape,
} from "./resource-fields.ts";

/** The periods of a key's spending limit, in UTC: the limit starts again each day, week (from Monday) or month. */
export const SPEND_PERIODS = ["day", "week", "month"] as const;
export type SpendPeriod = (typeof SPEND_PERIODS)[number];

/** A limit over the key's lifetime, which has no period in records. */
const TOTAL = "total";
const PERIODS = z.enum([TOTAL, ...SPEND_PERIODS]);

const KINDS = z.enum(["inference", "management"]);

/** The fields that are set when a key is created, and stay. */
export const KEY_IDENTITY = {
  kind: settableField(
    { view: KINDS, input: KINDS },
    "Kind of the key: `inference` keys call models, `management` keys call the management API.",
  ),
  account_id: settableField(
    { view: z.string(), input: IdInput },
    "Id of the account that owns the key and pays for its use.",
  ),
  user_id: settableField(
    { view: z.string().nullable(), input: IdInput.nullable() },
    "Id of the user whose key it is; in an organization, one of its members. `null` means a service key of the organization.",
  ),
  team_id: settableField(
    { view: z.string().nullable(), input: IdInput.nullable() },
    "Id of the team of the organization that the key belongs to. `null` means none.",
  ),
};

function spendPeriodField(
  description: string,
): SettableField<SpendPeriod | null, typeof PERIODS, SpendPeriod | null> {
  return {
    view: PERIODS.describe(description),
    input: PERIODS.describe(description),
    present: (period) => period ?? TOTAL,
    read: (period) => (period === TOTAL ? null : period),
    option: {
      flags: "--spend-limit-period <period>",
      help: `Period of the spending limit: ${PERIODS.options.join(", ")}`,
      initial: TOTAL,
      ...choiceFormat(PERIODS.options),
    },
  };
}

/** The settings that only inference keys have. All are optional. */
export const INFERENCE_SETTINGS = {
  spend_limit: dollarsField(
    "US dollars that may be spent with the key in each period (`spend_limit_period`). `null` means no limit.",
    { flags: "--spend-limit <dollars>", help: "Spending limit in US dollars", none: "none" },
  ),
  spend_limit_period: spendPeriodField(
    "Period of the spending limit. `total`: the key's lifetime. `day`, `week`, `month`: each UTC day, week (from Monday) or calendar month.",
  ),
  models: settableField(
    { view: z.array(z.string()).nullable(), input: PatternsInput.nullable() },
    "Models that the key may call: ids or patterns with `*`. `null` allows all models.",
    {
      flags: "--models <patterns>",
      help: "Models that the key may call, comma-separated",
      none: "all",
      ...LIST_FORMAT,
    },
  ),
  rate_limit: rateLimitField(
    "The key's own rate limit; `null` resets it. A limit set by the operator replaces the configured one, a limit set by the account can only be lower.",
  ),
  prompt_log: promptLogField("for the key. `null`: as its team, or else its account, says."),
  cache: cacheField("for the key. `null`: as its team, or else its account, says."),
  tags: tagsField("Tags of all requests with the key, in addition to their own."),
};

/** The fields that requests can change of a key. */
export const KEY_SETTINGS = {
  name: settableField({ view: z.string(), input: NameInput }, "Display name of the key.", {
    flags: "--name <name>",
    help: "Display name of the key",
    ...NAME_FORMAT,
  }),
  ...INFERENCE_SETTINGS,
  expires_at: expiryField("Expiry time (RFC 3339). `null` means the key never expires.", {
    flags: "--expires <time>",
    help: "Expiry time, such as 2027-01-31 or 2027-01-31T12:00:00Z",
    none: "never",
  }),
};

const { name, expires_at } = KEY_SETTINGS;
const KEY_FIELDS = {
  id: plainField(z.string(), "Id of the key, `key_…`."),
  name,
  kind: KEY_IDENTITY.kind,
  hint: plainField(z.string(), "The first and last characters of the secret."),
  account_id: KEY_IDENTITY.account_id,
  user_id: KEY_IDENTITY.user_id,
  team_id: KEY_IDENTITY.team_id,
  ...INFERENCE_SETTINGS,
  rate_limit_set_by: plainField(
    z.enum(["operator", "account"]).nullable(),
    "Who set the key's rate limit: the `operator`, whose limit replaces the configured one, or the `account`, whose limit can only be lower. `null` means the key has no limit of its own.",
  ),
  created_at: timeField("Creation time (RFC 3339)."),
  rotated_at: nullableTimeField(
    "Time of the last rotation (RFC 3339), since which the secret is valid. `null` means it is the first one.",
  ),
  previous_hint: plainField(
    z.string().nullable(),
    "The first and last characters of the secret before the last rotation. `null` means there is none that may still be valid.",
  ),
  previous_until: nullableTimeField(
    "Time until which the secret before the last rotation is valid (RFC 3339).",
  ),
  previous_used_at: nullableTimeField(
    "Start of the hour in which the secret before the last rotation was last used since then (RFC 3339). `null` means it was not.",
  ),
  expires_at,
  last_used_at: nullableTimeField(
    "Start of the hour in which the key was last used (RFC 3339). The minute is not known. `null` means it was never used.",
  ),
  revoked_at: nullableTimeField(
    "Time at which the key was revoked (RFC 3339). `null` means it is not revoked.",
  ),
};

/** A key in a response, without its secret. */
export const KeyView = z
  .object(viewShape(KEY_FIELDS))
  .meta({ id: "Key", description: "An API key of the gateway, without its secret." });

type ShownKey = Omit<Shown<typeof KEY_FIELDS>, "rateLimitSetBy"> & {
  readonly rateLimit: KeyRateLimit | null;
};

/** Returns a key as the management API and the commands show it. */
export function presentKey(key: ShownKey): Record<string, unknown> {
  return presentFields(KEY_FIELDS, { ...key, rateLimitSetBy: key.rateLimit?.setBy ?? null });
}
