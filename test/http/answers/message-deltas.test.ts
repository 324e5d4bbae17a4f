import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  claude:
    base_url: ${vendor.baseUrl}
    format: anthropic-messages
    models:
      - id: acme/claude
        name: up-claude
        prices: {prompt: "0.000001", completion: "0.000002"}
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

/** What a client reads at the end of a stream. */
interface StreamEnd {
  readonly finish: string;
  readonly usage: Json;
}

const HELLO = [{ role: "user", content: "Hello!" }];
const APIS: Readonly<
  Record<string, { readonly body: object; readonly read: (events: readonly Json[]) => StreamEnd }>
> = {
  "/messages": {
    body: { max_tokens: 50, messages: HELLO },
    read(events) {
      const deltas = events.filter(({ type }) => type === "message_delta");
      expect(deltas).toHaveLength(1);
      return { finish: deltas[0].delta.stop_reason, usage: deltas[0].usage };
    },
  },
  "/chat/completions": {
    body: { max_tokens: 50, messages: HELLO },
    read(events) {
      const finishes = events.flatMap(({ choices }) => choices).filter(({ finish_reason: r }) => r !== null);
      expect(finishes).toHaveLength(1);
      return { finish: finishes[0].finish_reason, usage: events.at(-1).usage };
    },
  },
  "/responses": {
    body: { max_output_tokens: 50, input: "Hello!" },
    read(events) {
      const { incomplete_details: details, usage } = events.at(-1).response;
      return { finish: details.reason, usage };
    },
  },
};

/** The first and the second `message_delta`, without their type. */
const DELTAS: readonly (readonly [how: string, first: object, second: object])[] = [
  [
    "the second one has the counts of the whole answer",
    { delta: { stop_reason: null }, usage: { output_tokens: 4 } },
    {
      delta: { stop_reason: "max_tokens" },
      usage: { input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 9 },
    },
  ],
  [
    "the second one adds to what the first one counted",
    { delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 9 } },
    { delta: { stop_reason: null }, usage: { cache_read_input_tokens: 30 } },
  ],
  [
    "the second one has zeros",
    { delta: { stop_reason: "max_tokens" }, usage: { cache_read_input_tokens: 30, output_tokens: 9 } },
    { delta: {}, usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 } },
  ],
  [
    "the second one counts nothing",
    { delta: { stop_reason: null }, usage: { cache_read_input_tokens: 30, output_tokens: 9 } },
    { delta: { stop_reason: "max_tokens" } },
  ],
];

describe.each(Object.keys(APIS))(
  "a Messages stream with two message_delta events, for a client of %s",
  (path) => {
    const { body, read } = APIS[path]!;

    test.each(DELTAS)("is charged for the tokens of both: %s", async (_how, first, second) => {
      vendor.perform(async (call) => {
        await call.begin();
        await call.events(
          {
            type: "message_start",
            message: {
              ...{ id: "msg_1", type: "message", role: "assistant", model: "up-claude", content: [] },
              ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } },
            },
          },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi there." } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", ...first },
          { type: "message_delta", ...second },
          { type: "message_stop" },
        );
        await call.end();
      });
      const response = await fetch(gateway.base + path, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/claude", stream: true, ...body }),
      });
      const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
      const end = read(lines.map((line) => JSON.parse(line.slice("data: ".length))));
      // 40 * $0.000001 + 9 * $0.000002
      const cost = 0.000058;
      expect(end).toMatchObject({
        finish:
          path === "/chat/completions" ? "length" : path === "/messages" ? "max_tokens" : "max_output_tokens",
        usage: { cost },
      });
      expect(await recordOf(response)).toMatchObject({
        ...{
          tokens_prompt: 40,
          tokens_cached: 30,
          tokens_completion: 9,
          total_cost: cost,
          outcome: "completed",
        },
      });
    });
  },
);

/** Returns the record of a generation once it has ended. */
function recordOf(response: Response): Promise<Json> {
  const id = response.headers.get("x-gateway-generation-id");
  return eventually("the end of the generation", async () => {
    const found = await fetch(`${gateway.base}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    const { data } = (await found.json()) as Json;
    return data.outcome === "open" ? null : data;
  });
}
