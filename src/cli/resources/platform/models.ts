import type { Command } from "commander";
import { getCatalogModel, listCatalogModels } from "../../../http/routes/models/admin-models.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { printText, type Row, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

/** `gateway models list|show`: the models of the catalog. */
export function declareModelCommands(models: Command): void {
  declareCommands(models, [
    defineCommand({
      name: "list",
      endpoint: listCatalogModels,
      show: tableOf(
        [
          ["model", "id"],
          ["context", "context_length"],
          ["prompt", "pricing", (prices) => printText((prices as Row | null)?.["prompt"])],
          ["completion", "pricing", (prices) => printText((prices as Row | null)?.["completion"])],
          ["served by", "served_by", (slugs) => (slugs as readonly string[]).join(" ")],
          "not_served_because",
        ],
        "The catalog has no models.",
      ),
    }),
    defineCommand({
      name: "show",
      endpoint: getCatalogModel,
      args: [{ name: "<model>", help: "ID of the model, such as openai/gpt-5-mini", field: null }],
      async complete(_, { args: [id] }) {
        const [author, ...rest] = String(id).split("/");
        return { params: { author, model: rest.join("/") } };
      },
      show: ({ data }) => formatFields(data),
    }),
  ]);
}
