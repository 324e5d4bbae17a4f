import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createAnthropicMessages } from "./anthropic-messages.ts";
import { createGemini } from "./gemini.ts";
import { isObject, objectsIn } from "./json-shape.ts";
import { createOpenaiChat } from "./openai-chat.ts";
import { createOpenaiResponses } from "./openai-responses.ts";
import { closingSentence, writePrompt } from "./scripted-model.ts";
import { type SimulatedVendor, startVendor, type WireFormat } from "./simulated-vendor.ts";

/** A request that tests modify. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into JSON of every shape
type Body = any;

const CLUE = "clue-0123456789abcdef";
const PROMPT = writePrompt({ file: "/work/answer.txt", text: "it's", clueFile: "/work/clue.txt" });
const WRITE = {
  name: "write_file",
  schema: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
  },
};
const SHELL = {
  name: "shell",
  schema: {
    type: "object",
    properties: { cmd: { type: "array" }, why: { type: "string" } },
    required: ["why"],
  },
};

/** A minimal client of a format, which begins a conversation and continues it with the answers. */
interface TinyClient {
  readonly format: () => WireFormat;
  readonly path: string;
  readonly headers: (key: string) => Record<string, string>;
  readonly begin: () => Body;
  /** Returns the next request, with the answer and a result for each of its calls. */
  readonly goOn: (body: Body, answer: Body, result: string) => Body;
}

const chat = (host: "openai" | "deepseek"): TinyClient => ({
  format: () => createOpenaiChat(host),
  path: "/v1/chat/completions",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  begin: () => ({
    model: "m",
    messages: [{ role: "user", content: PROMPT }],
    tools: [WRITE, SHELL].map(({ name, schema }) => ({
      type: "function",
      function: { name, parameters: schema },
    })),
  }),
  goOn(body, { choices: [{ message }] }, result) {
    const results = message.tool_calls.map(({ id }: Body) => ({
      role: "tool",
      tool_call_id: id,
      content: result,
    }));
    return { ...body, messages: [...body.messages, message, ...results] };
  },
});

const CLIENTS = {
  openai: chat("openai"),
  deepseek: chat("deepseek"),
  responses: {
    format: createOpenaiResponses,
    path: "/v1/responses",
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    begin: () => ({
      model: "m",
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low", summary: "auto" },
      input: [{ role: "user", content: PROMPT }],
      tools: [WRITE, SHELL].map(({ name, schema }) => ({ type: "function", name, parameters: schema })),
    }),
    goOn(body, { output }, output_text) {
      const results = output
        .filter(({ type }: Body) => type === "function_call")
        .map(({ call_id }: Body) => ({ type: "function_call_output", call_id, output: output_text }));
      return { ...body, input: [...body.input, ...output, ...results] };
    },
  },
  anthropic: {
    format: createAnthropicMessages,
    path: "/v1/messages",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    begin: () => ({
      model: "m",
      max_tokens: 4_096,
      thinking: { type: "enabled", budget_tokens: 2_000 },
      messages: [{ role: "user", content: PROMPT }],
      tools: [WRITE, SHELL].map(({ name, schema }) => ({ name, input_schema: schema })),
    }),
    goOn(body, { content }, result) {
      const results = content
        .filter(({ type }: Body) => type === "tool_use")
        .map(({ id }: Body) => ({ type: "tool_result", tool_use_id: id, content: result }));
      const turns = [
        { role: "assistant", content },
        { role: "user", content: results },
      ];
      return { ...body, messages: [...body.messages, ...turns] };
    },
  },
  gemini: {
    format: createGemini,
    path: "/v1beta/models/m:generateContent",
    headers: (key) => ({ "x-goog-api-key": key }),
    begin: () => ({
      contents: [{ role: "user", parts: [{ text: PROMPT }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      tools: [
        {
          functionDeclarations: [WRITE, SHELL].map(({ name, schema }) => ({
            name,
            parametersJsonSchema: schema,
          })),
        },
      ],
    }),
    goOn(body, { candidates: [{ content }] }, result) {
      const parts = content.parts
        .filter(({ functionCall }: Body) => functionCall)
        .map(({ functionCall: { name } }: Body) => ({ functionResponse: { name, response: { result } } }));
      return { ...body, contents: [...body.contents, content, { role: "user", parts }] };
    },
  },
} satisfies Record<string, TinyClient>;

type ClientName = keyof typeof CLIENTS;

const vendors = new Map<ClientName, SimulatedVendor>();

beforeAll(() => {
  for (const [name, { format }] of Object.entries(CLIENTS))
    vendors.set(name as ClientName, startVendor(format()));
});
beforeEach(() => {
  for (const vendor of vendors.values()) vendor.clear();
});
afterAll(async () => {
  for (const vendor of vendors.values()) await vendor.stop();
});

function ask(name: ClientName, body: Body, path: string = CLIENTS[name].path): Promise<Response> {
  const { origin, key } = vendors.get(name) as SimulatedVendor;
  return fetch(origin + path, {
    method: "POST",
    headers: CLIENTS[name].headers(key),
    body: JSON.stringify(body),
  });
}

/** A conversation in which the vendor has called its first tool. Every test modifies a copy. */
async function askForSecondTurn(name: ClientName): Promise<Body> {
  const client: TinyClient = CLIENTS[name];
  const body = client.begin();
  return client.goOn(body, await (await ask(name, body)).json(), "written");
}

/** Returns the first block, part, item or call of a kind in a request. */
function find(value: unknown, has: (fields: Body) => boolean): Body {
  if (isObject(value) && has(value)) return value;
  const inner = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  for (const one of inner) {
    const found = find(one, has);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe.each(Object.keys(CLIENTS) as ClientName[])("the simulated vendor %s", (name) => {
  const client: TinyClient = CLIENTS[name];

  test("leads an agent through the task in three turns, with the clue from a tool result", async () => {
    const vendor = vendors.get(name) as SimulatedVendor;
    let body = client.begin();
    body = client.goOn(body, await (await ask(name, body)).json(), "written");
    body = client.goOn(body, await (await ask(name, body)).json(), `It says ${CLUE}.`);
    expect(await (await ask(name, body)).text()).toContain(closingSentence(CLUE));
    const [first, second, third] = vendor.requests;
    expect(first?.reply?.calls).toEqual([
      { name: "write_file", arguments: { path: "/work/answer.txt", content: "it's\n" } },
    ]);
    const read = { cmd: ["bash", "-lc", "cat '/work/clue.txt'"], why: "a step of the task" };
    expect(second?.reply?.calls[0]).toEqual({ name: "shell", arguments: read });
    expect(second?.reply?.calls).toHaveLength(2);
    expect(third?.conversation?.entries.filter(({ kind }) => kind === "result")).toHaveLength(3);
    expect(vendor.requests.map(({ rejection, losses }) => [rejection, losses])).toEqual(
      Array(3).fill([null, []]),
    );
  });

  test("streams the same reply that it sends without streaming, including usage", async () => {
    const isGemini = name === "gemini";
    const body = { ...client.begin(), ...(!isGemini && { stream: true }) };
    const path = isGemini ? "/v1beta/models/m:streamGenerateContent?alt=sse" : client.path;
    const response = await ask(name, body, path);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const text = await response.text();
    expect(text).toContain("write_file");
    expect(text.split("data: ").length).toBeGreaterThan(5);
  });

  test("rejects other keys and other paths", async () => {
    const { origin } = vendors.get(name) as SimulatedVendor;
    const init = { method: "POST", headers: client.headers("other"), body: JSON.stringify(client.begin()) };
    expect((await fetch(origin + client.path, init)).status).toBe(401);
    expect((await ask(name, {}, "/v1/other")).status).toBe(404);
  });
});

/** The vendor, the fault, a function that introduces it, and a part of the error message. */
const REJECTED: readonly (readonly [ClientName, string, (body: Body) => unknown, string])[] = [
  [
    "openai",
    "an unknown field",
    (b) => Object.assign(b, { description: "" }),
    "Unrecognized request argument",
  ],
  [
    "openai",
    "max_tokens for a reasoning model",
    (b) => Object.assign(b, { model: "gpt-5.1", max_tokens: 9 }),
    "max_completion_tokens",
  ],
  [
    "openai",
    "an unknown role",
    (b) => Object.assign(b.messages[0], { role: "human" }),
    "Invalid value: 'human'",
  ],
  ["openai", "a result without its call", (b) => b.messages.splice(1, 1), "must be a response to"],
  ["openai", "a call without its result", (b) => b.messages.pop(), "did not have response messages"],
  ["openai", "a second result", (b) => b.messages.push(b.messages[2]), "Duplicate value"],
  [
    "openai",
    "a too long call id",
    (b) => Object.assign(b.messages[1].tool_calls[0], { id: "x".repeat(65) }),
    "64",
  ],
  [
    "deepseek",
    "missing reasoning of an earlier turn",
    (b) => delete b.messages[1].reasoning_content,
    "Missing `reasoning_content`",
  ],
  ["responses", "a field it does not know", (b) => Object.assign(b, { messages: [] }), "Unknown parameter"],
  [
    "responses",
    "a result without its call",
    (b) => Object.assign(b.input.at(-1), { call_id: "call_x" }),
    "No tool call found",
  ],
  ["responses", "a call without its result", (b) => b.input.pop(), "No tool output found"],
  [
    "responses",
    "an item id with the wrong prefix",
    (b) => Object.assign(b.input[1], { id: "msg_1" }),
    "begins with 'rs'",
  ],
  [
    "responses",
    "modified reasoning",
    (b) => Object.assign(b.input[1], { encrypted_content: "x" }),
    "could not be verified",
  ],
  [
    "responses",
    "a call without its reasoning",
    (b) => b.input.splice(1, 1),
    "without its required 'reasoning' item",
  ],
  ["anthropic", "an unknown field", (b) => Object.assign(b, { seed: 1 }), "Extra inputs are not permitted"],
  [
    "anthropic",
    "an unknown role",
    (b) => Object.assign(b.messages[0], { role: "system" }),
    "Unexpected role",
  ],
  [
    "anthropic",
    "a result without its call",
    (b) =>
      Object.assign(
        find(b, (x) => x.tool_use_id),
        { tool_use_id: "toolu_x" },
      ),
    "tool_use",
  ],
  [
    "anthropic",
    "a call without its result",
    (b) => b.messages.pop(),
    "without `tool_result` blocks immediately after",
  ],
  [
    "anthropic",
    "text before the results",
    (b) => b.messages[2].content.unshift({ type: "text", text: "So:" }),
    "immediately after",
  ],
  [
    "anthropic",
    "a call id with invalid characters",
    (b) =>
      Object.assign(
        find(b, (x) => x.type === "tool_use"),
        { id: "a.b" },
      ),
    "should match pattern",
  ],
  ["anthropic", "thinking that is missing", (b) => b.messages[1].content.shift(), "Expected `thinking`"],
  [
    "anthropic",
    "a missing signature",
    (b) => delete find(b, (x) => x.type === "thinking").signature,
    "signature: Field required",
  ],
  [
    "anthropic",
    "a modified signature",
    (b) =>
      Object.assign(
        find(b, (x) => x.type === "thinking"),
        { signature: "x" },
      ),
    "Invalid `signature`",
  ],
  [
    "anthropic",
    "modified thinking",
    (b) =>
      Object.assign(
        find(b, (x) => x.type === "thinking"),
        { thinking: "x" },
      ),
    "cannot be modified",
  ],
  [
    "anthropic",
    "an empty text",
    (b) => b.messages.push({ role: "user", content: [{ type: "text", text: "" }] }),
    "non-empty",
  ],
  [
    "anthropic",
    "five cache_control markers",
    (b) =>
      Object.assign(b, {
        system: Array(5).fill({ type: "text", text: "x", cache_control: { type: "ephemeral" } }),
      }),
    "Found 5",
  ],
  ["gemini", "a field it does not know", (b) => Object.assign(b, { stream: true }), 'Unknown name "stream"'],
  ["gemini", "an unknown role", (b) => Object.assign(b.contents[0], { role: "assistant" }), "valid role"],
  [
    "gemini",
    "a call without its signature",
    (b) => delete find(b, (x) => x.functionCall).thoughtSignature,
    "missing a thought_signature",
  ],
  [
    "gemini",
    "a modified signature",
    (b) =>
      Object.assign(
        find(b, (x) => x.functionCall),
        { thoughtSignature: "eA==" },
      ),
    "not valid",
  ],
  [
    "gemini",
    "fewer results than calls",
    (b) => Object.assign(b.contents.at(-1), { parts: [{ text: "go on" }] }),
    "number of function response parts",
  ],
  [
    "gemini",
    "a result without its call",
    (b) => b.contents.splice(1, 1),
    "immediately after a function call turn",
  ],
  [
    "gemini",
    "a JSON Schema instead of an OpenAPI schema",
    (b) =>
      Object.assign(b.tools[0].functionDeclarations[0], {
        parametersJsonSchema: undefined,
        parameters: { ...WRITE.schema, additionalProperties: false },
      }),
    "additionalProperties",
  ],
];

describe("a simulated vendor rejects the same requests as the real one", () => {
  test.each(REJECTED)("the vendor %s rejects %s", async (name, _what, breakRequest, says) => {
    const body = await askForSecondTurn(name);
    breakRequest(body);
    const response = await ask(name, body);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain(says);
    expect(vendors.get(name)?.requests.at(-1)?.rejection).toContain(says);
  });
});

describe("a simulated vendor accepts and records as a loss", () => {
  test("adaptive thinking that was not sent back", async () => {
    const body = await askForSecondTurn("anthropic");
    body.thinking = { type: "adaptive" };
    body.messages[1].content.shift();
    expect((await ask("anthropic", body)).status).toBe(200);
    expect(vendors.get("anthropic")?.requests.at(-1)?.losses).toHaveLength(1);
  });

  test("a placeholder for a thought signature", async () => {
    const body = await askForSecondTurn("gemini");
    find(body, (fields) => fields.functionCall).thoughtSignature = "skip_thought_signature_validator";
    expect((await ask("gemini", body)).status).toBe(200);
    expect(vendors.get("gemini")?.requests.at(-1)?.losses).toHaveLength(1);
  });

  test("missing reasoning before a call without an item id", async () => {
    const body = await askForSecondTurn("responses");
    body.input = objectsIn(body.input).filter(({ type }) => type !== "reasoning");
    delete find(body, (fields) => fields.type === "function_call").id;
    expect((await ask("responses", body)).status).toBe(200);
    expect(vendors.get("responses")?.requests.at(-1)?.losses).toHaveLength(1);
  });
});
