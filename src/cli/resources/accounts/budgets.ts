import type { Command } from "commander";
import {
  deleteBudget,
  getBudget,
  listBudgets,
  patchBudget,
  postBudget,
} from "../../../http/routes/accounts/admin-budgets.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { showChange, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const args = [{ name: "<id>", help: "ID of the budget, budget_…", field: "id" }];

/** `gateway budgets …`: limits on what accounts spend in each period. */
export function declareBudgetCommands(budgets: Command): void {
  declareCommands(budgets, [
    defineCommand({
      name: "list",
      endpoint: listBudgets,
      show: tableOf(
        [
          ...["id", "name"],
          ["limit", "limit", (limit) => `$${limit}`],
          ["spent", "spent", (spent) => (spent === null ? "" : `$${Number(Number(spent).toPrecision(4))}`)],
          "state",
        ],
        "No budgets. Create one: gateway budgets create --limit <dollars>",
      ),
    }),
    defineCommand({
      name: "show",
      endpoint: getBudget,
      args,
      show: ({ data }) => formatFields({ ...data, top: JSON.stringify(data.top) }),
    }),
    defineCommand({
      name: "create",
      endpoint: postBudget,
      examples: [
        "gateway budgets create --account Acme --limit 500 --period month",
        "gateway budgets create --end-user '*' --limit 2 --period day --action warn",
        "gateway budgets create --tag batch --limit 50 --period rolling --days 7",
      ],
      // By default the account of the key pays.
      complete: async ({ body }, { named: { account, key } }) => ({
        body: { ...body, account_id: account?.id ?? key?.owner },
      }),
      show: ({ data }) => `Created ${data.id} (${data.name}). A running gateway uses it within a second.`,
    }),
    defineCommand({
      name: "update",
      endpoint: patchBudget,
      args,
      async complete({ body }) {
        if (Object.keys(body).length === 0) throw new Error("nothing to change: give at least one option");
        return {};
      },
      show: showChange("Updated"),
    }),
    defineCommand({ name: "delete", endpoint: deleteBudget, args, show: showChange("Deleted") }),
  ]);
}
