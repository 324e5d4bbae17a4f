import type { Command } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { dateOf } from "../base/time.ts";
import { findAccount } from "../core/accounts/manage-accounts.ts";
import { putMember, removeMember } from "../core/accounts/manage-members.ts";
import { presentMember } from "../core/accounts/member-fields.ts";
import { type MemberRecord, ROLES, type Role } from "../core/accounts/records.ts";
import { auditCommand } from "./audit-command.ts";
import { formatTable } from "./format-table.ts";
import { printLimit } from "./print-values.ts";
import { readDollars } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

/** Members that are read per page. */
const PAGE = 500;

interface JsonOption {
  readonly json?: boolean;
}

interface SetOptions extends JsonOption {
  readonly role: string;
  readonly dailyLimit?: string;
}

/** `gateway members set|list|remove`: the members of organizations and their roles. */
export function addMemberCommands(program: Command): void {
  const members = program.command("members").description("Manage members of organizations");
  members
    .command("set")
    .description("Add a member, or replace their role and daily limit")
    .argument("<org>", "ID of the organization, org_…")
    .argument("<user>", "ID of the user, user_…")
    .option("--role <role>", `Role: ${ROLES.join(", ")}`, "member")
    .option("--daily-limit <dollars>", "Daily spending limit in US dollars, or none (default: none)")
    .option("--json", "Print JSON")
    .action((organizationId: string, userId: string, options: SetOptions) =>
      withStores((stores) => set(stores, organizationId, userId, options)),
    );
  members
    .command("list")
    .description("List the members of an organization")
    .argument("<org>", "ID of the organization, org_…")
    .option("--json", "Print JSON")
    .action((organizationId: string, options: JsonOption) =>
      withStores((stores) => list(stores, organizationId, options)),
    );
  members
    .command("remove")
    .description("Remove a member; a running gateway rejects their keys of the organization within a second")
    .argument("<org>", "ID of the organization, org_…")
    .argument("<user>", "ID of the user, user_…")
    .option("--json", "Print JSON")
    .action((organizationId: string, userId: string, options: JsonOption) =>
      withStores((stores) => remove(stores, organizationId, userId, options)),
    );
}

async function set(
  stores: Stores,
  organizationId: string,
  userId: string,
  options: SetOptions,
): Promise<string> {
  const role = readRole(options.role);
  const dailyLimit = readDollars("--daily-limit", options.dailyLimit) ?? null;
  const member = await putMember(stores, { organizationId, userId, role, dailyLimit });
  await auditCommand(stores, {
    action: "gateway members set",
    accountId: organizationId,
    target: `${organizationId}/${userId}`,
    changes: { role, dailyLimit: options.dailyLimit ?? null },
  });
  if (options.json) return JSON.stringify({ data: presentMember(member) });
  return `${userId} is ${role} of ${organizationId}.`;
}

function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role === undefined) throw new Error(`--role must be one of ${ROLES.join(", ")}`);
  return role;
}

async function list({ accounts }: Stores, organizationId: string, { json }: JsonOption): Promise<string> {
  await findAccount(accounts, "organization", organizationId);
  const members: MemberRecord[] = [];
  for (;;) {
    const page = await accounts.listMembers(organizationId, members.at(-1)?.userId ?? null, PAGE);
    members.push(...page);
    if (page.length < PAGE) break;
  }
  if (json) return JSON.stringify({ data: members.map(presentMember) });
  if (members.length === 0) return "No members. Add one: gateway members set <org> <user>";
  const rows = members.map(({ userId, role, dailyLimit, createdAt }) => [
    userId,
    role,
    printLimit(dailyLimit),
    dateOf(createdAt),
  ]);
  return formatTable(["user", "role", "daily limit", "since"], rows);
}

async function remove(
  stores: Stores,
  organizationId: string,
  userId: string,
  { json }: JsonOption,
): Promise<string> {
  await removeMember(stores, organizationId, userId);
  await auditCommand(stores, {
    action: "gateway members remove",
    accountId: organizationId,
    target: `${organizationId}/${userId}`,
    changes: {},
  });
  if (json) return JSON.stringify({ data: { organization_id: organizationId, user_id: userId } });
  return `Removed ${userId} from ${organizationId}.`;
}
