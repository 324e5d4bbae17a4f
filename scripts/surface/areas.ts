import { z } from "zod";
import { configSchema } from "../../src/app/config/config-schema.ts";
import { VARIABLES } from "../../src/app/config/environment-variables.ts";
import { ERROR_STATUS } from "../../src/base/failures/errors.ts";
import { EVENT_TYPES } from "../../src/core/events/event.ts";
import { METRICS } from "../../src/core/telemetry/metric-declarations.ts";
import type { MetricDeclaration } from "../../src/core/telemetry/metric-registry.ts";
import type { Entry } from "./entry.ts";
import { flattenSchema } from "./flatten-schema.ts";
import { listCommands } from "./list-commands.ts";
import { listHttpApi } from "./list-http-api.ts";

/** An area of the public surface that is listed from declarations in the code. */
interface Area {
  /** The name of its file. */
  readonly name: string;
  readonly list: () => Iterable<Entry> | Promise<Iterable<Entry>>;
}

export const AREAS: readonly Area[] = [
  { name: "http-api", list: listHttpApi },
  { name: "errors", list: listErrors },
  { name: "configuration", list: listConfiguration },
  { name: "commands", list: listCommands },
  { name: "metrics", list: listMetrics },
  { name: "events", list: () => EVENT_TYPES.map((type) => ({ path: [type], value: "" })) },
];

/** The area that only running commands can show: what they print with `--json`. `test/cli/commands/completeness.test.ts` compares it. */
export const COMMAND_OUTPUT = "command-output";

function* listErrors(): Generator<Entry> {
  for (const [code, status] of Object.entries(ERROR_STATUS)) yield { path: [code], value: String(status) };
}

function* listConfiguration(): Generator<Entry> {
  const { properties = {} } = z.toJSONSchema(configSchema, { io: "input" }) as {
    readonly properties?: object;
  };
  for (const [key, schema] of Object.entries(properties)) yield* flattenSchema(schema, [key], false);
  for (const [name, { path }] of Object.entries(VARIABLES)) yield { path: [name], value: path.join(".") };
}

function* listMetrics(): Generator<Entry> {
  const metrics: readonly MetricDeclaration[] = Object.values(METRICS);
  for (const { name, kind, labels, bounds } of metrics) {
    yield { path: [name], value: bounds === undefined ? kind : `${kind} to ${bounds.join(" ")}` };
    for (const label of labels) yield { path: [name, `label ${label}`], value: "" };
  }
}
