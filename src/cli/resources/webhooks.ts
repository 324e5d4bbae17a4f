import { type Command, InvalidArgumentError } from "commander";
import {
  type AskedGateway,
  addGatewayOptions,
  type GatewayOptions,
  withGateway,
} from "../callers/ask-gateway.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatTable } from "../render/format-table.ts";

const PATH = "/api/admin/webhooks";
/** Receivers may take ten seconds each, at the same time. */
const TIMEOUT_MS = 20_000;

/** `gateway webhooks list|test`: the webhooks of the running gateway. */
export function declareWebhookCommands(webhooks: Command): void {
  const list = webhooks
    .command("list")
    .description("List the webhooks, with what the process that answers has delivered");
  addJsonOption(addGatewayOptions(list)).action((options: ListOptions) =>
    withGateway(options, (gateway) => listWebhooks(gateway, options)),
  );
  const test = webhooks
    .command("test")
    .description("Send a test event; exits with 1 if a receiver does not take it")
    .option("--index <number>", "Only to this webhook, counted from 0 (default: all)", readIndex);
  addJsonOption(addGatewayOptions(test)).action((options: TestOptions) =>
    withGateway(options, (gateway) => testWebhooks(gateway, options)),
  );
}

type ListOptions = GatewayOptions & JsonOption;

interface TestOptions extends ListOptions {
  readonly index?: number;
}

function readIndex(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError("It must be a number such as 0.");
  return Number(text);
}

interface Webhook {
  readonly index: number;
  readonly origin: string;
  readonly format: string;
  readonly waiting: number;
  readonly delivered: number;
  readonly dropped: number;
  readonly last_error: string | null;
}

async function listWebhooks(gateway: AskedGateway, { json }: ListOptions): Promise<string> {
  const answer = await gateway.ask<{ data: readonly Webhook[] }>({ method: "GET", path: PATH });
  if (json) return JSON.stringify(answer);
  if (answer.data.length === 0) return "No webhook is configured.";
  const rows = answer.data.map((one) => [
    String(one.index),
    one.origin,
    one.format,
    String(one.waiting),
    String(one.delivered),
    String(one.dropped),
    one.last_error ?? "",
  ]);
  return formatTable(["index", "receiver", "format", "waiting", "delivered", "dropped", "last error"], rows);
}

interface Trial {
  readonly index: number;
  readonly origin: string;
  readonly status: number | null;
  readonly error: string | null;
}

async function testWebhooks(gateway: AskedGateway, { index, json }: TestOptions): Promise<string> {
  const body = index === undefined ? {} : { index };
  const request = { method: "POST", path: `${PATH}/test`, body, timeoutMs: TIMEOUT_MS } as const;
  const answer = await gateway.ask<{ data: readonly Trial[] }>(request);
  if (answer.data.some(({ error }) => error !== null)) process.exitCode = EXIT_CODES.failed;
  if (json) return JSON.stringify(answer);
  const rows = answer.data.map((one) => [
    String(one.index),
    one.origin,
    one.error ?? `taken (status ${one.status})`,
  ]);
  return formatTable(["index", "receiver", "result"], rows);
}
