import type { Command } from "commander";
import { deleteAdminSession, listSessions } from "../../../http/routes/accounts/admin-sessions.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { printText, type Row, tableOf } from "../../render/columns.ts";

/** `gateway sessions list|end`: the browsers that are signed in to the console. */
export function declareSessionCommands(sessions: Command): void {
  declareCommands(sessions, [
    defineCommand({
      name: "list",
      description: "List console sessions, newest first",
      endpoint: listSessions,
      rows: DEFAULT_LIMIT,
      show: (answer) => formatSessions(takeOthers(answer)),
      json: takeOthers,
    }),
    defineCommand({
      name: "end",
      endpoint: deleteAdminSession,
      args: [{ name: "<id>", help: "ID of the session, sess_…", field: "id" }],
      show: ({ data }) => `Ended ${data.id}.`,
    }),
  ]);
}

const printName = (resource: unknown) => printText((resource as Row | null)?.["name"]);

const formatSessions = tableOf(
  [
    "id",
    ["account", "account", printName],
    ["user", "user", printName],
    ["role", "role", (role) => printText(role ?? "none")],
    ["key", "key", printName],
    ...["created_at", "last_used_at"],
    ["ends", "expires_at"],
  ],
  "No browser is signed in. Print a link that signs in: gateway console",
);

interface Sessions {
  readonly data: readonly (Row & { readonly is_current: boolean })[];
}

/** Leaves out the session of the command itself, which belongs to no browser. */
function takeOthers({ data }: Sessions) {
  return { data: data.filter((one) => !one.is_current).map(({ is_current: _, ...session }) => session) };
}
