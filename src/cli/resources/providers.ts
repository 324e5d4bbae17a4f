import { type Command, InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../base/clock.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import {
  type AskedGateway,
  addGatewayOptions,
  type GatewayOptions,
  withGateway,
} from "../callers/ask-gateway.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";

const PROVIDER = "Slug of the provider, such as openai";
const MODEL = "Only the endpoint of this model (default: all models of the provider)";

/** `gateway providers drain|undrain`: takes a provider out of routing on all gateways that share the stores. */
export function declareDrainCommands(providers: Command): void {
  const drain = providers
    .command("drain")
    .description("Take a provider out of routing; running requests end as usual")
    .argument("<provider>", PROVIDER)
    .option("--model <id>", MODEL)
    .addOption(
      new Option("--for <duration>", "How long, such as 30m, 2h or 1d (default: until undrained)").argParser(
        readDuration,
      ),
    )
    .addOption(
      new Option("--until <time>", "When it returns by itself, such as 2027-01-31T08:00Z").conflicts("for"),
    )
    .option("--note <text>", "Why, for other operators");
  addExamples(drain, [
    "gateway providers drain openai --for 2h --note 'their status page reports errors'",
    "gateway providers drain openai --model openai/gpt-5.5",
    "gateway health",
  ]);
  addJsonOption(addGatewayOptions(drain)).action((provider: string, options: DrainOptions) =>
    withGateway(options, (gateway) => drainProvider(gateway, provider, options)),
  );
  const undrain = providers
    .command("undrain")
    .description("Return a drained provider to routing")
    .argument("<provider>", PROVIDER)
    .option("--model <id>", MODEL);
  addJsonOption(addGatewayOptions(undrain)).action((provider: string, options: TargetOptions) =>
    withGateway(options, (gateway) => undrainProvider(gateway, provider, options)),
  );
}

interface TargetOptions extends GatewayOptions, JsonOption {
  readonly model?: string;
}

interface DrainOptions extends TargetOptions {
  /** Milliseconds. */
  readonly for?: number;
  readonly until?: string;
  readonly note?: string;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** @throws InvalidArgumentError */
function readDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new InvalidArgumentError("It must be minutes, hours or days, such as 30m, 2h or 1d.");
  return Number(count) * (UNIT_MS[unit] as number);
}

async function drainProvider(
  gateway: AskedGateway,
  provider: string,
  options: DrainOptions,
): Promise<string> {
  const { model, note, json } = options;
  const until = endOf(options);
  const body = { model, until: until === null ? null : new Date(until).toISOString(), note };
  const answer = await gateway.ask<object>({ method: "POST", path: pathOf(provider), body });
  if (json) return JSON.stringify(answer);
  const end = body.until === null ? "until it is undrained" : `until ${body.until}`;
  return `${nameOf(provider, model)} gets no new requests ${end}, on all gateways within a second.`;
}

/** Returns when a drain ends by itself, in milliseconds since the epoch; null for never. @throws Error naming the option. */
function endOf({ for: durationMs, until }: DrainOptions): number | null {
  const now = systemClock.now();
  if (durationMs !== undefined) return now + durationMs;
  if (until === undefined) return null;
  const time = Date.parse(until);
  if (!(time > now)) throw new Error("--until must be a time in the future, such as 2027-01-31T08:00Z");
  return time;
}

async function undrainProvider(
  gateway: AskedGateway,
  provider: string,
  options: TargetOptions,
): Promise<string> {
  const { model, json } = options;
  const query = model === undefined ? "" : `?${new URLSearchParams({ model })}`;
  const answer = await gateway.ask<object>({ method: "DELETE", path: pathOf(provider) + query });
  if (json) return JSON.stringify(answer);
  return `${nameOf(provider, model)} is routed to again, on all gateways within a second.`;
}

function pathOf(provider: string): string {
  return `/api/admin/health/${encodeURIComponent(provider)}/drain`;
}

function nameOf(provider: string, model: string | undefined): string {
  return model === undefined ? provider : `${model} at ${provider}`;
}
