import type { Command } from "commander";
import { explainRouteOf } from "../../http/routes/admin-explain.ts";
import { dryRunOfPolicy } from "../../http/routes/admin-policy.ts";
import { type AnyCommandSpec, defineCommand, type OptionSpec } from "../endpoint/command-spec.ts";
import { declareCommands } from "../endpoint/declare-command.ts";
import { accountOption, keysOf } from "../endpoint/named-resources.ts";
import { readDefinition } from "../endpoint/read-definition.ts";
import { printText, printTime, type Row, tableOf } from "../render/columns.ts";

const KEY: OptionSpec = {
  flags: "--api-key <key>",
  help: "API key that makes the request",
  field: "key_id",
  named: keysOf,
};

const EXPLAIN: AnyCommandSpec = defineCommand({
  name: "explain",
  description: "Explain how the running gateway would route a request, without sending it",
  endpoint: explainRouteOf,
  args: [{ name: "<file>", help: "File with the body of the request in JSON or YAML", field: null }],
  options: [
    KEY,
    accountOption("Account that makes the request, with a key that restricts nothing"),
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
        ["provider", "provider"],
        ["model", "model"],
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

/** `gateway policy dry-run`: which recorded requests a changed policy would have refused. */
export function declarePolicyCommands(policy: Command): void {
  declareCommands(policy, [
    defineCommand({
      name: "dry-run",
      description: "List the recorded requests that a changed policy of an account would have refused",
      endpoint: dryRunOfPolicy,
      options: [
        accountOption("Account whose policy is to change (default: the operator account)"),
        { ...KEY, help: "Only requests with this API key" },
      ],
      show({ checked, rerouted, refused }) {
        const table = tableOf(
          [
            ["generation", "id"],
            ["created", "created_at", printTime],
            ["model", "requested_model"],
            ["rule", "rule"],
          ],
          "None would have been refused.",
        )({ data: refused });
        return `${table}\n\nChecked ${checked} requests; ${rerouted} would have been answered by another provider or model.`;
      },
      json: (data) => ({ data }),
    }),
  ]);
}
