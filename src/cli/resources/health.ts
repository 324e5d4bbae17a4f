import type { Command } from "commander";
import {
  type AskedGateway,
  addGatewayOptions,
  type GatewayOptions,
  withGateway,
} from "../callers/ask-gateway.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatTable } from "../render/format-table.ts";

/** `gateway health` and `gateway health test`: what the running gateway measures at its providers. */
export function declareHealthCommands(health: Command): void {
  health.option("--all", "Also list providers without a platform key and without attempts");
  addExamples(health, [
    "gateway health",
    "gateway health test openai",
    "gateway health --url https://gateway.example.com --key gw_…",
  ]);
  addJsonOption(addGatewayOptions(health)).action((options: HealthOptions) =>
    withGateway(options, (gateway) => showHealth(gateway, options)),
  );
  const test = health
    .command("test")
    .description("Test a provider with a request for one token, with a platform key")
    .argument("<provider>", "Slug of the provider, such as openai")
    .option("--model <id>", "Model to call (default: the provider's cheapest one)")
    .option("--provider-key <id>", "Platform key to use, such as openai#0 (default: the first)");
  addJsonOption(addGatewayOptions(test)).action((provider: string, _options: object, command: Command) => {
    // The options that `gateway health` has too are its, wherever they are written.
    const options = command.optsWithGlobals<TestOptions>();
    return withGateway(options, (gateway) => testProvider(gateway, provider, options));
  });
}

interface HealthOptions extends GatewayOptions, JsonOption {
  readonly all?: boolean;
}

interface TestOptions extends GatewayOptions, JsonOption {
  readonly model?: string;
  readonly providerKey?: string;
}

interface Spread {
  readonly p50: number;
}

interface Drain {
  readonly until: string | null;
  readonly note: string | null;
}

/** What is printed of the health of a provider, as the API presents it. */
interface ProviderHealth {
  readonly provider: string;
  readonly state: string;
  readonly requests: number;
  readonly errors: number;
  readonly latency_ms: Spread | null;
  readonly throughput: Spread | null;
  readonly circuit: string;
  readonly drain: Drain | null;
  readonly keys: readonly { readonly state: string }[];
  readonly endpoints: readonly { readonly model: string; readonly drain: Drain | null }[];
  readonly last_failures: readonly {
    readonly at: string;
    readonly model: string;
    readonly status: number | null;
    readonly message: string;
  }[];
}

interface HealthAnswer {
  readonly gateway_id: string;
  readonly data: readonly ProviderHealth[];
}

const HEADINGS = ["provider", "state", "keys", "attempts", "errors", "first token", "tokens/s", "circuit"];

async function showHealth(gateway: AskedGateway, { all, json }: HealthOptions): Promise<string> {
  const answer = await gateway.ask<HealthAnswer>({ method: "GET", path: "/api/admin/health" });
  const data = all === true ? answer.data : answer.data.filter(isUsed);
  if (json) return JSON.stringify({ ...answer, data });
  if (data.length === 0) return "No provider has a platform key or was called. List all with --all.";
  const heading = `Attempts of the last minute at ${gateway.url} (${answer.gateway_id})`;
  return [
    heading,
    "",
    formatTable(HEADINGS, data.map(toRow)),
    ...listDrains(data),
    ...listTroubles(data),
  ].join("\n");
}

function isUsed({ state, drain, endpoints, last_failures }: ProviderHealth): boolean {
  return state !== "no_key" || drain !== null || endpoints.length > 0 || last_failures.length > 0;
}

function toRow(one: ProviderHealth): readonly string[] {
  const usable = one.keys.filter(({ state }) => state === "ok").length;
  return [
    one.provider,
    one.state,
    `${usable}/${one.keys.length}`,
    String(one.requests),
    String(one.errors),
    one.latency_ms === null ? "–" : `${one.latency_ms.p50} ms`,
    one.throughput === null ? "–" : String(one.throughput.p50),
    one.circuit,
  ];
}

function listDrains(data: readonly ProviderHealth[]): readonly string[] {
  const lines = data.flatMap(({ provider, drain, endpoints }) => [
    ...(drain === null ? [] : [describeDrain(provider, drain)]),
    ...endpoints.flatMap((one) =>
      one.drain === null ? [] : [describeDrain(`${one.model} at ${provider}`, one.drain)],
    ),
  ]);
  return lines.length === 0 ? [] : ["", "Drained by an operator:", ...lines];
}

function describeDrain(name: string, { until, note }: Drain): string {
  const end = until === null ? "until it is undrained" : `until ${until.slice(0, 19)}`;
  return `${name}, ${end}${note === null ? "" : `: ${note}`}`;
}

/** The characters of a provider's message that are printed. */
const MAX_MESSAGE_CHARS = 200;

/** Lists the last failure of each provider in trouble. */
function listTroubles(data: readonly ProviderHealth[]): readonly string[] {
  const lines = data.flatMap(({ provider, state, last_failures: [last] }) => {
    if (last === undefined || (state !== "down" && state !== "degraded")) return [];
    const status = last.status === null ? "" : `HTTP ${last.status}: `;
    const message = last.message.slice(0, MAX_MESSAGE_CHARS);
    return [`${provider}, ${last.model}, ${last.at.slice(0, 19)}: ${status}${message}`];
  });
  return lines.length === 0 ? [] : ["", "Last failures:", ...lines];
}

/** The outcome of a test call, as the API presents it. */
interface Trial {
  readonly status: string;
  readonly message: string;
  readonly model: string | null;
  readonly latency_ms: number | null;
  readonly upstream_message: string | null;
}

/** A provider may take long to send its first token. Milliseconds. */
const TEST_MS = 180_000;

async function testProvider(
  gateway: AskedGateway,
  provider: string,
  { model, providerKey, json }: TestOptions,
): Promise<string> {
  const { data } = await gateway.ask<{ readonly data: Trial }>({
    method: "POST",
    path: `/api/admin/health/${encodeURIComponent(provider)}/test`,
    body: { model, key: providerKey },
    timeoutMs: TEST_MS,
  });
  if (data.status !== "ok") process.exitCode = EXIT_CODES.failed;
  if (json) return JSON.stringify({ data });
  const called = data.model === null ? "" : ` ${data.model}, ${data.latency_ms} ms.`;
  const words = data.upstream_message === null ? "" : ` It said: ${data.upstream_message}`;
  return `${data.status}: ${data.message}${called}${words}`;
}
