import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseChatRequest } from "../../../src/wire/client-apis/chat-request.ts";
import { parseEmbeddingsRequest } from "../../../src/wire/client-apis/embeddings-request.ts";
import { parseFimRequest } from "../../../src/wire/client-apis/fim-request.ts";
import { parseMessagesRequest } from "../../../src/wire/client-apis/messages-request.ts";
import { parseResponsesRequest } from "../../../src/wire/client-apis/responses-request.ts";

const PARSERS = {
  chat: parseChatRequest,
  responses: parseResponsesRequest,
  messages: parseMessagesRequest,
  embeddings: parseEmbeddingsRequest,
  fim: parseFimRequest,
};
type Api = keyof typeof PARSERS;
const APIS = Object.keys(PARSERS) as Api[];

const PLAIN = {
  chat: { model: "openai/gpt-4o", messages: [{ role: "user", content: "Hi" }] },
  responses: { model: "openai/gpt-4o", input: "Hi" },
  messages: { model: "openai/gpt-4o", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  embeddings: { model: "openai/text-embedding-3-small", input: "Hi" },
  fim: { model: "mistralai/codestral-latest", prompt: "let" },
};

function open(api: Api, fields: object, headers: Record<string, string> = {}) {
  const body = Buffer.from(JSON.stringify({ ...PLAIN[api], ...fields }));
  return PARSERS[api](body, (id) => id, new Headers(headers));
}

describe("the session id of a request", () => {
  test.each(APIS)("of the API %s is the first of the documented fields and headers that is set", (api) => {
    const body = { session_id: "body", prompt_cache_key: "cache" };
    const headers = { "x-session-id": "header", "x-session-affinity": "affinity" };
    expect(open(api, body, headers).session).toBe("body");
    expect(open(api, { prompt_cache_key: "cache" }, headers).session).toBe("header");
    const affinity = { "x-session-affinity": "affinity" };
    expect(open(api, { prompt_cache_key: "cache" }, affinity).session).toBe("affinity");
    expect(open(api, { prompt_cache_key: "cache" }).session).toBe("cache");
    expect(open(api, {}).session).toBeNull();
  });

  test.each(["session-id", "session_id", "conversation_id", "X-Claude-Code-Session-Id"])(
    "is the coding agent's header %s if nothing else is set",
    (name) => {
      expect(open("responses", {}, { [name]: "agent" }).session).toBe("agent");
      expect(open("responses", { prompt_cache_key: "cache" }, { [name]: "agent" }).session).toBe("cache");
    },
  );

  test.each(["chat", "messages", "embeddings", "fim"] as const)(
    "of the API %s ignores values that are not text",
    (api) => {
      for (const session_id of [7, null, {}, "", "  "]) {
        expect(open(api, { session_id }, { "x-session-id": "header" }).session).toBe("header");
      }
    },
  );

  test("is trimmed, and a long one is replaced by a hash of all of it", () => {
    expect(open("chat", { session_id: " a " }).session).toBe("a");
    const [one, other] = ["1", "2"].map((end) => open("chat", { session_id: "s".repeat(300) + end }).session);
    expect(one).not.toBe(other as string);
    expect(one?.length).toBeLessThanOrEqual(256);
  });

  test("is absent if its value in a large body has an invalid escape", () => {
    const padding = "x".repeat(9_000);
    const body = `{"model":"openai/gpt-4o","messages":[{"role":"user","content":"${padding}"}],"session_id":"\\q"}`;
    expect(parseChatRequest(Buffer.from(body), (id) => id).session).toBeNull();
  });
});

describe("the end user of a request", () => {
  test.each(["chat", "responses", "embeddings", "fim"] as const)(
    "of the API %s is `user`, or else `safety_identifier`",
    (api) => {
      expect(open(api, { user: "ada", safety_identifier: "safe" }).user).toBe("ada");
      expect(open(api, { safety_identifier: "safe" }).user).toBe("safe");
      expect(open(api, {}).user).toBeNull();
    },
  );

  test.each([
    ["ada", "ada", null],
    ["user_0af1_account_7-b_session_11-22", "user_0af1_account_7-b", "11-22"],
    ["user_0af1_account__session_11-22", "user_0af1_account_", "11-22"],
    ['{"device_id":"d1","account_uuid":"","session_id":"s1"}', "d1", "s1"],
    ['{"device_id":"d1","account_uuid":"a1","session_id":"s1"}', "d1/a1", "s1"],
    ['{"session_id":"s1"}', '{"session_id":"s1"}', null],
    ['{"device_id":', '{"device_id":', null],
    ["user_session_", "user_session_", null],
  ])(
    "and the session are read from the metadata.user_id %s of a Messages request",
    (user_id, user, session) => {
      const request = open("messages", { metadata: { user_id } });
      expect([request.user, request.session]).toEqual([user, session]);
      expect(open("messages", { metadata: { user_id }, session_id: "own" }).session).toBe("own");
    },
  );
});

type Turn = { readonly role: "user" | "assistant"; readonly text: string };

const turns = fc.array(
  fc.record({ role: fc.constantFrom("user" as const, "assistant" as const), text: fc.string() }),
  { maxLength: 5 },
);
const conversation = fc.record({ system: fc.string({ unit: "grapheme" }), first: fc.string(), more: turns });

const TOOL = { name: "look", description: "Looks" };
const MARK = { cache_control: { type: "ephemeral" } };

/** Bodies of clients that put a cache mark on their last message and therefore send its content as a list. */
const WRITERS = {
  chat: (system: string, turns: readonly Turn[]) => ({
    messages: [
      { role: "system", content: [{ type: "text", text: system, ...MARK }] },
      ...turns.map(({ role, text }, at) => ({
        role,
        content: at === turns.length - 1 ? [{ type: "text", text, ...MARK }] : text,
      })),
    ],
    tools: [{ type: "function", function: TOOL }],
  }),
  messages: (system: string, turns: readonly Turn[]) => ({
    system: [
      { type: "text", text: `x-anthropic-billing-header: cc_version=2; cch=${turns.length};` },
      { type: "text", text: system, ...MARK },
    ],
    messages: turns.map(({ role, text }, at) => ({
      role,
      content: at === turns.length - 1 ? [{ type: "text", text, ...MARK }] : text,
    })),
    tools: [{ ...TOOL, input_schema: { type: "object" }, ...(turns.length > 1 ? MARK : {}) }],
  }),
  responses: (instructions: string, turns: readonly Turn[]) => ({
    instructions,
    input:
      turns.length === 1
        ? turns[0]?.text
        : turns.map(({ role, text }) => ({
            role,
            content: [{ type: role === "user" ? "input_text" : "output_text", text }],
          })),
    tools: [{ type: "function", ...TOOL }],
  }),
};

describe.each(Object.keys(WRITERS) as (keyof typeof WRITERS)[])(
  "the prefix hash of a request of the API %s",
  (api) => {
    const hash = (system: string, turns: readonly Turn[]) =>
      open(api, WRITERS[api](system, turns)).prompt.hashPrefix();

    test("does not change when turns are added", () => {
      const holds = fc.property(conversation, ({ system, first, more }) => {
        const start: Turn = { role: "user", text: first };
        expect(hash(system, [start, ...more])).toBe(hash(system, [start]));
      });
      fc.assert(holds);
    });

    test("changes with the first message, the system text or the tools", () => {
      const holds = fc.property(conversation, fc.string({ minLength: 1 }), ({ system, first, more }, add) => {
        const known = hash(system, [{ role: "user", text: first }, ...more]);
        expect(hash(system, [{ role: "user", text: first + add }, ...more])).not.toBe(known);
        expect(hash(system + add, [{ role: "user", text: first }, ...more])).not.toBe(known);
      });
      fc.assert(holds);
      const body = WRITERS[api]("s", [{ role: "user", text: "u" }]);
      expect(open(api, { ...body, tools: [] }).prompt.hashPrefix()).not.toBe(
        open(api, body).prompt.hashPrefix(),
      );
    });

    test("depends on the start of a long text only, and still on what follows the text", () => {
      const long = "x".repeat(400_000);
      expect(hash(long, [{ role: "user", text: "a" }])).toBe(hash(`${long}y`, [{ role: "user", text: "a" }]));
      expect(hash(long, [{ role: "user", text: "a" }])).not.toBe(hash(long, [{ role: "user", text: "b" }]));
    });
  },
);

test("the prefix hash depends on the start of a fill-in-the-middle prompt, and is constant for embeddings", () => {
  const start = "x".repeat(1_024);
  const fim = (prompt: string) => open("fim", { prompt }).prompt.hashPrefix();
  expect(fim(`${start}a`)).toBe(fim(`${start}bc`));
  expect(fim("a")).not.toBe(fim("b"));
  expect(open("embeddings", { input: "a" }).prompt.hashPrefix()).toBe(
    open("embeddings", { input: "b" }).prompt.hashPrefix(),
  );
});
