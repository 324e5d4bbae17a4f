import type { Command } from "commander";
import type { Stores } from "../../app/stores.ts";
import { presentSession } from "../../core/console/present-session.ts";
import { withStores } from "../callers/with-stores.ts";
import { resolveScope } from "../endpoint/named-resources.ts";
import { addJsonOption, DEFAULT_LIMIT, type JsonOption, readLimit } from "../endpoint/read-options.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatTable } from "../render/format-table.ts";

/** `gateway sessions list|end`: the browsers that are signed in to the console. */
export function declareSessionCommands(sessions: Command): void {
  addJsonOption(
    sessions
      .command("list")
      .description("List console sessions, newest first")
      .option("--account <account>", "Only sessions of this account")
      .option("--limit <number>", "Maximum number of sessions", readLimit, DEFAULT_LIMIT),
  ).action((options: ListOptions) => withStores((stores) => list(stores, options)));
  addJsonOption(
    sessions
      .command("end")
      .description("End a session; its browser is signed out at its next request")
      .argument("<id>", "ID of the session, sess_…"),
  ).action((id: string, options: JsonOption) => withStores((stores) => end(stores, id, options)));
}

interface ListOptions extends JsonOption {
  readonly account?: string;
  readonly limit: number;
}

async function list(stores: Stores, { account, limit, json }: ListOptions): Promise<string> {
  const { accountId } = await resolveScope(stores, { account });
  const now = stores.clock.now();
  const query = { accountId, userId: null, afterId: null, limit, now };
  const found = await stores.consoleSessions.listSessions(query);
  const data = await Promise.all(found.map((session) => presentSession(session, stores)));
  if (json) return JSON.stringify({ data });
  if (data.length === 0) return "No browser is signed in. Print a link that signs in: gateway console";
  const rows = data.map((one) => [
    one.id,
    one.account.name,
    one.user?.name ?? "",
    one.role ?? "none",
    one.key.name,
    one.created_at.slice(0, 19),
    one.last_used_at.slice(0, 19),
    one.expires_at.slice(0, 19),
  ]);
  return formatTable(["id", "account", "user", "role", "key", "created", "last used", "ends"], rows);
}

async function end(stores: Stores, id: string, { json }: JsonOption): Promise<string> {
  const session = await stores.consoleSessions.findSession(id);
  if (session === null || !(await stores.consoleSessions.deleteSession(id)))
    throw new Error(`No session has the ID ${id}. List sessions: gateway sessions list`);
  const { accountId } = session;
  await auditCommand(stores, {
    action: "gateway sessions end",
    accountId,
    target: id,
    changes: { ended: true },
  });
  return json ? JSON.stringify({ data: { id, ended: true } }) : `Ended ${id}.`;
}
