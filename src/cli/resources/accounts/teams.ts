import type { Command } from "commander";
import { TEAM_SETTINGS } from "../../../core/accounts/records/team-fields.ts";
import {
  deleteMemberOfTeam,
  deleteTeam,
  getTeam,
  listAllTeams,
  listTeamMembers,
  listTeams,
  patchTeam,
  postTeam,
  putMemberOfTeam,
} from "../../../http/routes/accounts/admin-teams.ts";
import type { EndpointInput } from "../../callers/caller.ts";
import { type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { labelOf, type Named } from "../../endpoint/resolve-name.ts";
import { printDay, showChange, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const { name: NAME, ...NEW_SETTINGS } = TEAM_SETTINGS;
const TEAM = [ARGUMENTS.team];
const MEMBER = [ARGUMENTS.team, ARGUMENTS.user];

/** `gateway teams …`: the teams of organizations and their members. */
export function declareTeamCommands(teams: Command): void {
  declareCommands(teams, [
    defineCommand({
      name: "create",
      endpoint: postTeam,
      args: [ARGUMENTS.organization, { name: "<name>", help: NAME.option?.help ?? "", field: "name" }],
      settings: { of: NEW_SETTINGS, use: "new" },
      examples: ["gateway teams create Acme Search --allowed-models 'openai/*' --tags team:search"],
      show: ({ data }, { named }) =>
        `Created ${data.id}, the team ${data.name} of ${labelOf(named["org"] as Named)}.`,
    }),
    defineCommand({ name: "list", endpoint: listTeams, args: [ARGUMENTS.organization], show: formatTeams }),
    defineCommand({
      name: "all",
      endpoint: listAllTeams,
      show: tableOf(["id", "name", "organization_id", ["since", "created_at", printDay]], "No teams."),
    }),
    defineCommand({
      name: "show",
      endpoint: getTeam,
      args: TEAM,
      complete: addOwner,
      show: ({ data }) => formatFields(data),
    }),
    defineCommand({
      name: "update",
      description: "Change the given fields. A running gateway applies them within a second",
      endpoint: patchTeam,
      args: TEAM,
      settings: { of: TEAM_SETTINGS, use: "change" },
      complete: addOwner,
      show: showChange("Updated"),
    }),
    defineCommand({
      name: "delete",
      endpoint: deleteTeam,
      args: TEAM,
      complete: addOwner,
      show: ({ data }, run) => `Deleted ${label(run, "team")}. Revoked ${data.revoked_keys} keys.`,
    }),
    defineCommand({
      name: "members",
      endpoint: listTeamMembers,
      args: TEAM,
      complete: addOwner,
      show: tableOf(
        [
          "user_id",
          ["name", "user_name"],
          ["lead", "is_lead", (isLead) => (isLead === true ? "yes" : "")],
          ["since", "created_at", printDay],
        ],
        "No members. Add one: gateway teams add <team> <user>",
      ),
    }),
    defineCommand({
      name: "add",
      description: "Add a member of the organization to a team, or replace whether they lead it",
      endpoint: putMemberOfTeam,
      args: MEMBER,
      options: [
        { flags: "--lead", help: "Whether the member leads the team", field: "is_lead", read: () => true },
      ],
      complete: addOwner,
      show: ({ data }, run) =>
        `${label(run, "user")} ${data.is_lead ? "leads" : "is a member of"} ${label(run, "team")}.`,
    }),
    defineCommand({
      name: "remove",
      endpoint: deleteMemberOfTeam,
      args: MEMBER,
      complete: addOwner,
      show: ({ data }, run) =>
        `Removed ${label(run, "user")} from ${label(run, "team")}. Revoked ${data.revoked_keys} keys.`,
    }),
  ]);
}

const formatTeams = tableOf(
  [
    "id",
    "name",
    "members",
    ["tags", "tags", (tags) => (tags as string[] | null)?.join(", ") ?? ""],
    ["since", "created_at", printDay],
  ],
  "No teams. Create one: gateway teams create <org> <name>",
);

/** Adds the organization of the named team to the path. */
async function addOwner({ params }: EndpointInput, { named }: Pick<CommandRun, "named">) {
  return { params: { ...params, id: named["team"]?.owner } };
}

function label({ named }: CommandRun, argument: "user" | "team"): string {
  return labelOf(named[argument] as Named);
}
