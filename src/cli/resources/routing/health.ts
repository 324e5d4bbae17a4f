import type { Command } from "commander";
import { clearProviderHealth, getHealth, testProvider } from "../../../http/routes/routing/admin-health.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommand, declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { formatTable } from "../../render/format-table.ts";
import { declareHistoryCommands } from "./health-history.ts";

/** A provider may take long to send its first token. Milliseconds. */
const TEST_MS = 180_000;

/** `gateway health`: what the running gateway measures at its providers, and what the stores have of the past. */
export function declareHealthCommands(health: Command): void {
  declareCommand(
    health,
    defineCommand({
      name: "health",
      endpoint: getHealth,
      options: [
        {
          flags: "--all",
          help: "Also list providers without a platform key and without attempts",
          field: null,
        },
      ],
      examples: [
        "gateway health",
        "gateway health test openai",
        "gateway health --url https://gateway.example.com --key gw_…",
      ],
      async call(input, { caller, options }) {
        const answer = (await caller.call(getHealth, input)).body as HealthAnswer;
        return {
          ...answer,
          data: options["all"] === true ? answer.data : answer.data.filter(isUsed),
        } as never;
      },
      show: (answer, { caller }) => formatHealth(answer as HealthAnswer, caller.url),
    }),
  );
  declareCommands(health, [
    defineCommand({
      name: "test",
      endpoint: testProvider,
      args: [ARGUMENTS.provider],
      options: [
        {
          flags: "--provider-key <id>",
          help: "Platform key to use, such as openai#0 (default: the first)",
          field: "key",
        },
      ],
      timeoutMs: TEST_MS,
      hasFailed: ({ data }) => data.status !== "ok",
      show({ data: { status, message, model, latency_ms, upstream_message } }) {
        const called = model === null ? "" : ` ${model}, ${latency_ms} ms.`;
        const words = upstream_message === null ? "" : ` It said: ${upstream_message}`;
        return `${status}: ${message}${called}${words}`;
      },
    }),
    defineCommand({
      name: "clear",
      endpoint: clearProviderHealth,
      args: [ARGUMENTS.provider],
      show: ({ gateway_id, data }) => `${gateway_id} has forgotten what it knew of ${data.provider}.`,
    }),
  ]);
  declareHistoryCommands(health);
}

interface Spread {
  readonly p50: number;
}

interface Drain {
  readonly until: string | null;
  readonly note: string | null;
}

/** The printed part of a provider's health, as the API presents it. */
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

function formatHealth({ gateway_id, data }: HealthAnswer, url: string | null): string {
  if (data.length === 0) return "No provider has a platform key or was called. List all with --all.";
  return [
    `Attempts of the last minute at ${url} (${gateway_id})`,
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
