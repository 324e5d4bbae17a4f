import type { Command } from "commander";
import {
  deleteInvitation,
  listInvitations,
  postInvitation,
} from "../../../http/routes/accounts/admin-invitations.ts";
import { listTeams } from "../../../http/routes/accounts/admin-teams.ts";
import type { Caller } from "../../callers/caller.ts";
import { type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { labelOf, type Named, type NameSource, resolveName } from "../../endpoint/resolve-name.ts";
import { printText, printTime, tableOf } from "../../render/columns.ts";

/** `gateway invitations create|list|withdraw`: links with which people join organizations. */
export function declareInvitationCommands(invitations: Command): void {
  declareCommands(invitations, [
    defineCommand({
      name: "create",
      description: "Invite a person to an organization. The link is printed once, and works once",
      endpoint: postInvitation,
      args: [ARGUMENTS.organization],
      options: [
        { flags: "--teams <teams>", help: "Teams to join, comma-separated: IDs or names", field: null },
        { flags: "--lead", help: "Whether the person leads these teams", field: null },
      ],
      fixed: { teams: undefined },
      complete: async ({ body }, run) => ({ body: { ...body, teams: await readTeams(run) } }),
      examples: [
        "gateway invitations create Acme --email ada@example.com",
        "gateway invitations create Acme --teams Search --lead --expires-in-hours 24",
      ],
      show: ({ link, data }, { named }) =>
        `${link}\n\nInvited ${data.email ?? "a person with the link"} to ${labelOf(named["org"] as Named)} as ${data.role} (${data.id}). The link works once, until ${printTime(data.expires_at)} (UTC). It is not stored: send it now.`,
    }),
    defineCommand({
      name: "list",
      endpoint: listInvitations,
      args: [ARGUMENTS.organization],
      show: tableOf(
        [
          "id",
          "state",
          "role",
          ["teams", "teams", printTeams],
          "email",
          ["invited by", "invited_by_name"],
          ["accepted by", "accepted_by_name"],
          ["created", "created_at"],
          ["expires", "expires_at"],
        ],
        "No invitations. Invite a person: gateway invitations create <org>",
      ),
    }),
    defineCommand({
      name: "withdraw",
      endpoint: deleteInvitation,
      args: [
        ARGUMENTS.organization,
        { name: "<id>", help: "ID of the invitation, inv_…", field: "invitation_id" },
      ],
      show: ({ data }) => `Withdrew ${data.id}. Its link no longer works.`,
    }),
  ]);
}

function printTeams(teams: unknown): string {
  return (teams as readonly { readonly id: string; readonly name: string | null }[])
    .map(({ id, name }) => printText(name ?? id))
    .join(", ");
}

type Run = Omit<CommandRun, "status">;

/** @throws Error for a name of no team of the organization. */
async function readTeams({ caller, named, options }: Run) {
  const names = printText(options["teams"])
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const source = teamsOf(caller, (named["org"] as Named).id);
  const teams = [];
  for (const name of names)
    teams.push({ id: (await resolveName(source, name)).id, is_lead: options["lead"] === true });
  return teams;
}

/** Returns where the teams of one organization are looked up: another one may have a team with the same name. */
function teamsOf(caller: Caller, id: string): NameSource {
  const listSome = async () => {
    const { body } = await caller.call(listTeams, { params: { id } });
    return (body as { readonly data: readonly Pick<Named, "id" | "name">[] }).data.map(
      (team): Named => ({ id: team.id, name: team.name, aliases: [], isPreferred: true, details: "" }),
    );
  };
  return {
    noun: "team",
    listedBy: "gateway teams list <org>",
    find: async (wanted) => (await listSome()).find((team) => team.id === wanted) ?? null,
    findByText: async (text) =>
      (await listSome()).filter(({ name }) => name.toLowerCase() === text.toLowerCase()),
    listSome,
  };
}
