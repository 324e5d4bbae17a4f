import { type Command, InvalidArgumentError } from "commander";
import { systemClock } from "../../../base/time/clock.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time/time.ts";
import { listConfigProviders } from "../../../http/routes/platform/config-providers.ts";
import { drainProvider, undrainProvider } from "../../../http/routes/routing/admin-health.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { tableOf } from "../../render/columns.ts";

/** `gateway providers list|drain|undrain`: what providers need, and taking one out of routing on all gateways that share the stores. */
export function declareProviderCommands(providers: Command): void {
  declareCommands(providers, [
    defineCommand({
      name: "list",
      endpoint: listConfigProviders,
      show: tableOf(
        [
          "slug",
          "name",
          ["served", "models"],
          ["in the catalog", "catalog_models"],
          ["key", "key_variables", (names) => (names as readonly string[])[0] ?? "–"],
          ["parts", "parts", printParts],
        ],
        "The catalog has no providers.",
      ),
    }),
    defineCommand({
      name: "drain",
      endpoint: drainProvider,
      args: [ARGUMENTS.provider],
      options: [
        {
          flags: "--for <duration>",
          help: "How long, such as 30m, 2h or 1d (default: until undrained)",
          field: null,
          read: readDuration,
        },
        {
          flags: "--until <time>",
          help: "When it returns by itself, such as 2027-01-31T08:00Z",
          field: "until",
          conflicts: "for",
        },
      ],
      examples: [
        "gateway providers drain openai --for 2h --note 'their status page reports errors'",
        "gateway providers drain openai --model openai/gpt-5.5",
        "gateway health",
      ],
      complete: async ({ body }, { options }) => ({ body: { ...body, until: endOf(options) } }),
      show(_, { args: [provider], options }) {
        const until = endOf(options);
        const end = until === null ? "until it is undrained" : `until ${until}`;
        return `${nameOf(provider, options)} gets no new requests ${end}, on all gateways within a second.`;
      },
    }),
    defineCommand({
      name: "undrain",
      endpoint: undrainProvider,
      args: [ARGUMENTS.provider],
      show: (_, { args: [provider], options }) =>
        `${nameOf(provider, options)} is routed to again, on all gateways within a second.`,
    }),
  ]);
}

function printParts(parts: unknown): string {
  const names = (parts as readonly { readonly name: string }[]).map(({ name }) => name);
  return names.join(", ") || "–";
}

const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Returns milliseconds. @throws InvalidArgumentError */
function readDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new InvalidArgumentError("It must be minutes, hours or days, such as 30m, 2h or 1d.");
  return Number(count) * (UNIT_MS[unit] as number);
}

type Options = Readonly<Record<string, unknown>>;

/** Returns the time at which a drain ends by itself (RFC 3339); null for never. @throws Error naming the option. */
function endOf({ for: durationMs, until }: Options): string | null {
  const now = systemClock.now();
  if (durationMs !== undefined) return new Date(now + Number(durationMs)).toISOString();
  if (until === undefined) return null;
  const time = Date.parse(String(until));
  if (!(time > now)) throw new Error("--until must be a time in the future, such as 2027-01-31T08:00Z");
  return new Date(time).toISOString();
}

function nameOf(provider: unknown, { model }: Options): string {
  return model === undefined ? String(provider) : `${model} at ${provider}`;
}
