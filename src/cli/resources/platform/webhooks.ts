import type { Command } from "commander";
import { listWebhooks, testWebhooks } from "../../../http/routes/platform/admin-webhooks.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { tableOf } from "../../render/columns.ts";

/** Receivers may take ten seconds each. They are called at the same time. */
const TIMEOUT_MS = 20_000;

/** `gateway webhooks list|test`: the webhooks of the running gateway. */
export function declareWebhookCommands(webhooks: Command): void {
  declareCommands(webhooks, [
    defineCommand({
      name: "list",
      endpoint: listWebhooks,
      show: tableOf(
        ["index", ["receiver", "origin"], "format", "waiting", "delivered", "dropped", "last_error"],
        "No webhook is configured.",
      ),
    }),
    defineCommand({
      name: "test",
      description: "Send a test event. Exits with 1 if a receiver does not accept it",
      endpoint: testWebhooks,
      timeoutMs: TIMEOUT_MS,
      hasFailed: ({ data }) => data.some(({ error }) => error !== null),
      show: tableOf([
        "index",
        ["receiver", "origin"],
        ["result", "error", (error, { status }) => String(error ?? `taken (status ${status})`)],
      ]),
    }),
  ]);
}
