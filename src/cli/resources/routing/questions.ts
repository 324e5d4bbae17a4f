import type { Command } from "commander";
import { dryRunOfPolicy } from "../../../http/routes/accounts/admin-policy.ts";
import { explainRouteOf } from "../../../http/routes/routing/admin-explain.ts";
import { type AnyCommandSpec, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { keysOf } from "../../endpoint/named-resources.ts";
import { readDefinition } from "../../endpoint/read-definition.ts";
import { printText, type Row, tableOf } from "../../render/columns.ts";

const EXPLAIN: AnyCommandSpec = defineCommand({
  name: "explain",
  description: "Explain how the running gateway would route a request, without sending it",
  endpoint: explainRouteOf,
  args: [{ name: "<file>", help: "File with the body of the request in JSON or YAML", field: null }],
  options: [
    // `--key` is the management key of the command.
    {
      flags: "--api-key <key>",
      help: "Inference key that makes the request",
      field: "key_id",
      named: keysOf,
    },
    { flags: "--tier-file <path>", help: "File with a tier to try, which is not stored", field: null },
  ],
  fixed: { request: undefined, tier: undefined },
  async complete({ body }, { args: [file], options: { tierFile } }) {
    const tier = tierFile === undefined ? {} : { tier: readDefinition(String(tierFile)) };
    return { body: { ...body, ...tier, request: readDefinition(String(file)) } };
  },
  show: ({ data }) =>
    tableOf(
      [
        ["asked", "would_be_asked", (isAsked) => (isAsked === true ? "yes" : "no")],
        ...["provider", "model"],
        ["dollars", "estimated_cost"],
        ["error", "error", (error) => printText((error as Row | null)?.["message"])],
      ],
      "No provider would be asked.",
    )({ data: data.candidates }),
});

/** `gateway route explain`: how a request would be routed. */
export function declareRouteCommands(route: Command): void {
  declareCommands(route, [EXPLAIN]);
}

/** `gateway policy dry-run`: lists recorded requests that a changed policy would have rejected. */
export function declarePolicyCommands(policy: Command): void {
  declareCommands(policy, [
    defineCommand({
      name: "dry-run",
      description: "List the recorded requests that a changed policy of an account would have rejected",
      endpoint: dryRunOfPolicy,
      show({ checked, rerouted, refused }) {
        const table = tableOf(
          [["generation", "id"], "created_at", ["model", "requested_model"], "rule"],
          "None would have been refused.",
        )({ data: refused });
        return `${table}\n\nChecked ${checked} requests; ${rerouted} would have been answered by another provider or model.`;
      },
      json: (data) => ({ data }),
    }),
  ]);
}
