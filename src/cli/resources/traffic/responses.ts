import type { Command } from "commander";
import { formatDollars } from "../../../base/numbers/money.ts";
import {
  cancelKeptResponse,
  deleteKeptResponse,
  getKeptItems,
  getKeptResponse,
  getKeptUsage,
  listKeptResponses,
} from "../../../http/routes/response-objects/admin-responses.ts";
import { type AnswerOf, type ArgumentSpec, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { printText, type Row, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const RESPONSE: ArgumentSpec = {
  name: "<id>",
  help: "ID of the response, gen_…, or of items of a conversation, items_…",
  field: "id",
};

const formatResponses = tableOf(
  [
    ["response", "id"],
    "created_at",
    ["model", "model", (model, { kind }) => printText(kind === "items" ? "(items)" : model)],
    [
      "status",
      "status",
      (status, { background }) => `${status}${background === true ? " (background)" : ""}`,
    ],
    ["user", "user_id", printName("user")],
    ["key", "key_id", printName("key")],
    "conversation_id",
    "bytes",
    ["expires", "expires_at"],
  ],
  "No responses are kept.",
);

const formatChain = tableOf([
  "sequence",
  ["response", "id"],
  "created_at",
  ["model", "model", (model, { kind }) => printText(kind === "items" ? "(items)" : model)],
  "status",
  "bytes",
  ["continues", "previous_id"],
]);

/** Returns the format of an id that shows the name of its resource instead, if it has one. */
function printName(resource: string) {
  return (id: unknown, row: Row): string => printText(row[`${resource}_name`] ?? id);
}

type Details = AnswerOf<typeof getKeptResponse>["data"];

/** Formats a response: its chain, then all other fields. */
function formatDetails({ chain, is_truncated, generation, conversation, may_change: _, ...fields }: Details) {
  const metadata = conversation?.metadata ?? {};
  const { total_cost, total_cost_nanodollars, ...used } = generation ?? {};
  return [
    formatChain({ data: chain }) + (is_truncated ? "\nThe chain has more." : ""),
    formatFields({
      ...fields,
      ...used,
      cost: total_cost_nanodollars === undefined ? null : `$${formatDollars(total_cost_nanodollars)}`,
      metadata: Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata),
    }),
  ].join("\n\n");
}

/** Formats the contents of a response as JSON under headings. */
function formatItems({ data: { input, output } }: AnswerOf<typeof getKeptItems>): string {
  const format = (heading: string, items: readonly unknown[]) =>
    [heading, ...items.map((item) => JSON.stringify(item, null, 2))].join("\n");
  return [format("Input:", input), format("Output:", output)].join("\n\n");
}

/** `gateway responses`: the responses that the gateway keeps for the Responses API. */
export function declareResponseCommands(responses: Command): void {
  declareCommands(responses, [
    defineCommand({
      name: "list",
      endpoint: listKeptResponses,
      rows: DEFAULT_LIMIT,
      examples: [
        "gateway responses list --account Acme",
        "gateway responses list --key ci --background true --status in_progress",
      ],
      show: formatResponses,
    }),
    defineCommand({
      name: "show",
      endpoint: getKeptResponse,
      args: [{ ...RESPONSE, help: `${RESPONSE.help}, or of a conversation, conv_…, for its newest` }],
      show: ({ data }) => formatDetails(data),
    }),
    defineCommand({
      name: "items",
      endpoint: getKeptItems,
      args: [RESPONSE],
      show: formatItems,
    }),
    defineCommand({
      name: "cancel",
      endpoint: cancelKeptResponse,
      args: [RESPONSE],
      show: ({ data: { id, status } }) =>
        status === "queued" || status === "in_progress"
          ? `Asked ${id} to end. It still runs: gateway responses show ${id}`
          : `${id} is ${status}.`,
    }),
    defineCommand({
      name: "delete",
      endpoint: deleteKeptResponse,
      args: [RESPONSE],
      show: ({ data: { id } }) => `Deleted ${id}.`,
    }),
    defineCommand({
      name: "usage",
      endpoint: getKeptUsage,
      derives: false,
      args: [{ ...ARGUMENTS.account, field: "query.account_id" }],
      show: ({ data }) => formatFields(data),
    }),
  ]);
}
