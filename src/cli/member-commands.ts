import type { Command } from "commander";
import type { Stores } from "../app/stores.ts";
import { dateOf } from "../base/time.ts";
import { findAccount } from "../core/accounts/manage-accounts.ts";
import { putMember, removeMember } from "../core/accounts/manage-members.ts";
import { MEMBER_SETTINGS, presentMember } from "../core/accounts/member-fields.ts";
import type { MemberRecord } from "../core/accounts/records.ts";
import { auditCommand } from "./audit-command.ts";
import { addFieldOptions, type GivenOptions, readFieldOptions } from "./field-options.ts";
import { formatTable } from "./format-table.ts";
import { printLimit } from "./print-values.ts";
import { addJsonOption, type JsonOption } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

/** Members that are read per page. */
const PAGE = 500;

/** A member of an organization, as the arguments of a command name it. */
interface OneMember {
  readonly organizationId: string;
  readonly userId: string;
}

interface SetOptions extends GivenOptions, JsonOption {}

const ORGANIZATION = "ID of the organization, org_…";
const USER = "ID of the user, user_…";

/** `gateway members set|list|remove`: the members of organizations and their roles. */
export function addMemberCommands(program: Command): void {
  const members = program.command("members").description("Manage members of organizations");
  const setCommand = members
    .command("set")
    .description("Add a member, or replace their role and daily limit")
    .argument("<org>", ORGANIZATION)
    .argument("<user>", USER);
  addJsonOption(addFieldOptions(setCommand, MEMBER_SETTINGS, "new")).action(
    (organizationId: string, userId: string, options: SetOptions) =>
      withStores((stores) => set(stores, { organizationId, userId }, options)),
  );
  addJsonOption(
    members
      .command("list")
      .description("List the members of an organization")
      .argument("<org>", ORGANIZATION),
  ).action((organizationId: string, options: JsonOption) =>
    withStores((stores) => list(stores, organizationId, options)),
  );
  addJsonOption(
    members
      .command("remove")
      .description(
        "Remove a member; a running gateway rejects their keys of the organization within a second",
      )
      .argument("<org>", ORGANIZATION)
      .argument("<user>", USER),
  ).action((organizationId: string, userId: string, options: JsonOption) =>
    withStores((stores) => remove(stores, { organizationId, userId }, options)),
  );
}

async function set(stores: Stores, one: OneMember, options: SetOptions): Promise<string> {
  const change = readFieldOptions(MEMBER_SETTINGS, options, stores.clock.now());
  const { role = "member", dailyLimit = null } = change;
  const member = await putMember(stores, { ...one, role, dailyLimit });
  const { organizationId, userId } = one;
  await auditCommand(stores, {
    action: "gateway members set",
    accountId: organizationId,
    target: `${organizationId}/${userId}`,
    changes: { role, dailyLimit: options["dailyLimit"] ?? null },
  });
  if (options.json) return JSON.stringify({ data: presentMember(member) });
  return `${userId} is ${role} of ${organizationId}.`;
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
  { organizationId, userId }: OneMember,
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
