import { z } from "zod";
import { formatTime } from "../../base/time/time.ts";
import {
  type FieldOption,
  flagFormat,
  INDEX_FORMAT,
  LIST_FORMAT,
  NAME_FORMAT,
} from "../accounts/fields/field-option.ts";
import {
  NameInput,
  nullableTimeField,
  plainField,
  settableField,
  timeField,
  viewShape,
} from "../accounts/fields/resource-fields.ts";
import { PlainText } from "../catalog/records/plain-text-schema.ts";

/** Patterns or user ids. */
const ListInput = z.array(PlainText.min(1).max(256)).min(1).max(100).nullable();

function listField(description: string, texts: Pick<FieldOption, "flags" | "help">) {
  const option = { ...texts, none: "all", ...LIST_FORMAT };
  return settableField({ view: z.array(z.string()).nullable(), input: ListInput }, description, option);
}

/** The fields that requests can set of a provider key. */
export const PROVIDER_KEY_SETTINGS = {
  name: settableField(
    { view: z.string(), input: NameInput.meta({ examples: ["Ours"] }) },
    "Display name of the key. A new key without one has the name of its provider.",
    { flags: "--name <name>", help: "Display name of the key", ...NAME_FORMAT },
  ),
  order: settableField(
    { view: z.int(), input: z.int().min(0).max(1_000_000) },
    "Keys of one provider are tried in ascending order. A new key without an order comes after the existing ones.",
    {
      flags: "--order <number>",
      help: "Keys of one provider are tried in ascending order",
      ...INDEX_FORMAT,
    },
  ),
  enabled: settableField(
    { view: z.boolean(), input: z.boolean() },
    "Whether the key is used. Default for a new key: `true`.",
    {
      flags: "--enabled <yes|no>",
      help: "Whether the key is used",
      initial: "yes",
      ...flagFormat("yes", "no"),
    },
  ),
  models: listField("Models for which the key is used: ids or patterns with `*`. `null` means all models.", {
    flags: "--models <patterns...>",
    help: "Models that the key is used for, comma-separated",
  }),
  members: listField("Ids of the users for whom the key is used. `null` means all users and service keys.", {
    flags: "--members <users...>",
    help: "Users that the key is used for, comma-separated",
  }),
  teams: listField(
    "Ids of the teams of the organization for whose keys alone the key is used. `null` means all, and keys without a team.",
    { flags: "--teams <teams...>", help: "Teams that the key is used for, comma-separated" },
  ),
};

/** The fields of a provider key in a response. */
export const PROVIDER_KEY_FIELDS = {
  id: plainField(z.string(), "Id of the key, `pkey_…`."),
  account_id: plainField(z.string(), "Id of the account that owns the key."),
  provider: plainField(z.string(), "Slug of the provider."),
  last_four: plainField(z.string(), "The last four characters of the secret."),
  ...PROVIDER_KEY_SETTINGS,
  readable: plainField(
    z.boolean(),
    "Whether the gateway can decrypt the secret. `false` means that its master key is missing or has changed; requests that need the key fail with 503. Store the key again, or restore the master key.",
  ),
  created_at: timeField("Creation time (RFC 3339)."),
  updated_at: timeField("Time of the last change (RFC 3339)."),
  last_used_at: nullableTimeField("Time of the last use (RFC 3339). `null` means the key was never used."),
  last_error: {
    view: z
      .object({ message: z.string(), at: z.iso.datetime() })
      .nullable()
      .describe(
        "Why the last use failed: the provider rejected the key, or could not be called with it. `null` means it succeeded.",
      ),
    present: (failure: { readonly message: string; readonly at: number } | null) =>
      failure === null ? null : { message: failure.message, at: formatTime(failure.at) },
  },
};

/** A provider key in a response, without its secret. */
export const ProviderKeyView = z
  .object(viewShape(PROVIDER_KEY_FIELDS))
  .meta({ id: "ProviderKey", description: "An account's own provider key (BYOK), without its secret." });
