import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Fields } from "../../../src/base/json/fields.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import { TARGET } from "./support.ts";

const { decodeRequest, encodeRequest } = anthropicMessages;

/** Decodes a request and encodes it again. */
function decodeAndEncode(body: Fields) {
  return encodeRequest(decodeRequest(body), { ...TARGET, name: String(body["model"]) });
}

/** JSON values without negative zero, which JSON does not have. */
const json = (maxDepth: number) =>
  fc.jsonValue({ maxDepth }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const EPHEMERAL = { type: "ephemeral" };
const BASE = { model: "claude-test", max_tokens: 100 };
const USER = { role: "user", content: "hi" };

const CASES: Readonly<Record<string, Fields>> = {
  "a plain request": { ...BASE, messages: [USER] },
  "a request of Claude Code": {
    ...BASE,
    max_tokens: 32_000,
    system: [
      { type: "text", text: "x-billing: 1" },
      { type: "text", text: "You are", cache_control: { type: "ephemeral", ttl: "1h" } },
    ],
    messages: [
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "system", content: [{ type: "text", text: "remember", cache_control: EPHEMERAL }] },
      { role: "system", content: "a reminder" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: "sig==" },
          { type: "redacted_thinking", data: "blob" },
          {
            type: "tool_use",
            id: "toolu_1",
            name: "Read",
            input: { file_path: "/a" },
            cache_control: EPHEMERAL,
          },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: "text", cache_control: EPHEMERAL },
          { type: "text", text: "and now?" },
        ],
      },
      USER,
    ],
    tools: [
      { name: "Read", description: "reads", input_schema: { type: "object" }, defer_loading: true },
      {
        type: "custom",
        name: "Own",
        input_schema: { type: "object" },
        eager_input_streaming: true,
        strict: false,
      },
      { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
      { type: "web_search_20250305", name: "web_search", max_uses: 3, cache_control: EPHEMERAL },
    ],
    metadata: { user_id: '{"device":"1"}' },
    thinking: { type: "adaptive", display: "omitted" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    output_config: { effort: "high" },
    stream: true,
  },
  "a thinking budget as large as max_tokens": {
    ...BASE,
    messages: [USER],
    thinking: { type: "enabled", budget_tokens: 100 },
    temperature: 1,
  },
  "thinking switched off": { ...BASE, messages: [USER], thinking: { type: "disabled" }, temperature: 0 },
  "sampling parameters, stop sequences and service tier": {
    ...BASE,
    messages: [USER],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 3,
    stop_sequences: ["\n\nHuman", " "],
    service_tier: "standard_only",
  },
  "fields with empty values": {
    ...BASE,
    messages: [USER, { role: "assistant", content: [] }],
    system: "",
    tools: [],
    stop_sequences: [],
    stream: false,
    metadata: {},
    output_config: {},
  },
  "a system prompt as one string": { ...BASE, system: "Be brief.", messages: [USER] },
  "a system of one block": { ...BASE, system: [{ type: "text", text: "Be brief." }], messages: [USER] },
  "a tool choice without tools": {
    ...BASE,
    messages: [USER],
    tools: [{ name: "json", description: "", input_schema: { type: "object" } }],
    tool_choice: { type: "tool", name: "json", disable_parallel_tool_use: true },
  },
  "a choice that allows parallel calls": {
    ...BASE,
    messages: [USER],
    tools: [{ name: "json", input_schema: { type: "object" } }],
    tool_choice: { type: "auto", disable_parallel_tool_use: false, from_the_future: 1 },
  },
  "a schema for the output": {
    ...BASE,
    messages: [USER],
    output_config: { format: { type: "json_schema", schema: { type: "object" } }, task_budget: { total: 5 } },
  },
  "a schema in the older field": {
    ...BASE,
    messages: [USER],
    output_format: { type: "json_schema", schema: { type: "object" } },
  },
  "unknown fields everywhere": {
    ...BASE,
    mcp_servers: [{ type: "url", url: "https://x.test", name: "x" }],
    container: { id: "c", skills: [] },
    cache_control: { type: "ephemeral", ttl: "5m" },
    inference_geo: "eu",
    speed: "fast",
    metadata: { user_id: null, more: 1 },
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "hi", cache_control: { type: "ephemeral", scope: "global" }, x: [1] },
        ],
        y: { z: null },
      },
    ],
  },
  "every kind of media": {
    ...BASE,
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://x.test/a.png" }, cache_control: EPHEMERAL },
          { type: "image", source: { type: "file", file_id: "file_1" } },
          { type: "image", source: { type: "from_the_future", of: 1 } },
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
            title: "A",
            context: "of it",
            citations: { enabled: true },
          },
          { type: "document", source: { type: "url", url: "https://x.test/a.pdf" }, title: null },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
          { type: "document", source: { type: "content", content: "words" } },
          { type: "document", source: { type: "content", content: [{ type: "text", text: "words" }] } },
          {
            type: "document",
            source: {
              type: "content",
              content: [{ type: "image", source: { type: "url", url: "https://x.test" } }],
            },
          },
          {
            type: "search_result",
            source: "https://x.test",
            title: "x",
            content: [{ type: "text", text: "y" }],
          },
          { type: "container_upload", file_id: "file_2" },
        ],
      },
    ],
  },
  "every kind of tool result": {
    ...BASE,
    messages: [
      {
        role: "assistant",
        content: ["a", "b", "c", "d", "e"].map((id) => ({ type: "tool_use", id, name: "t", input: {} })),
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a" },
          { type: "tool_result", tool_use_id: "b", content: [], is_error: false },
          { type: "tool_result", tool_use_id: "c", content: "", is_error: true },
          { type: "tool_result", tool_use_id: "d", content: [{ type: "text", text: "x" }] },
          {
            type: "tool_result",
            tool_use_id: "e",
            content: [
              { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
              { type: "tool_reference", tool_name: "t" },
            ],
          },
        ],
      },
    ],
  },
  "calls and results of the vendor's own tools": {
    ...BASE,
    messages: [
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
          {
            type: "web_search_tool_result",
            tool_use_id: "srvtoolu_1",
            content: [{ type: "web_search_result", url: "u" }],
          },
          {
            type: "text",
            text: "so it is",
            citations: [
              {
                type: "web_search_result_location",
                url: "u",
                title: "t",
                cited_text: "c",
                encrypted_index: "e",
              },
              {
                type: "char_location",
                document_index: 0,
                document_title: "d",
                cited_text: "c",
                start_char_index: 0,
                end_char_index: 1,
              },
            ],
          },
          { type: "text", text: "more", citations: null },
          { type: "mcp_tool_use", id: "m", name: "n", server_name: "s", input: {} },
          { type: "compaction", content: "summed up" },
          { type: "tool_use", id: "toolu_1", name: "t", input: {}, caller: { type: "direct" } },
        ],
      },
    ],
  },
};

describe("a Messages request that is decoded and encoded again", () => {
  test.each(Object.entries(CASES))("nothing changes: %s", (_name, body) => {
    const { body: again, warnings } = decodeAndEncode(body);
    expect(again).toEqual(body);
    expect(warnings).toEqual([]);
  });

  test("nothing changes in random requests", () => {
    fc.assert(
      fc.property(request(), (body) => {
        expect(decodeAndEncode(body).body).toEqual(body);
      }),
      { numRuns: 300 },
    );
  });
});

const OWN_NAMES = /^(x|ä|_)/;

/** Fields that no API has. */
const unknown = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 4 }).filter((name) => OWN_NAMES.test(name)),
  json(1),
  { maxKeys: 2, noNullPrototype: true },
);
const cache = fc.option(
  fc.constantFrom<Fields>({ cache_control: EPHEMERAL }, { cache_control: { type: "ephemeral", ttl: "1h" } }),
  { nil: {} },
);

function block(fields: fc.Arbitrary<Fields>): fc.Arbitrary<Fields> {
  return fc.tuple(fields, cache, unknown).map(([own, mark, rest]) => ({ ...rest, ...own, ...mark }));
}

const text = block(fc.string().map((words) => ({ type: "text", text: words })));
const image = block(
  fc.constantFrom<Fields>(
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } },
    { type: "image", source: { type: "url", url: "https://x.test" } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "a" }, title: "t" },
  ),
);
const native = block(
  fc.constantFrom<Fields>(
    { type: "server_tool_use", id: "s", name: "n", input: { a: 1 } },
    { type: "new_block" },
  ),
);
const thinking = fc.constantFrom<Fields>(
  { type: "thinking", thinking: "t", signature: "s" },
  { type: "redacted_thinking", data: "d" },
);
const call = block(
  fc
    .tuple(fc.string(), fc.dictionary(fc.string(), json(2), { noNullPrototype: true }))
    .map(([id, input]) => ({ type: "tool_use", id, name: "tool", input })),
);
const result = block(
  fc
    .tuple(
      fc.string(),
      fc.oneof(fc.string(), fc.array(fc.oneof(text, image), { maxLength: 3 })),
      fc.boolean(),
    )
    .map(([id, content, isError]) => ({
      type: "tool_result",
      tool_use_id: id,
      content,
      ...(isError ? { is_error: true } : {}),
    })),
);

function message(role: string, blocks: fc.Arbitrary<Fields>): fc.Arbitrary<Fields> {
  const content = fc.oneof(fc.string(), fc.array(blocks, { maxLength: 4 }));
  return fc.tuple(content, unknown).map(([generated, rest]) => ({ ...rest, role, content: generated }));
}

function request(): fc.Arbitrary<Fields> {
  const messages = fc.array(
    fc.oneof(
      message("user", fc.oneof(text, image, result, native)),
      message("assistant", fc.oneof(text, thinking, call, native)),
      message("system", text),
    ),
    { minLength: 1, maxLength: 6 },
  );
  const system = fc.oneof(fc.string(), fc.array(text, { maxLength: 2 }));
  const tool = block(
    fc.constantFrom<Fields>(
      { name: "a", input_schema: { type: "object" } },
      { type: "bash_20250124", name: "bash" },
    ),
  );
  const others = fc.record(
    {
      system,
      tools: fc.array(tool, { maxLength: 3 }),
      stream: fc.boolean(),
      stop_sequences: fc.array(fc.string()),
      top_k: fc.nat(),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  return fc
    .tuple(messages, others, unknown)
    .map(([generated, more, rest]) => ({ ...rest, ...more, ...BASE, messages: generated }));
}
