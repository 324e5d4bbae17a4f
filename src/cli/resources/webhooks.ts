import { type Command, InvalidArgumentError } from "commander";
import { listWebhooks, testWebhooks } from "../../http/routes/admin-webhooks.ts";
import { defineCommand } from "../endpoint/command-spec.ts";
import { declareCommands } from "../endpoint/declare-command.ts";
import { tableOf } from "../render/columns.ts";

/** Receivers may take ten seconds each, at the same time. */
const TIMEOUT_MS = 20_000;

/** `gateway webhooks list|test`: the webhooks of the running gateway. */
export function declareWebhookCommands(webhooks: Command): void {
  declareCommands(webhooks, [
    defineCommand({
      name: "list",
      description: "List the webhooks, with what the process that answers has delivered",
      endpoint: listWebhooks,
      show: tableOf(
        [
          ["index", "index"],
          ["receiver", "origin"],
          ["format", "format"],
          ["waiting", "waiting"],
          ["delivered", "delivered"],
          ["dropped", "dropped"],
          ["last error", "last_error"],
        ],
        "No webhook is configured.",
      ),
    }),
    defineCommand({
      name: "test",
      description: "Send a test event; exits with 1 if a receiver does not take it",
      endpoint: testWebhooks,
      options: [
        {
          flags: "--index <number>",
          help: "Only to this webhook, counted from 0 (default: all)",
          field: "index",
          read: readIndex,
        },
      ],
      timeoutMs: TIMEOUT_MS,
      hasFailed: ({ data }) => data.some(({ error }) => error !== null),
      show: tableOf([
        ["index", "index"],
        ["receiver", "origin"],
        ["result", "error", (error, { status }) => String(error ?? `taken (status ${status})`)],
      ]),
    }),
  ]);
}

/** @throws InvalidArgumentError */
function readIndex(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError("It must be a number such as 0.");
  return Number(text);
}
