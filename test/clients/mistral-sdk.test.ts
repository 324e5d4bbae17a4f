import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import { type MistralClient, openMistral } from "../support/vendors/mistral-sdk.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

let codestral: RecordingVendor;
/** Mistral, and hosts of other formats. */
let upstream: RecordingVendor;
let gateway: TestGateway;
let mistral: MistralClient;

beforeAll(async () => {
  codestral = startRecordingVendor();
  upstream = startRecordingVendor();
  const host = (format: string) =>
    `{format: ${format}, auth: bearer, base_url: "${upstream.baseUrl}", api_keys: [key-0123456789], models: [{id: acme/${format}, name: up}]}`;
  gateway = await startTestGateway({
    yaml: `
sandbox: "on"
providers:
  codestral: {base_url: "${codestral.baseUrl}", api_keys: [codestral-key-1]}
  mistral: {base_url: "${upstream.baseUrl}", api_keys: [mistral-key-1]}
  chat-host: ${host("openai-chat")}
  claude-host: ${host("anthropic-messages")}
  gemini-host: ${host("gemini")}
  responses-host: ${host("openai-responses")}`,
  });
  mistral = await openMistral({ apiKey: gateway.key, serverURL: gateway.url });
});
beforeEach(() => upstream.reset(answerAnyFormat));
afterAll(() => Promise.all([gateway.stop(), codestral.stop(), upstream.stop()]));

const CHAT = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] };
const FIM = { model: "mistralai/codestral-latest", prompt: "def add(a, b):\n    return " };

describe("Mistral's client", () => {
  test("reads a chat completion", async () => {
    const { model, choices, usage } = await mistral.chat.complete(CHAT);
    expect(model).toBe("sandbox/echo");
    expect(choices[0]).toMatchObject({ message: { content: "You said: Hello!" }, finishReason: "stop" });
    expect(usage).toMatchObject({ promptTokens: 2, completionTokens: 4 });
  });

  test("reads a chat stream with the usage in its last event", async () => {
    let text = "";
    let last = null;
    for await (const { data } of await mistral.chat.stream(CHAT)) {
      text += data.choices[0]?.delta.content ?? "";
      last = data;
    }
    expect(text).toBe("You said: Hello!");
    expect(last).toMatchObject({ choices: [{ finishReason: "stop" }], usage: { completionTokens: 4 } });
  });

  test("reads fill-in-the-middle answers, streamed and not streamed", async () => {
    const { choices } = await mistral.fim.complete(FIM);
    expect(choices[0]?.message.content).toBe("Hello there.");
    let text = "";
    for await (const { data } of await mistral.fim.stream(FIM)) text += data.choices[0]?.delta.content ?? "";
    expect(text).toBe("Hello there.");
  });

  test("throws errors with their status and body", async () => {
    const failed = mistral.chat.complete({ ...CHAT, model: "acme/nothing" }).catch((error) => error);
    const { statusCode, body } = await failed;
    expect(statusCode).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ error: { type: "invalid_model" } });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
type Json = any;

/** Sends a request with the client, and returns what the vendor received and the fields with a warning. */
async function ask(model: string, request: object): Promise<{ sent: Json; warned: string[] }> {
  const seen: Json[] = [];
  const recordingClient = await openMistral({
    apiKey: gateway.key,
    serverURL: gateway.url,
    async fetcher(...asked) {
      const response = await fetch(...asked);
      seen.push(await response.clone().json());
      return response;
    },
  });
  await recordingClient.chat.complete({ model, messages: CHAT.messages, ...request });
  const warnings = seen[0]?.gateway_metadata?.warnings ?? [];
  return { sent: JSON.parse(upstream.last().text), warned: warnings.map(({ field }: Json) => field) };
}

const MISTRAL = "mistralai/mistral-large-latest";
const look = { name: "look", parameters: { type: "object", properties: {} } };
const THINKING = { type: "thinking", thinking: [{ type: "text", text: "Hm." }], closed: true };

describe("Mistral's client with tools", () => {
  test.each([MISTRAL, "acme/openai-chat"])("can require any tool to be called: %s", async (model) => {
    const { sent } = await ask(model, { tools: [{ type: "function", function: look }], toolChoice: "any" });
    expect(sent.tools[0]).toMatchObject({ type: "function", function: { name: "look" } });
    expect(sent.tool_choice).toBe("required");
  });

  test("can require a tool without the type `function`", async () => {
    const choice = { function: { name: "look" } };
    const { sent } = await ask(MISTRAL, {
      tools: [{ type: "function", function: look }],
      toolChoice: choice,
    });
    expect(sent.tool_choice).toEqual({ type: "function", function: { name: "look" } });
  });

  // The TypeScript client adds the type. Clients in other languages, and that of Hugging Face, do not.
  test.each([
    [{ function: { name: "look" } }, { type: "function", function: { name: "look" } }],
    ["any", "required"],
  ])(
    "tools without a type and the choice %j are normalized for a chat host",
    async (tool_choice, expected) => {
      const body = {
        model: "acme/openai-chat",
        messages: CHAT.messages,
        tools: [{ function: look }],
        tool_choice,
      };
      const response = await fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
      const sent = JSON.parse(upstream.last().text);
      expect(sent.tools).toEqual([{ function: look, type: "function" }]);
      expect(sent.tool_choice).toEqual(expected);
    },
  );

  test("can send an image as a plain URL", async () => {
    const content = [{ type: "image_url", imageUrl: "https://images.test/1.png" }];
    const { sent } = await ask("acme/openai-chat", { messages: [{ role: "user", content }] });
    expect(sent.messages[0].content).toEqual([
      { type: "image_url", image_url: { url: "https://images.test/1.png" } },
    ]);
  });
});

describe("a history of Mistral's client", () => {
  const messages = [
    {
      role: "system",
      content: [
        { type: "text", text: "One." },
        { type: "text", text: "Two." },
      ],
    },
    {
      role: "user",
      content: [
        { type: "text", text: "Three." },
        { type: "text", text: "Four." },
      ],
    },
    { role: "assistant", content: [THINKING, { type: "text", text: "Five." }] },
    { role: "user", content: "Six." },
    { role: "assistant", content: "Seven", prefix: true },
  ];

  test("is forwarded to Mistral with its thinking, its prefix and each text part", async () => {
    const { sent, warned } = await ask(MISTRAL, { messages });
    expect(sent.messages).toEqual([
      messages[0],
      messages[1],
      { role: "assistant", content: [THINKING, { type: "text", text: "Five." }], prefix: false },
      messages[3],
      messages[4],
    ]);
    expect(warned).toEqual([]);
  });

  test.each(["reasoning", "reasoning_content"])(
    "has a chat client's %s as thinking for Mistral",
    async (field) => {
      const turn = { role: "assistant", content: "Five.", [field]: "Hm." };
      const response = await fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: MISTRAL, messages: [CHAT.messages[0], turn, CHAT.messages[0]] }),
      });
      expect(response.status).toBe(200);
      const sent = JSON.parse(upstream.last().text);
      expect(sent.messages[1]).toEqual({
        role: "assistant",
        content: [THINKING, { type: "text", text: "Five." }],
      });
    },
  );

  test("has no reasoning for Mistral that another vendor signed", async () => {
    const detail = { type: "reasoning.text", text: "Hm.", signature: "sig", format: "anthropic-claude-v1" };
    const turn = { role: "assistant", content: "Five.", reasoning_details: [detail] };
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: MISTRAL, messages: [CHAT.messages[0], turn, CHAT.messages[0]] }),
    });
    expect(response.status).toBe(200);
    expect(JSON.parse(upstream.last().text).messages[1]).toEqual({ role: "assistant", content: "Five." });
  });

  test("is forwarded to another chat host unchanged", async () => {
    const { sent } = await ask("acme/openai-chat", { messages });
    expect(sent.messages[2].content).toEqual([THINKING, { type: "text", text: "Five." }]);
    expect(sent.messages[4]).toEqual(messages[4]);
  });

  test.each(["anthropic-messages", "gemini", "openai-responses"])(
    "keeps its text parts separate for %s, and gets a warning for each field that this format lacks",
    async (format) => {
      const { sent, warned } = await ask(`acme/${format}`, { messages });
      const text = JSON.stringify(sent);
      for (const words of ["One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven"]) {
        expect(text).toContain(`"${words}"`);
      }
      expect(warned).toContain("messages[4].prefix");
      expect(warned).toContain("messages[2].content[0].thinking");
    },
  );
});
