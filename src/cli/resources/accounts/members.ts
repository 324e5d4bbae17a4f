import type { Command } from "commander";
import { MEMBER_SETTINGS } from "../../../core/accounts/records/member-fields.ts";
import {
  deleteMember,
  getMember,
  listMembers,
  putOrganizationMember,
} from "../../../http/routes/accounts/admin-members.ts";
import { type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { labelOf, type Named } from "../../endpoint/resolve-name.ts";
import { printDay, printLimit, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const args = [ARGUMENTS.organization, ARGUMENTS.user];

/** `gateway members set|list|show|remove`: the members of organizations and their roles. */
export function declareMemberCommands(members: Command): void {
  declareCommands(members, [
    defineCommand({
      name: "set",
      description: "Add a member, or replace their role and daily limit",
      endpoint: putOrganizationMember,
      args,
      settings: { of: MEMBER_SETTINGS, use: "new" },
      complete: async ({ body }) => ({ body: { role: "member", ...body } }),
      show: ({ data }, run) => `${label(run, "user")} is ${data.role} of ${label(run, "org")}.`,
    }),
    defineCommand({
      name: "list",
      endpoint: listMembers,
      args: [ARGUMENTS.organization],
      show: tableOf(
        [
          "user_id",
          ["name", "user_name"],
          "role",
          ["daily limit", "daily_limit", printLimit],
          "source",
          ["since", "created_at", printDay],
        ],
        "No members. Add one: gateway members set <org> <user>",
      ),
    }),
    defineCommand({
      name: "show",
      endpoint: getMember,
      args,
      show({ data: { teams, ...member } }) {
        const named = teams.map(({ name, is_lead }) => (is_lead ? `${name} (lead)` : name));
        return formatFields({ ...member, teams: named.length === 0 ? null : named.join(", ") });
      },
    }),
    defineCommand({
      name: "remove",
      endpoint: deleteMember,
      args,
      show: (_, run) => `Removed ${label(run, "user")} from ${label(run, "org")}.`,
    }),
  ]);
}

function label({ named }: CommandRun, argument: "user" | "org"): string {
  return labelOf(named[argument] as Named);
}
