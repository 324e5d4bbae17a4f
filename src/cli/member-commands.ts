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

/** Members that are read at once. */
const PAGE = 500;

interface JsonOption {
  readonly json?: boolean;
}

interface SetOptions extends JsonOption {
  readonly role: string;
  readonly dailyLimit?: string;
}

/** `gateway members set|list|remove`: who belongs to an organization, and as what. */
export function addMemberCommands(program: Command): void {
  const members = program.command("members").description("set, list and remove members of organizations");
  members
    .command("set")
    .description("make a user a member, or replace their role and daily limit")
    .argument("<org>", "the organization's id, org_…")
    .argument("<user>", "the user's id, user_…")
    .option("--role <role>", ROLES.join(", "), "member")
    .option("--daily-limit <dollars>", "what they may spend in a day; none: no limit")
    .option("--json", "print JSON")
    .action((organizationId: string, userId: string, options: SetOptions) =>
      withStores((stores) => set(stores, organizationId, userId, options)),
    );
  members
    .command("list")
    .description("list an organization's members")
    .argument("<org>", "the organization's id, org_…")
    .option("--json", "print JSON")
    .action((organizationId: string, options: JsonOption) =>
      withStores((stores) => list(stores, organizationId, options)),
    );
  members
    .command("remove")
    .description("take a member out; a running gateway refuses their keys of it within a second")
    .argument("<org>", "the organization's id, org_…")
    .argument("<user>", "the user's id, user_…")
    .option("--json", "print JSON")
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
  if (members.length === 0) return "It has no members. Add one: gateway members set <org> <user>";
  const rows = members.map(({ userId, role, dailyLimit, createdAt }) => [
    userId,
    role,
    printLimit(dailyLimit),
    dateOf(createdAt),
  ]);
  return formatTable(["user", "role", "a day", "since"], rows);
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
  return `${userId} is no member of ${organizationId} any more.`;
}
