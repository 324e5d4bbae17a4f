import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { CHAT_DIMENSIONS } from "../../growth/chat-dimensions.ts";
import type { Dimension } from "../../growth/dimension.ts";
import { MESSAGES_DIMENSIONS } from "../../growth/messages-dimensions.ts";
import { RESPONSES_DIMENSIONS } from "../../growth/responses-dimensions.ts";
import { ensure, type HostileCase } from "../hostile-case.ts";
import type { TestBed } from "../test-bed.ts";

/* Every dimension of every client API's body, as large as it is translated on the event loop, and as large as it is accepted. */

/** Below these sizes a request is translated in the event loop (`wire/client-apis/hub/client-request`). */
const AT_ONCE = { values: 5_900, bytes: 2_000_000 };
/** The maximum of most bounds on numbers. */
const MOST = 20_000;
const MAX_BYTES = 8_000_000;
const SAMPLE = 50;

const countValues = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 1
    : Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 2);

/** How many fit below the bounds. */
function fit({ body }: Dimension, values: number, bytes: number): number {
  const [few, more] = [body(SAMPLE), body(2 * SAMPLE)];
  const perValue = (countValues(more) - countValues(few)) / SAMPLE;
  const perByte = (JSON.stringify(more).length - JSON.stringify(few).length) / SAMPLE;
  return Math.floor(Math.min(values / Math.max(perValue, 0.01), bytes / Math.max(perByte, 0.01)));
}

async function send(
  bed: TestBed,
  path: string,
  dimension: Dimension,
  n: number,
  at: number,
): Promise<string> {
  const format = FORMAT_NAMES[at % FORMAT_NAMES.length] ?? "gemini";
  const response = await bed.post(path, { ...dimension.body(n), model: bed.modelOf(format) });
  const text = await response.text();
  ensure(
    response.status === 200 || response.status === 400,
    `${dimension.name} × ${n}: ${response.status} ${text.slice(0, 200)}`,
  );
  return String(response.status);
}

const APIS = [
  ["/v1/chat/completions", CHAT_DIMENSIONS],
  ["/v1/messages", MESSAGES_DIMENSIONS],
  ["/v1/responses", RESPONSES_DIMENSIONS],
] as const;

export default APIS.flatMap(([path, dimensions]) =>
  dimensions.map(
    (dimension, at): HostileCase => ({
      name: `A2 ${dimension.name} (${path})`,
      async run(bed) {
        const atOnce = await send(bed, path, dimension, fit(dimension, AT_ONCE.values, AT_ONCE.bytes), at);
        const n = Math.min(MOST, fit(dimension, 500_000, MAX_BYTES));
        return `${atOnce}/${await send(bed, path, dimension, n, at + 1)}`;
      },
    }),
  ),
) satisfies readonly HostileCase[];
