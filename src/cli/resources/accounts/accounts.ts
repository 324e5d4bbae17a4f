import type { Command } from "commander";
import { ORGANIZATION_SETTINGS, USER_SETTINGS } from "../../../core/accounts/records/account-fields.ts";
import {
  getOrganization,
  listOrganizations,
  patchOrganization,
  postOrganization,
} from "../../../http/routes/accounts/admin-organizations.ts";
import { getUser, listUsers, patchUser, postUser } from "../../../http/routes/accounts/admin-users.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { accountsOf, NAMED_BY } from "../../endpoint/named-resources.ts";
import { type Column, printDay, printLimit, showChange, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const { name: NAME, ...NEW_USER } = USER_SETTINGS;
const { name: _, ...NEW_ORGANIZATION } = ORGANIZATION_SETTINGS;

const CREATED_AND_STATE: readonly Column[] = [
  ["created", "created_at", printDay],
  ["state", "closed_at", (at) => (at === null ? "open" : `closed ${printDay(at)}`)],
];
const NEW = { args: [{ name: "<name>", help: NAME.option?.help ?? "", field: "name" }] } as const;

/** `gateway users …`. */
export function declareUserCommands(users: Command): void {
  declareCommands(users, [
    defineCommand({
      ...NEW,
      name: "create",
      endpoint: postUser,
      settings: { of: NEW_USER, use: "new" },
      examples: [
        "gateway users create Ada --email ada@example.com --overdraft 5",
        "gateway users create Bob --retention deny",
      ],
      show: showChange("Created"),
    }),
    defineCommand({
      name: "list",
      endpoint: listUsers,
      show: tableOf(
        ["id", "name", ["e-mail", "email"], ["overdraft", "overdraft", printLimit], ...CREATED_AND_STATE],
        "No users. Create one: gateway users create <name>",
      ),
    }),
    defineCommand({
      name: "show",
      endpoint: getUser,
      args: [argumentOf("user")],
      show({ data: { memberships, ...user } }) {
        const roles = memberships.map(({ organization_id, role }) => `${role} of ${organization_id}`);
        return formatFields({ ...user, memberships: roles.length === 0 ? null : roles.join(", ") });
      },
    }),
    ...defineChanges("user"),
  ]);
}

/** `gateway orgs …`. */
export function declareOrganizationCommands(organizations: Command): void {
  declareCommands(organizations, [
    defineCommand({
      ...NEW,
      name: "create",
      endpoint: postOrganization,
      settings: { of: NEW_ORGANIZATION, use: "new" },
      examples: ["gateway orgs create Acme --owner ada@example.com --monthly-limit 500"],
      show: showChange("Created"),
    }),
    defineCommand({
      name: "list",
      endpoint: listOrganizations,
      show: tableOf(
        [
          ...["id", "name"],
          ["overdraft", "overdraft", printLimit],
          ["monthly limit", "monthly_limit", printLimit],
          ...CREATED_AND_STATE,
        ],
        "No organizations. Create one: gateway orgs create <name>",
      ),
    }),
    defineCommand({
      name: "show",
      endpoint: getOrganization,
      args: [argumentOf("organization")],
      show: ({ data }) => formatFields(data),
    }),
    ...defineChanges("organization"),
  ]);
}

type Kind = "user" | "organization";

function argumentOf(kind: Kind, state?: "open" | "closed") {
  const name = kind === "user" ? "<user>" : "<org>";
  return { name, help: NAMED_BY[kind], field: "id", named: accountsOf(kind, state) };
}

/** The commands that change an account: `update`, `close` and `reopen`. */
function defineChanges(kind: Kind) {
  const endpoint = kind === "user" ? patchUser : patchOrganization;
  const of = kind === "user" ? USER_SETTINGS : ORGANIZATION_SETTINGS;
  return [
    defineCommand({
      name: "update",
      description: "Change the given fields. A running gateway applies them within a second",
      endpoint,
      args: [argumentOf(kind)],
      settings: { of, use: "change" },
      fixed: { closed: undefined },
      show: showChange("Updated"),
    }),
    defineCommand({
      name: "close",
      description: "Close an account: its keys stop working, its ledger stays",
      endpoint,
      args: [argumentOf(kind)],
      fixed: { closed: true },
      derives: false,
      show: showChange("Closed"),
    }),
    defineCommand({
      name: "reopen",
      description: "Reopen a closed account",
      endpoint,
      args: [argumentOf(kind, "closed")],
      fixed: { closed: false },
      derives: false,
      show: showChange("Reopened"),
    }),
  ];
}
