import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { fetchRecord } from "../faults/two-vendors.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestHealth } from "../support/gateway/test-health.ts";
import { SCRIPTS } from "../support/vendors/scripts/all-scripts.ts";
import { healthyBehavior } from "../support/vendors/scripts/vendor-script.ts";
import { type Play, startVendor, type Vendor } from "../support/vendors/vendor.ts";
import {
  expectCompleteHistories,
  runTool,
  STRICT_MODELS,
  type StrictVendors,
  startStrictVendors,
  TASK,
  TASK_ANSWER,
  TASK_TOOLS,
} from "./strict-vendors.ts";

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type Answer = OpenAI.Chat.Completions.ChatCompletionMessage;

const TOOLS = Object.entries(TASK_TOOLS).map(([name, parameters]) => ({
  type: "function" as const,
  function: { name, parameters },
}));

/** Returns the typed fields of a message, which is what clients built on these types keep. */
function keepKnown({ role, content, tool_calls }: Answer): Message {
  if (tool_calls === undefined) return { role, content };
  const calls = tool_calls.map((call) => {
    const { name, arguments: text } = (call as OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall)
      .function;
    return { id: call.id, type: "function" as const, function: { name, arguments: text } };
  });
  return { role, content, tool_calls: calls };
}

/** Runs the task turn by turn, streamed or not, and returns the final text. */
async function runTask(
  { base, key }: TestGateway,
  model: string | readonly string[],
  keep: (answer: Answer) => Message,
  stream: boolean,
): Promise<string | null> {
  const openai = new OpenAI({ baseURL: base, apiKey: key, maxRetries: 0 });
  const messages: Message[] = [{ role: "user", content: TASK }];
  const models = [model].flat() as string[];
  for (let turn = 0; ; turn++) {
    const body = {
      model: models[Math.min(turn, models.length - 1)] as string,
      messages,
      tools: TOOLS,
      max_tokens: 8_000,
      reasoning_effort: "low" as const,
    };
    const message = stream
      ? await readStream(openai, body)
      : ((await openai.chat.completions.create(body)).choices[0]?.message as Answer);
    if (!message.tool_calls?.length) return message.content;
    messages.push(keep(message));
    for (const call of message.tool_calls) {
      const { name } = (call as OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall).function;
      messages.push({ role: "tool", tool_call_id: call.id, content: runTool(name) });
    }
  }
}

/**
 * Returns the message as the SDK joins it, which keeps only the last piece of the reasoning, and under `PIECES`
 * all pieces, as clients that know the field collect them.
 */
async function readStream(
  openai: OpenAI,
  body: OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming,
): Promise<Answer> {
  const stream = openai.chat.completions.stream({ ...body, stream: true });
  const pieces: unknown[] = [];
  for await (const { choices } of stream) {
    const delta = choices[0]?.delta as { readonly reasoning_details?: readonly unknown[] } | undefined;
    pieces.push(...(delta?.reasoning_details ?? []));
  }
  const message = (await stream.finalChatCompletion()).choices[0]?.message as Answer;
  return { ...message, [PIECES]: pieces } as Answer;
}

const PIECES = Symbol("pieces");

/** Keeps all reasoning; of a stream, its pieces. */
function keepAll(message: Answer): Message {
  const { [PIECES]: pieces, ...rest } = message as Answer & { readonly [PIECES]?: readonly unknown[] };
  return (pieces === undefined ? rest : { ...rest, reasoning_details: pieces }) as Message;
}

/** Keeps what the SDK made of the answer. */
function keepJoined(message: Answer): Message {
  return message as Message;
}

const MODES = [
  ["not streamed", false],
  ["streamed", true],
] as const;
const FORMATS_AND_MODES = (["anthropic-messages", "gemini", "openai-responses"] as const).flatMap((format) =>
  MODES.map(([mode, stream]) => [format, mode, stream] as const),
);

describe("with the conversation store", () => {
  let vendors: StrictVendors;
  beforeAll(async () => {
    vendors = await startStrictVendors();
  });
  afterAll(() => vendors.stop());
  beforeEach(() => vendors.clear());

  test.each(FORMATS_AND_MODES)(
    "a vendor of %s gets the reasoning that a plain chat client dropped, %s",
    async (format, _mode, stream) => {
      const answer = await runTask(vendors.gateway, STRICT_MODELS[format], keepKnown, stream);
      expect(answer).toBe(TASK_ANSWER);
      expectCompleteHistories(vendors, 3);
    },
  );

  test.each(FORMATS_AND_MODES)(
    "a vendor of %s gets the reasoning that the SDK lost while joining a stream, %s",
    async (format, _mode, stream) => {
      const answer = await runTask(vendors.gateway, STRICT_MODELS[format], keepJoined, stream);
      expect(answer).toBe(TASK_ANSWER);
      expectCompleteHistories(vendors, 3);
    },
  );

  test.each(FORMATS_AND_MODES)(
    "another vendor's reasoning is dropped from a conversation that continues at %s, %s",
    async (format, _mode, stream) => {
      const others = (["anthropic-messages", "gemini", "openai-responses"] as const).filter(
        (other) => other !== format,
      );
      for (const other of others) {
        vendors.clear();
        const models = [STRICT_MODELS[other], STRICT_MODELS[format]];
        const answer = await runTask(vendors.gateway, models, keepAll, stream);
        expect(answer).toBe(TASK_ANSWER);
        expect(vendors.requests().map(({ rejection }) => rejection)).toEqual([null, null, null]);
      }
    },
  );
});

describe("without the conversation store", () => {
  let vendors: StrictVendors;
  beforeAll(async () => {
    vendors = await startStrictVendors("limits: {turn_memory_bytes: 0}");
  });
  afterAll(() => vendors.stop());
  beforeEach(() => vendors.clear());

  test.each(FORMATS_AND_MODES)(
    "a vendor of %s answers a client that dropped its reasoning, without that reasoning, %s",
    async (format, _mode, stream) => {
      expect(await runTask(vendors.gateway, STRICT_MODELS[format], keepKnown, stream)).toBe(TASK_ANSWER);
      const [, second] = vendors.requests();
      expect(vendors.requests().map(({ rejection }) => rejection)).toEqual([null, null, null]);
      const body = JSON.stringify(second?.body);
      expect(body).not.toMatch(/"signature"|"encrypted_content":/);
    },
  );

  test.each(FORMATS_AND_MODES)(
    "a vendor of %s gets all reasoning from a client that keeps reasoning_details, %s",
    async (format, _mode, stream) => {
      expect(await runTask(vendors.gateway, STRICT_MODELS[format], keepAll, stream)).toBe(TASK_ANSWER);
      expectCompleteHistories(vendors, 3);
    },
  );
});

describe("reasoning that its vendor rejects", () => {
  const SIGNATURE_ERROR = {
    type: "error",
    error: {
      type: "invalid_request_error",
      message: "messages.1.content.0: Invalid `signature` in `thinking` block",
    },
  };
  const reject: Play = (call) => call.respond(400, SIGNATURE_ERROR);
  const carriesReasoning = ({ body }: { readonly body: unknown }) => /"thinking"/.test(JSON.stringify(body));
  const anthropicScript = SCRIPTS["anthropic-messages"];
  const healthyPlay = healthyBehavior(anthropicScript, "Alpha");

  let first: Vendor;
  let second: Vendor;
  let gateway: TestGateway;
  const testHealth = createTestHealth();
  beforeAll(async () => {
    first = startVendor();
    second = startVendor(healthyBehavior(anthropicScript, "Beta"));
    const model = (price: string) =>
      `{id: acme/thinker, name: up, prices: {prompt: "${price}", completion: "1"}}`;
    const row = (vendor: Vendor, price: string) =>
      `{format: anthropic-messages, base_url: "${vendor.baseUrl}", api_keys: [key-0001], models: [${model(price)}]}`;
    gateway = await startTestGateway({
      health: testHealth.health,
      yaml: `providers:\n  first: ${row(first, "1")}\n  second: ${row(second, "2")}\n`,
    });
  });
  afterEach(() => {
    testHealth.reset();
    second.perform(healthyBehavior(anthropicScript, "Beta"));
  });
  afterAll(async () => {
    await gateway.stop();
    first.stop();
    second.stop();
  });

  const DETAILS = [
    { type: "reasoning.text", text: "Hm.", signature: "c2ln", format: "anthropic-claude-v1", index: 0 },
  ];
  const CALLS = [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }];
  const CHAT = [
    { role: "user", content: "Look!" },
    { role: "assistant", content: null, tool_calls: CALLS, reasoning_details: DETAILS },
    { role: "tool", tool_call_id: "call_1", content: "A wall." },
  ];
  const MESSAGES = [
    { role: "user", content: "Look!" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "tool_use", id: "call_1", name: "look", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "A wall." }] },
  ];

  async function ask(path: string, messages: unknown, stream: boolean, more: object = {}) {
    const response = await fetch(gateway.base + path, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/thinker", max_tokens: 100, stream, messages, ...more }),
    });
    for (const call of first.calls) call.openGate();
    const text = await response.text();
    const record = await fetchRecord(gateway, response.headers.get("x-gateway-generation-id") ?? "");
    return { response, text, record, attempts: record["attempts"] as Record<string, unknown>[] };
  }

  const APIS = [
    ["chat", "/chat/completions", CHAT],
    ["messages", "/messages", MESSAGES],
  ] as const;
  const CASES = APIS.flatMap(([api, path, messages]) =>
    MODES.map(([mode, stream]) => [api, mode, path, messages, stream] as const),
  );

  test.each(CASES)(
    "is dropped in a second call of the same vendor, and the record has both attempts: %s, %s",
    async (_api, _mode, path, messages, stream) => {
      first.perform((call) => (carriesReasoning(call) ? reject(call) : healthyPlay(call)));
      const { response, text, record, attempts } = await ask(path, messages, stream);
      expect(response.status).toBe(200);
      expect(text).toContain("Alpha one");
      expect(response.headers.get("x-gateway-attempts")).toBe("2");
      expect(first.calls.map(carriesReasoning)).toEqual([true, false]);
      expect(JSON.stringify(first.calls[1]?.body)).toContain("A wall.");
      expect(record["outcome"]).toBe("completed");
      expect(attempts).toMatchObject([
        { provider_name: "first", upstream_status: 400, error_type: "invalid_request" },
        { provider_name: "first", upstream_status: 200, error_type: null },
      ]);
    },
  );

  test.each(CASES)(
    "is dropped only once, and no other vendor is called: %s, %s",
    async (_api, _mode, path, messages, stream) => {
      first.perform(reject);
      second.perform(reject);
      const { response, attempts } = await ask(path, messages, stream);
      expect(response.status).toBe(400);
      expect(first.calls.map(carriesReasoning)).toEqual([true, false]);
      expect(second.calls).toHaveLength(0);
      expect(attempts).toHaveLength(2);
    },
  );

  test("is dropped together with the thinking parameter, which is invalid without it", async () => {
    first.perform((call) => (carriesReasoning(call) ? reject(call) : healthyPlay(call)));
    const thinking = { type: "enabled", budget_tokens: 1_024 };
    const { response, attempts } = await ask("/messages", MESSAGES, false, { max_tokens: 2_000, thinking });
    expect([response.status, attempts.length]).toEqual([200, 2]);
    expect(first.calls.map(({ body }) => body["thinking"])).toEqual([thinking, undefined]);
  });

  test("does not cause a second call if the request has no reasoning", async () => {
    first.perform(reject);
    const { response } = await ask(
      "/chat/completions",
      [{ role: "user", content: "This conversation is new." }],
      false,
    );
    expect([response.status, first.calls.length]).toEqual([400, 1]);
  });

  test("in the middle of an answer ends it with an error event", async () => {
    first.perform(async (call) => {
      await call.begin(200, { "content-type": anthropicScript.contentType });
      await call.piece(anthropicScript.begin("Alpha one"));
      await call.gate();
      await call.piece(anthropicScript.fail({ status: 400, body: SIGNATURE_ERROR }));
      await call.end();
    });
    const { text, record } = await ask("/messages", MESSAGES, true);
    expect(text).toContain("event: error");
    expect(text).not.toContain("message_stop");
    expect([first.calls.length, record["outcome"]]).toEqual([1, "failed"]);
  });
});
