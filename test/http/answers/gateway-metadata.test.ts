import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { type FormatVendors, standInOf, startFormatVendors } from "../../faults/format-vendors.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";

let vendors: FormatVendors;
beforeAll(async () => {
  vendors = await startFormatVendors();
});
afterAll(() => vendors.stop());

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

/**
 * A client API, a vendor of another format, and a request with a field that the vendor lacks and a tool call
 * without a result.
 */
const APIS: readonly {
  readonly name: string;
  readonly path: string;
  readonly format: FormatName;
  readonly body: Json;
  readonly field: string;
  /** Finds the metadata in the events of a stream. */
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
    "gets warnings for fields that the vendor's format lacks, and counts of repairs (stream: %p)",
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
      const id = response.headers.get("x-gateway-generation-id");
      const { data } = await callAdmin(
        vendors.gateway,
        vendors.gateway.adminKey,
        "GET",
        `/generations/${id}`,
      );
      expect(data).toMatchObject(metadata);
    },
  );

  test("gets no metadata if there is nothing to report", async () => {
    const plain = { ...body, [field]: undefined, text: undefined };
    const ask = path === "/responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
    const response = await post(path, { ...plain, ...ask, model: `acme/${format}-alone` });
    expect(await response.json()).not.toHaveProperty("gateway_metadata");
  });
});

test.each(APIS)("a client of $name gets no warnings for fields that the gateway applied", async (api) => {
  const { path, format } = api;
  vendors.reset(format);
  const applied = {
    models: [`acme/${format}-both`],
    provider: { order: [`first-${format}`] },
    session_id: "one",
    usage: { include: true },
  };
  const ask = path === "/responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
  const response = await post(path, { max_tokens: 100, ...ask, ...applied, model: `acme/${format}-alone` });
  const answer = (await response.json()) as Json;
  expect(response.status).toBe(200);
  const named = (answer.gateway_metadata?.warnings ?? []).map(({ field }: Json) => field);
  expect(named.filter((field: string) => field in applied)).toEqual([]);
  for (const field of Object.keys(applied)) expect(vendors.first.calls[0]?.body).not.toHaveProperty(field);
});

describe("a parameter that cannot be dropped without changing the request's meaning", () => {
  const ask = { n: 2, messages: [{ role: "user", content: "Hi" }] };

  test.each(["anthropic-messages", "openai-responses", "bedrock-converse", "cohere-chat"] as const)(
    "is rejected by name before a vendor of %s is called",
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
    "makes the gateway choose a candidate that supports it (stream: %p)",
    async (stream) => {
      // Cohere gives one answer. The stand-in speaks chat completions, which can give several.
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

  test("leads to that candidate's error if it fails", async () => {
    vendors.reset("cohere-chat");
    vendors.second.perform((call) => call.respond(500, {}));
    const response = await post("/chat/completions", { ...ask, model: "acme/cohere-chat-both" });
    expect([response.status, vendors.second.calls.length]).toEqual([502, 1]);
  });
});

describe("a custom host", () => {
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
    "that speaks %s gets tool-call ids in the form that its format requires",
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
  ] as const)(
    "that speaks %s and is requested at %s receives the client's betas: %p",
    async (format, path, isForwarded) => {
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
      expect(sent.test(await ask("one-2025-01-01,two"))).toBe(isForwarded);
      // A value that is not a list of names is not forwarded.
      expect(await ask('one; two="x"')).not.toContain("anthropic-beta");
    },
  );
});
