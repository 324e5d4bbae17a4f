import type { Command } from "commander";
import { deleteIdentity, listIdentities, postIdentity } from "../../http/routes/admin-identities.ts";
import { defineCommand } from "../endpoint/command-spec.ts";
import { declareCommands } from "../endpoint/declare-command.ts";
import { accountsOf, NAMED_BY } from "../endpoint/named-resources.ts";
import { DEFAULT_LIMIT, readLimit } from "../endpoint/read-options.ts";
import { printTime, tableOf } from "../render/columns.ts";

const LINK = {
  args: [
    { name: "<user>", help: NAMED_BY.user, field: "user_id", named: accountsOf("user") },
    { name: "<subject>", help: "Subject (sub) of the person at the provider", field: "subject" },
  ],
  options: [
    {
      flags: "--issuer <url>",
      help: "Issuer (iss) of the provider (default: console.oidc.issuer)",
      field: "issuer",
    },
  ],
} as const;

/** `gateway identities list|add|remove`: which users the people of the OpenID Connect provider are. */
export function declareIdentityCommands(identities: Command): void {
  declareCommands(identities, [
    defineCommand({
      name: "list",
      description: "List linked people, the oldest first",
      endpoint: listIdentities,
      options: [
        {
          flags: "--limit <number>",
          help: "Maximum number of people",
          field: "limit",
          read: readLimit,
          initial: DEFAULT_LIMIT,
        },
      ],
      show: tableOf(
        [
          ["user", "user_id"],
          ["subject", "subject"],
          ["issuer", "issuer"],
          ["linked", "created_at", printTime],
        ],
        "No one is linked. Link a person: gateway identities add <user> <subject>",
      ),
    }),
    defineCommand({
      ...LINK,
      name: "add",
      description: "Link a person to a user",
      endpoint: postIdentity,
      show: ({ data }) => `Linked ${data.subject} to ${data.user_id}.`,
    }),
    defineCommand({
      ...LINK,
      name: "remove",
      description: "Remove the link of a person to a user",
      endpoint: deleteIdentity,
      show: ({ data }) =>
        `Removed the link of ${data.subject} to ${data.user_id}. Sessions of the person go on until they end.`,
    }),
  ]);
}
