import type { Command } from "commander";
import { MEMBER_SETTINGS } from "../../core/accounts/member-fields.ts";
import { deleteMember, listMembers, putOrganizationMember } from "../../http/routes/admin-members.ts";
import { type CommandRun, defineCommand } from "../endpoint/command-spec.ts";
import { declareCommands } from "../endpoint/declare-command.ts";
import { accountsOf, NAMED_BY } from "../endpoint/named-resources.ts";
import { labelOf, type Named } from "../endpoint/resolve-name.ts";
import { printDay, printLimit, tableOf } from "../render/columns.ts";

const ORGANIZATION = {
  name: "<org>",
  help: NAMED_BY.organization,
  field: "id",
  named: accountsOf("organization"),
} as const;
const USER = { name: "<user>", help: NAMED_BY.user, field: "user_id", named: accountsOf("user") } as const;

/** `gateway members set|list|remove`: the members of organizations and their roles. */
export function declareMemberCommands(members: Command): void {
  declareCommands(members, [
    defineCommand({
      name: "set",
      description: "Add a member, or replace their role and daily limit",
      endpoint: putOrganizationMember,
      args: [ORGANIZATION, USER],
      settings: { of: MEMBER_SETTINGS, use: "new" },
      complete: async ({ body }) => ({ body: { role: "member", ...body } }),
      show: ({ data }, run) => `${label(run, "user")} is ${data.role} of ${label(run, "org")}.`,
    }),
    defineCommand({
      name: "list",
      description: "List the members of an organization",
      endpoint: listMembers,
      args: [ORGANIZATION],
      show: tableOf(
        [
          ["user", "user_id"],
          ["name", "user_name"],
          ["role", "role"],
          ["daily limit", "daily_limit", printLimit],
          ["since", "created_at", printDay],
        ],
        "No members. Add one: gateway members set <org> <user>",
      ),
    }),
    defineCommand({
      name: "remove",
      description:
        "Remove a member; a running gateway rejects their keys of the organization within a second",
      endpoint: deleteMember,
      args: [ORGANIZATION, USER],
      show: (_, run) => `Removed ${label(run, "user")} from ${label(run, "org")}.`,
    }),
  ]);
}

function label({ named }: CommandRun, argument: "user" | "org"): string {
  return labelOf(named[argument] as Named);
}
