import type { Command } from "commander";
import {
  deleteBudget,
  getBudget,
  listBudgets,
  patchBudget,
  postBudget,
} from "../../http/routes/admin-budgets.ts";
import { defineCommand, type OptionSpec } from "../endpoint/command-spec.ts";
import { declareCommands } from "../endpoint/declare-command.ts";
import { accountOption, keysOf, userOption } from "../endpoint/named-resources.ts";
import { tableOf } from "../render/columns.ts";
import { formatFields } from "../render/format-table.ts";

const ID = { name: "<id>", help: "ID of the budget, budget_…", field: "id" } as const;

/** Returns a number, or the text for the endpoint to reject. */
function readNumber(text: string): unknown {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

const LIMIT: OptionSpec = {
  flags: "--limit <dollars>",
  help: "US dollars in each period",
  field: "limit",
  read: readNumber,
};
const NAME: OptionSpec = { flags: "--name <name>", help: "Display name", field: "name" };
const REACTION: readonly OptionSpec[] = [
  {
    flags: "--action <action>",
    help: "At the limit: block rejects requests, warn does not (new: block)",
    field: "action",
  },
  {
    flags: "--warn-at <share>",
    help: "Share of the limit from which on there are warnings (new: 0.8)",
    field: "warn_at",
    read: readNumber,
  },
];

/** `gateway budgets …`: limits on what accounts spend in each period. */
export function declareBudgetCommands(budgets: Command): void {
  declareCommands(budgets, [
    defineCommand({
      name: "list",
      description: "List budgets with what is spent of each",
      endpoint: listBudgets,
      options: [accountOption("Only the budgets of this account")],
      show: tableOf(
        [
          ["id", "id"],
          ["name", "name"],
          ["limit", "limit", (limit) => `$${limit}`],
          ["spent", "spent", (spent) => (spent === null ? "" : `$${Number(Number(spent).toPrecision(4))}`)],
          ["state", "state"],
        ],
        "No budgets. Create one: gateway budgets create --limit <dollars>",
      ),
    }),
    defineCommand({
      name: "show",
      description: "Show a budget",
      endpoint: getBudget,
      args: [ID],
      show: ({ data }) => formatFields({ ...data, top: JSON.stringify(data.top) }),
    }),
    defineCommand({
      name: "create",
      description: "Create a budget; a running gateway uses it within a second",
      endpoint: postBudget,
      options: [
        { ...LIMIT, isRequired: true },
        accountOption("Account that pays (default: that of the key, or the operator's own)"),
        { flags: "--key <key>", help: "Only this API key of the account", field: "key_id", named: keysOf },
        userOption("Only this member of the organization"),
        { flags: "--end-user <name>", help: "Only this end user, or '*' for each", field: "end_user" },
        { flags: "--tag <tag>", help: "Only this tag, or '*' for each", field: "tag" },
        {
          flags: "--period <period>",
          help: "total, day, week, month or rolling (default: month)",
          field: "period",
        },
        {
          flags: "--days <count>",
          help: "Length of a rolling period, 1 to 365",
          field: "days",
          read: readNumber,
        },
        NAME,
        ...REACTION,
      ],
      examples: [
        "gateway budgets create --account Acme --limit 500 --period month",
        "gateway budgets create --end-user '*' --limit 2 --period day --action warn",
      ],
      async complete({ body }, { named }) {
        const owner = named["account"]?.id ?? named["key"]?.owner;
        return { body: { ...body, account_id: owner } };
      },
      show: ({ data }) => `Created ${data.id} (${data.name}). A running gateway uses it within a second.`,
    }),
    defineCommand({
      name: "update",
      description: "Change a budget; its subject and period stay",
      endpoint: patchBudget,
      args: [ID],
      options: [LIMIT, NAME, ...REACTION],
      async complete({ body }) {
        if (Object.keys(body).length === 0) throw new Error("nothing to change: give at least one option");
        return {};
      },
      show: ({ data }) => `Updated ${data.id} (${data.name}).`,
    }),
    defineCommand({
      name: "delete",
      description: "Delete a budget; a running gateway stops using it within a second",
      endpoint: deleteBudget,
      args: [ID],
      show: ({ data }) => `Deleted ${data.id}.`,
    }),
  ]);
}
