import type { Command } from "commander";
import {
  deleteIdentity,
  listIdentities,
  postIdentity,
} from "../../../http/routes/accounts/admin-identities.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { tableOf } from "../../render/columns.ts";

const args = [
  { ...ARGUMENTS.user, field: "id" },
  { name: "<subject>", help: "Subject (sub) of the person at the provider", field: "subject" },
];

/** `gateway identities list|add|remove`: links people of the OpenID Connect provider to users. */
export function declareIdentityCommands(identities: Command): void {
  declareCommands(identities, [
    defineCommand({
      name: "list",
      endpoint: listIdentities,
      rows: DEFAULT_LIMIT,
      show: tableOf(
        ["user_id", "subject", "issuer", ["linked", "created_at"]],
        "No one is linked. Link a person: gateway identities add <user> <subject>",
      ),
    }),
    defineCommand({
      name: "add",
      endpoint: postIdentity,
      args,
      show: ({ data }) => `Linked ${data.subject} to ${data.user_id}.`,
    }),
    defineCommand({
      name: "remove",
      endpoint: deleteIdentity,
      args,
      show: ({ data }) =>
        `Removed the link of ${data.subject} to ${data.user_id}. Existing sessions of the person continue.`,
    }),
  ]);
}
