import type { Command } from "commander";
import { formatDollars } from "../../../base/numbers/money.ts";
import { getGenerationDetails } from "../../../http/routes/traffic/admin-generation.ts";
import { listGenerations } from "../../../http/routes/traffic/admin-generations.ts";
import { getGenerationHistogram } from "../../../http/routes/traffic/generation-histogram.ts";
import { listRows } from "../../callers/caller.ts";
import { type AnswerOf, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { printText, printTime, type Row, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";
import { FILTER_OPTIONS, RANGE_OPTIONS } from "./generation-options.ts";
import {
  findRejected,
  listRejected,
  REJECTED_OPTIONS,
  rejectOwnOptions,
  showRejected,
} from "./rejected-requests.ts";
import { declareTailCommand } from "./tail-requests.ts";

/** Formats generations as a table. */
const showGenerations = tableOf(
  [
    ["generation", "id"],
    "created_at",
    ["model", "model", (model, { requested_model }) => printText(model ?? requested_model)],
    "outcome",
    ["prompt tokens", "tokens_prompt"],
    ["completion tokens", "tokens_completion"],
    ["dollars", "total_cost_nanodollars", (cost) => formatDollars(Number(cost))],
  ],
  "No requests.",
);
type Details = AnswerOf<typeof getGenerationDetails>["data"];

const formatPlan = tableOf([
  ["candidate", "provider_name", nameCandidate],
  "model",
  "result",
  "reason",
  ["until", "until", printTime],
]);

const formatAttempts = tableOf([
  ["attempt", "provider_name", nameCandidate],
  ["model", "model", (model, { upstream_model }) => printText(model ?? upstream_model)],
  "result",
  ["status", "upstream_status"],
  ["ms", "duration_ms"],
  ["error", "error_type"],
  ["code", "upstream_code"],
  ["message", "upstream_message"],
]);

/** Returns the provider of a candidate, with its key if the provider has several. */
function nameCandidate(provider: unknown, { key, key_number }: Row): string {
  return key_number === null
    ? printText(provider)
    : `${provider} key ${key_number}${key === null ? "" : ` (${key})`}`;
}

/** Formats a generation: what happened, its plan and attempts, then all other fields. */
function formatGeneration({ explanation, plan, attempts, ...fields }: Details): string {
  return [
    explanation.join("\n"),
    ...(plan.length === 0 ? [] : [formatPlan({ data: plan })]),
    ...(attempts.length === 0 ? [] : [formatAttempts({ data: attempts })]),
    formatFields(fields),
  ].join("\n\n");
}

/** `gateway requests`: the records of requests to models. */
export function declareRequestCommands(requests: Command): void {
  declareCommands(requests, [
    defineCommand({
      name: "list",
      endpoint: listGenerations,
      options: [...FILTER_OPTIONS, ...RANGE_OPTIONS, ...REJECTED_OPTIONS],
      rows: DEFAULT_LIMIT,
      async call(input, run) {
        if (run.options["rejected"] === true)
          return { data: (await listRejected(input, run)) as never[], next: null };
        rejectOwnOptions(input);
        const limit = Number(run.options["limit"]);
        return {
          data: (await listRows(run.caller, listGenerations, { ...input, limit })) as never[],
          next: null,
        };
      },
      json: ({ data }) => ({ data }),
      examples: [
        "gateway requests list --outcome failed --provider openai",
        "gateway requests list --from 2027-01-31 --key ci",
        "gateway requests list --team Search --outcome failed",
        "gateway requests list --rejected --error authentication",
      ],
      show: (answer, { options }) => (options["rejected"] === true ? showRejected : showGenerations)(answer),
    }),
  ]);
  declareTailCommand(requests.command("tail").description("Print requests as they end, until Ctrl-C"));
  declareCommands(requests, [
    defineCommand({
      name: "count",
      endpoint: getGenerationHistogram,
      options: [...FILTER_OPTIONS, ...RANGE_OPTIONS],
      show: ({ buckets, is_exact }) => {
        const table = tableOf([
          ["from", "at", printTime],
          ...["completed", "cached", "failed", "cancelled", "open"],
        ])({
          data: buckets,
        });
        return is_exact
          ? table
          : `${table}\n\nThere are too many requests to count: some counts are estimates.`;
      },
      json: (data) => ({ data }),
    }),
    defineCommand({
      name: "show",
      endpoint: getGenerationDetails,
      args: [ARGUMENTS.generation],
      description: "Show a request: its route, attempts, cost and caller, or why it was rejected",
      async call({ params }, { caller }) {
        const rejected = await findRejected(caller, String(params["id"]));
        if (rejected !== null) return { data: rejected as never };
        return (await caller.call(getGenerationDetails, { params })).body as never;
      },
      show: ({ data }) => ("explanation" in data ? formatGeneration(data) : formatFields(data)),
    }),
  ]);
}
