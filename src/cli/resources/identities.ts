import type { Command } from "commander";
import type { Config } from "../../app/config-schema.ts";
import type { Stores } from "../../app/stores.ts";
import { requireUser } from "../../core/accounts/manage-accounts.ts";
import { withStores } from "../callers/with-stores.ts";
import { NAMED_BY, resolveAccount } from "../endpoint/named-resources.ts";
import { addJsonOption, DEFAULT_LIMIT, type JsonOption, readLimit } from "../endpoint/read-options.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatTable } from "../render/format-table.ts";

/** `gateway identities list|add|remove`: which users the people of the OpenID Connect provider are. */
export function declareIdentityCommands(identities: Command): void {
  addJsonOption(
    identities
      .command("list")
      .description("List linked people, the oldest first")
      .option("--limit <number>", "Maximum number of people", readLimit, DEFAULT_LIMIT),
  ).action((options: ListOptions) => withStores((stores) => list(stores, options)));
  addChange(identities.command("add").description("Link a person to a user"), add);
  addChange(identities.command("remove").description("Remove the link of a person to a user"), remove);
}

interface ListOptions extends JsonOption {
  readonly limit: number;
}

interface ChangeOptions extends JsonOption {
  readonly issuer?: string;
}

/** A person and the user that the person is. */
interface Link {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
}

type Change = (stores: Stores, link: Link) => Promise<string>;

function addChange(command: Command, change: Change): void {
  addJsonOption(
    command
      .argument("<user>", NAMED_BY.user)
      .argument("<subject>", "Subject (sub) of the person at the provider")
      .option("--issuer <url>", "Issuer (iss) of the provider (default: console.oidc.issuer)"),
  ).action((user: string, subject: string, { issuer, json }: ChangeOptions) =>
    withStores(async (stores, config) => {
      const { id: userId } = await resolveAccount(stores, user, { kind: "user" });
      const link = { issuer: issuer ?? issuerOf(config), subject, userId };
      const message = await change(stores, link);
      const data = { issuer: link.issuer, subject, user_id: userId };
      return json ? JSON.stringify({ data }) : message;
    }),
  );
}

function issuerOf({ console: { oidc } }: Config): string {
  if (oidc === undefined)
    throw new Error("No provider is configured (console.oidc). Name one with --issuer.");
  return oidc.issuer;
}

async function list({ identities }: Stores, { limit, json }: ListOptions): Promise<string> {
  const found = await identities.listIdentities(limit);
  const data = found.map(({ issuer, subject, userId, createdAt }) => ({
    issuer,
    subject,
    user_id: userId,
    created_at: new Date(createdAt).toISOString(),
  }));
  if (json) return JSON.stringify({ data });
  if (data.length === 0) return "No one is linked. Link a person: gateway identities add <user> <subject>";
  const rows = data.map((one) => [one.user_id, one.subject, one.issuer, one.created_at.slice(0, 19)]);
  return formatTable(["user", "subject", "issuer", "linked"], rows);
}

async function add(stores: Stores, link: Link): Promise<string> {
  await requireUser(stores, link.userId, "user");
  const { identities, clock } = stores;
  if (!(await identities.addIdentity({ ...link, createdAt: clock.now() })))
    throw new Error(`The person ${link.subject} is linked to a user already. Remove that link first.`);
  await audit(stores, link, "add");
  return `Linked ${link.subject} to ${link.userId}.`;
}

async function remove(stores: Stores, link: Link): Promise<string> {
  const found = await stores.identities.findIdentity(link.issuer, link.subject);
  if (found?.userId !== link.userId)
    throw new Error(
      `The person ${link.subject} is not linked to ${link.userId}. List links: gateway identities list`,
    );
  await stores.identities.removeIdentity(link.issuer, link.subject);
  await audit(stores, link, "remove");
  return `Removed the link of ${link.subject} to ${link.userId}. Sessions of the person go on until they end.`;
}

function audit(stores: Stores, { issuer, subject, userId }: Link, word: string): Promise<void> {
  const action = `gateway identities ${word}`;
  return auditCommand(stores, { action, accountId: userId, target: userId, changes: { issuer, subject } });
}
