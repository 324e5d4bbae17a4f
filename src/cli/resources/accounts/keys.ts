import type { Command } from "commander";
import { systemClock } from "../../../base/time/clock.ts";
import { KEY_SETTINGS } from "../../../core/accounts/fields/key-fields.ts";
import {
  deleteKey,
  getManagedKey,
  listKeys,
  patchKey,
  postKey,
  rotateKeyOf,
} from "../../../http/routes/accounts/admin-keys.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { printDay, printHourOfUse, type Row, showChange, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const { name: NAME, ...NEW_SETTINGS } = KEY_SETTINGS;
const args = [ARGUMENTS.key];

/** `gateway keys …`: API keys. */
export function declareKeyCommands(keys: Command): void {
  declareCommands(keys, [
    defineCommand({
      name: "create",
      description: "Create a key. Its secret is printed once and not stored",
      endpoint: postKey,
      args: [{ name: "<name>", help: NAME.option?.help ?? "", field: "name" }],
      options: [
        {
          flags: "--management",
          help: "Create a management key instead of an inference key",
          field: "kind",
          read: () => "management",
        },
      ],
      settings: { of: NEW_SETTINGS, use: "new" },
      examples: [
        'gateway keys create "my laptop"',
        "gateway keys create ci --account Acme --spend-limit 20 --models 'openai/*,anthropic/*'",
        "gateway keys create console --management",
      ],
      show: ({ key, data }) =>
        `${key}\n\nCreated ${data.id} (${data.kind} key). The secret is not stored: save it now.`,
    }),
    defineCommand({ name: "list", endpoint: listKeys, show: formatKeys }),
    defineCommand({ name: "show", endpoint: getManagedKey, args, show: ({ data }) => formatFields(data) }),
    defineCommand({
      name: "update",
      description: "Change the given fields. A running gateway applies them within a second",
      endpoint: patchKey,
      args,
      settings: { of: KEY_SETTINGS, use: "change" },
      show: showChange("Updated"),
    }),
    defineCommand({
      name: "rotate",
      description:
        "Give a key a new secret, which is printed once. The present one stays valid for the overlap",
      endpoint: rotateKeyOf,
      args,
      options: [
        {
          flags: "--now",
          help: "End the present secret at once, as after a leak",
          field: null,
          conflicts: "overlapHours",
        },
      ],
      complete: async ({ body }, { options }) => ({
        body: options["now"] === true ? { ...body, overlap_hours: 0 } : body,
      }),
      examples: ["gateway keys rotate ci --overlap-hours 72", "gateway keys rotate ci --now"],
      show: ({ key, data }) =>
        `${key}\n\nRotated ${data.id}. ${data.previous_until === null ? "The former secret is not valid any more." : `The former secret is valid until ${data.previous_until}.`} The new one is not stored: save it now.`,
    }),
    defineCommand({
      name: "revoke",
      description: "Revoke a key. A running gateway rejects it within a second",
      endpoint: deleteKey,
      args,
      show: showChange("Revoked"),
    }),
  ]);
}

const formatKeys = tableOf(
  [
    ...["id", "name", "kind"],
    ["key", "hint"],
    ["created", "created_at", printDay],
    ["state", "revoked_at", (_, key) => printState(key)],
    ["used", "last_used_at", printHourOfUse],
    ["secret of", "rotated_at", (rotated, { created_at }) => printDay(rotated ?? created_at)],
    ...["account_id", "user_id", "team_id"],
  ],
  "No keys. Create one: gateway keys create <name>",
);

function printState({ revoked_at, expires_at }: Row): string {
  if (revoked_at !== null) return `revoked ${printDay(revoked_at)}`;
  if (expires_at === null) return "valid";
  const hasExpired = Date.parse(String(expires_at)) <= systemClock.now();
  return `${hasExpired ? "expired" : "expires"} ${printDay(expires_at)}`;
}
