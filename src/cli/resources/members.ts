import type { Command } from "commander";
import type { Stores } from "../../app/stores.ts";
import { dateOf } from "../../base/time.ts";
import { putMember, removeMember } from "../../core/accounts/manage-members.ts";
import { MEMBER_SETTINGS, presentMember } from "../../core/accounts/member-fields.ts";
import type { AccountRecord, MemberRecord } from "../../core/accounts/records.ts";
import { withStores } from "../callers/with-stores.ts";
import { addFieldOptions, type GivenOptions, readFieldOptions } from "../endpoint/field-options.ts";
import { NAMED_BY, resolveAccount } from "../endpoint/named-resources.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { labelOf } from "../endpoint/resolve-name.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatTable } from "../render/format-table.ts";
import { printLimit } from "../render/print-values.ts";

/** Members that are read per page. */
const PAGE = 500;

/** A member of an organization, as the arguments of a command name it. */
interface OneMember {
  readonly organization: string;
  readonly user: string;
}

interface SetOptions extends GivenOptions, JsonOption {}

/** `gateway members set|list|remove`: the members of organizations and their roles. */
export function declareMemberCommands(members: Command): void {
  const setCommand = members
    .command("set")
    .description("Add a member, or replace their role and daily limit")
    .argument("<org>", NAMED_BY.organization)
    .argument("<user>", NAMED_BY.user);
  addJsonOption(addFieldOptions(setCommand, MEMBER_SETTINGS, "new")).action(
    (organization: string, user: string, options: SetOptions) =>
      withStores((stores) => set(stores, { organization, user }, options)),
  );
  addJsonOption(
    members
      .command("list")
      .description("List the members of an organization")
      .argument("<org>", NAMED_BY.organization),
  ).action((organization: string, options: JsonOption) =>
    withStores((stores) => list(stores, organization, options)),
  );
  addJsonOption(
    members
      .command("remove")
      .description(
        "Remove a member; a running gateway rejects their keys of the organization within a second",
      )
      .argument("<org>", NAMED_BY.organization)
      .argument("<user>", NAMED_BY.user),
  ).action((organization: string, user: string, options: JsonOption) =>
    withStores((stores) => remove(stores, { organization, user }, options)),
  );
}

/** Returns the accounts that a command names. */
async function resolveMember(
  stores: Stores,
  { organization, user }: OneMember,
): Promise<{ readonly organization: AccountRecord; readonly user: AccountRecord }> {
  return {
    organization: await resolveAccount(stores, organization, { kind: "organization" }),
    user: await resolveAccount(stores, user, { kind: "user" }),
  };
}

async function set(stores: Stores, one: OneMember, options: SetOptions): Promise<string> {
  const change = readFieldOptions(MEMBER_SETTINGS, options, stores.clock.now());
  const { role = "member", dailyLimit = null } = change;
  const { organization, user } = await resolveMember(stores, one);
  const wanted = { organizationId: organization.id, userId: user.id, role, dailyLimit };
  const member = await putMember(stores, wanted);
  await auditCommand(stores, {
    action: "gateway members set",
    accountId: organization.id,
    target: `${organization.id}/${user.id}`,
    changes: { role, dailyLimit: options["dailyLimit"] ?? null },
  });
  if (options.json) return JSON.stringify({ data: presentMember(member) });
  return `${labelOf(user)} is ${role} of ${labelOf(organization)}.`;
}

async function list(stores: Stores, organization: string, { json }: JsonOption): Promise<string> {
  const { accounts } = stores;
  const { id } = await resolveAccount(stores, organization, { kind: "organization" });
  const members: MemberRecord[] = [];
  for (;;) {
    const page = await accounts.listMembers(id, members.at(-1)?.userId ?? null, PAGE);
    members.push(...page);
    if (page.length < PAGE) break;
  }
  if (json) return JSON.stringify({ data: members.map(presentMember) });
  if (members.length === 0) return "No members. Add one: gateway members set <org> <user>";
  const names = await accounts.findAccountNames(members.map(({ userId }) => userId));
  const rows = members.map(({ userId, role, dailyLimit, createdAt }) => [
    userId,
    names.get(userId) ?? "",
    role,
    printLimit(dailyLimit),
    dateOf(createdAt),
  ]);
  return formatTable(["user", "name", "role", "daily limit", "since"], rows);
}

async function remove(stores: Stores, one: OneMember, { json }: JsonOption): Promise<string> {
  const { organization, user } = await resolveMember(stores, one);
  const revoked = await removeMember(stores, organization.id, user.id);
  await auditCommand(stores, {
    action: "gateway members remove",
    accountId: organization.id,
    target: `${organization.id}/${user.id}`,
    changes: { revoked_keys: revoked.length },
  });
  if (json) return JSON.stringify({ data: { organization_id: organization.id, user_id: user.id } });
  const keys = revoked.length === 0 ? "" : ` Revoked keys: ${revoked.length}.`;
  return `Removed ${labelOf(user)} from ${labelOf(organization)}.${keys}`;
}
