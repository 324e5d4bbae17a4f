import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { FormatName } from "../../src/wire/conversation/format-name.ts";
import { type FormatVendors, standInOf, startFormatVendors } from "../faults/format-vendors.ts";
import { SCRIPTS } from "../support/scripts/all-scripts.ts";

let vendors: FormatVendors;
beforeAll(async () => {
  vendors = await startFormatVendors();
});
afterAll(() => vendors.stop());

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

/** An API, a vendor of another format, and a request with a field that it lacks and a call that has no result. */
const APIS: readonly {
  readonly name: string;
  readonly path: string;
  readonly format: FormatName;
  readonly body: Json;
  readonly field: string;
  /** Where the last event of a stream has it. */
  readonly find: (last: Json) => Json;
}[] = [
  {
    name: "chat completions",
    path: "/chat/completions",
    format: "anthropic-messages",
    body: {
      seed: 7,
      messages: [
        { role: "user", content: "Look!" },
        {
          role: "assistant",
          content: null,
          tool_calls: ["call_1", "call_1"].map((id) => ({
            id,
            type: "function",
            function: { name: "look", arguments: "{}" },
          })),
        },
        { role: "user", content: "And?" },
      ],
    },
    field: "seed",
    find: (events) => events.find(({ gateway_metadata }: Json) => gateway_metadata)?.gateway_metadata,
  },
  {
    name: "Responses",
    path: "/responses",
    format: "anthropic-messages",
    body: {
      text: { verbosity: "high" },
      input: [
        { role: "user", content: "Look!" },
        { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
        { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
        { role: "user", content: "And?" },
      ],
    },
    field: "verbosity",
    find: (events) => events.at(-1).response.gateway_metadata,
  },
  {
    name: "Messages",
    path: "/messages",
    format: "openai-responses",
    body: {
      max_tokens: 100,
      top_k: 5,
      messages: [
        { role: "user", content: "Look!" },
        {
          role: "assistant",
          content: ["call_1", "call_1"].map((id) => ({ type: "tool_use", id, name: "look", input: {} })),
        },
        { role: "user", content: "And?" },
      ],
    },
    field: "top_k",
    find: (events) => events.find(({ type }: Json) => type === "message_delta").gateway_metadata,
  },
];

async function post(path: string, body: unknown): Promise<Response> {
  const { base, key } = vendors.gateway;
  return fetch(base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function readData(text: string): Json[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string));
}

describe.each(APIS)("a client of $name", ({ path, format, body, field, find }) => {
  beforeEach(() => vendors.reset(format));

  test.each([true, false])(
    "is told what a vendor of another format could not take, and what was repaired (stream: %p)",
    async (stream) => {
      const response = await post(path, { ...body, model: `acme/${format}-alone`, stream });
      expect(response.status).toBe(200);
      const text = await response.text();
      const metadata = stream ? find(readData(text)) : JSON.parse(text).gateway_metadata;
      expect(metadata.warnings).toContainEqual({ field, message: expect.stringMatching(/left out/) });
      expect(metadata.repairs).toEqual({
        duplicate_calls_removed: 1,
        orphan_results_removed: 0,
        placeholders_added: 1,
        ids_mapped: 0,
      });
    },
  );

  test("is told nothing where nothing was done", async () => {
    const plain = { ...body, [field]: undefined, text: undefined };
    const ask = path === "/responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
    const response = await post(path, { ...plain, ...ask, model: `acme/${format}-alone` });
    expect(await response.json()).not.toHaveProperty("gateway_metadata");
  });
});

test.each(APIS)("a client of $name hears nothing of fields that the gateway obeyed", async (api) => {
  const { path, format } = api;
  vendors.reset(format);
  const obeyed = {
    models: [`acme/${format}-both`],
    provider: { order: [`first-${format}`] },
    session_id: "one",
    usage: { include: true },
  };
  const ask = path === "/responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
  const response = await post(path, { max_tokens: 100, ...ask, ...obeyed, model: `acme/${format}-alone` });
  const answer = (await response.json()) as Json;
  expect(response.status).toBe(200);
  const named = (answer.gateway_metadata?.warnings ?? []).map(({ field }: Json) => field);
  expect(named.filter((field: string) => field in obeyed)).toEqual([]);
  for (const field of Object.keys(obeyed)) expect(vendors.first.calls[0]?.body).not.toHaveProperty(field);
});

describe("what would change the meaning of a request", () => {
  const ask = { n: 2, messages: [{ role: "user", content: "Hi" }] };

  test.each(["anthropic-messages", "openai-responses", "bedrock-converse", "cohere-chat"] as const)(
    "is refused by name before a vendor of %s is called",
    async (format) => {
      vendors.reset(format);
      const response = await post("/chat/completions", { ...ask, model: `acme/${format}-alone` });
      expect(response.status).toBe(400);
      expect(response.headers.get("x-gateway-attempts")).toBe("0");
      const { error } = (await response.json()) as Json;
      expect(error).toMatchObject({ type: "invalid_request", metadata: { field: "n" } });
      expect(error.message).toMatch(/^n must be 1/);
      expect(vendors.first.calls).toHaveLength(0);
    },
  );

  test.each([true, false])(
    "goes to a candidate that can, where there is one (stream: %p)",
    async (stream) => {
      // Cohere gives one answer; what stands in for it speaks chat completions, and may give more.
      vendors.reset("cohere-chat");
      expect(standInOf("cohere-chat")).toBe(SCRIPTS["openai-chat"]);
      const response = await post("/chat/completions", { ...ask, stream, model: "acme/cohere-chat-both" });
      expect(await response.text()).toContain("Beta");
      expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([
        200,
        "second-openai-chat",
      ]);
      expect(response.headers.get("x-gateway-attempts")).toBe("1");
      expect(vendors.first.calls).toHaveLength(0);
      expect(vendors.second.calls[0]?.body["n"]).toBe(2);
    },
  );

  test("is what the client hears of where the one that can fails", async () => {
    vendors.reset("cohere-chat");
    vendors.second.perform((call) => call.respond(500, {}));
    const response = await post("/chat/completions", { ...ask, model: "acme/cohere-chat-both" });
    expect([response.status, vendors.second.calls.length]).toEqual([502, 1]);
  });
});

describe("a host of the operator's own", () => {
  const chat = (id: string) => ({
    messages: [
      { role: "user", content: "Look!" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: "A wall." },
    ],
  });

  test.each(["anthropic-messages", "bedrock-converse"] as const)(
    "that speaks %s gets ids of calls as that format wants them",
    async (format) => {
      vendors.reset(format);
      const response = await post("/chat/completions", {
        ...chat("functions.look:0"),
        model: `acme/${format}-alone`,
      });
      expect(((await response.json()) as Json).gateway_metadata.repairs.ids_mapped).toBe(1);
      expect(JSON.stringify(vendors.first.calls[0]?.body)).not.toContain("functions.look:0");
    },
  );

  test.each([
    ["anthropic-messages", "/messages", true],
    ["gemini", "/messages", false],
    ["openai-chat", "/messages", false],
    ["anthropic-messages", "/chat/completions", false],
  ] as const)("that speaks %s and is asked at %s hears of betas: %p", async (format, path, hears) => {
    vendors.reset(format);
    const { base, key } = vendors.gateway;
    const ask = async (betas: string) => {
      const response = await fetch(base + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "anthropic-beta": betas },
        body: JSON.stringify({
          model: `acme/${format}-alone`,
          max_tokens: 100,
          messages: [{ role: "user", content: "Hi" }],
        }),
      });
      expect(response.status).toBe(200);
      return vendors.first.calls.at(-1)?.head ?? "";
    };
    const sent = /^anthropic-beta: one-2025-01-01, ?two$/im;
    expect(sent.test(await ask("one-2025-01-01,two"))).toBe(hears);
    // What is no list of names goes nowhere.
    expect(await ask('one; two="x"')).not.toContain("anthropic-beta");
  });
});
