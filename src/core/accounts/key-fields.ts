import { z } from "zod";
import { rateLimitField } from "./rate-limit-fields.ts";
import type { KeyRecord } from "./records.ts";
import {
  dollarsField,
  IdInput,
  NameInput,
  nullableTimeField,
  PatternsInput,
  plainField,
  presentFields,
  settableField,
  settableTimeField,
  timeField,
  viewShape,
} from "./resource-fields.ts";

const KINDS = z.enum(["inference", "management"]);

/** The fields that are set when a key is created, and stay. */
export const KEY_IDENTITY = {
  kind: settableField(
    KINDS,
    KINDS,
    "Kind of the key: `inference` keys call models, `management` keys call the management API.",
  ),
  account_id: settableField(z.string(), IdInput, "Id of the account that owns the key and pays for its use."),
  user_id: settableField(
    z.string().nullable(),
    IdInput.nullable(),
    "Id of the user whose key it is; in an organization, one of its members. `null` means a service key of the organization.",
  ),
};

/** The longest time for which bodies may be stored. Seconds. */
export const MAX_PROMPT_LOG_SECONDS = 30 * 86_400;

/** The fields that requests can change of a key. */
export const KEY_SETTINGS = {
  name: settableField(z.string(), NameInput, "Display name of the key."),
  spend_limit: dollarsField(
    "US dollars that may be spent with the key over its lifetime. `null` means no limit.",
  ),
  models: settableField(
    z.array(z.string()).nullable(),
    PatternsInput.nullable(),
    "Models that the key may call: ids or patterns with `*`. `null` allows all models.",
  ),
  rate_limit: rateLimitField(
    "The key's own rate limit; `null` resets it. A limit set by the operator replaces the configured one, a limit set by the account can only be lower.",
  ),
  prompt_log: settableField(
    z.int().nullable(),
    z.int().min(1).max(MAX_PROMPT_LOG_SECONDS).nullable(),
    "Seconds for which the bodies of the key's requests and responses are stored, encrypted. `null` means they are not stored. Requests under zero data retention are never stored.",
  ),
  expires_at: settableTimeField("Expiry time (RFC 3339). `null` means the key never expires."),
};

const { name, spend_limit, models, rate_limit, prompt_log, expires_at } = KEY_SETTINGS;
const KEY_FIELDS = {
  id: plainField(z.string(), "Id of the key, `key_…`."),
  name,
  kind: KEY_IDENTITY.kind,
  hint: plainField(z.string(), "The first and last characters of the secret."),
  account_id: KEY_IDENTITY.account_id,
  user_id: KEY_IDENTITY.user_id,
  spend_limit,
  models,
  rate_limit,
  rate_limit_set_by: plainField(
    z.enum(["operator", "account"]).nullable(),
    "Who set the key's rate limit: the `operator`, whose limit replaces the configured one, or the `account`, whose limit can only be lower. `null` means the key has no limit of its own.",
  ),
  prompt_log,
  created_at: timeField("Creation time (RFC 3339)."),
  expires_at,
  revoked_at: nullableTimeField(
    "Time at which the key was revoked (RFC 3339). `null` means it is not revoked.",
  ),
};

/** A key in a response, without its secret. */
export const KeyView = z
  .object(viewShape(KEY_FIELDS))
  .meta({ id: "Key", description: "An API key of the gateway, without its secret." });

/** Returns a key as the management API and the commands show it. */
export function presentKey(key: KeyRecord): Record<string, unknown> {
  return presentFields(KEY_FIELDS, { ...key, rateLimitSetBy: key.rateLimit?.setBy ?? null });
}
