import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeRequest } from "../../../../src/wire/openai-chat/translate/request/decode-request.ts";
import { encodeRequest } from "../../../../src/wire/openai-chat/translate/request/encode-request.ts";
import { shareOf } from "../../../support/long-run.ts";

const TARGET = { name: "acme/model", maxOutputTokens: null, reasoning: null };

/** Decodes a request and encodes it again. */
function pass(body: Record<string, unknown>) {
  return encodeRequest(decodeRequest(body), TARGET);
}

const word = fc.string({ minLength: 1, maxLength: 8 });
const text = fc.oneof(word, fc.constant(""), fc.constant("héllo – 你好 😀"));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** A field name that no format has. */
const unknown = fc.dictionary(
  fc.constantFrom("x_new", "x_other"),
  fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(null)),
  { maxKeys: 2 },
);
const cacheControl = optional(
  fc.constantFrom(
    { type: "ephemeral" },
    { type: "ephemeral", ttl: "1h" },
    { type: "ephemeral", ttl: "9d" },
    null,
  ),
);

function record<T extends Record<string, fc.Arbitrary<unknown>>>(
  required: T,
  extra: Record<string, fc.Arbitrary<unknown>> = {},
) {
  const all = { ...required, ...Object.fromEntries(Object.entries(extra).map(([k, v]) => [k, optional(v)])) };
  return fc
    .tuple(fc.record(all), unknown)
    .map(([known, other]) => JSON.parse(JSON.stringify({ ...known, ...other })) as Record<string, unknown>);
}

const url = fc.constantFrom(
  "https://example.com/a.png",
  "data:image/png;base64,iVBORw0KGgo=",
  "data:image/svg+xml;charset=utf-8;base64,PHN2Zz4=",
  "data:;base64,AAAA",
  "data:text/plain,hello",
);
const textPart = record({ type: fc.constant("text"), text }, { cache_control: cacheControl });
const part = fc.oneof(
  textPart,
  record({
    type: fc.constant("image_url"),
    image_url: record({ url }, { detail: fc.constantFrom("low", null) }),
  }),
  record({ type: fc.constant("image_url"), image_url: url }),
  record({ type: fc.constant("video_url"), video_url: record({ url }) }),
  record({
    type: fc.constant("input_audio"),
    input_audio: record({
      data: fc.constant("UklGRg=="),
      format: fc.constantFrom("wav", "mp3", "mpeg", "x-wav"),
    }),
  }),
  record({ type: fc.constant("file"), file: record({ file_id: word }, { filename: word }) }),
  record({
    type: fc.constant("file"),
    file: record(
      {
        file_data: fc.constantFrom(
          "data:application/pdf;base64,JVBERg==",
          "https://example.com/a.pdf",
          "JVBERg==",
        ),
      },
      { filename: word, file_id: word },
    ),
  }),
  record({ type: fc.constant("document_url"), document_url: word }),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));

const detail = fc.oneof(
  record(
    { type: fc.constant("reasoning.text"), text },
    {
      signature: fc.option(word),
      id: fc.option(word),
      format: fc.constantFrom("anthropic-claude-v1", "unknown", null),
      index: fc.nat(3),
    },
  ),
  record(
    { type: fc.constant("reasoning.summary"), summary: text },
    { id: word, format: fc.constant("openai-responses-v1") },
  ),
  record(
    { type: fc.constant("reasoning.encrypted"), data: word },
    {
      id: fc.constantFrom("call_1", "call_2", "rs_1"),
      format: fc.constantFrom("google-gemini-v1", "openai-responses-v1"),
    },
  ),
);
const extraContent = fc.constantFrom({ google: { thought_signature: "c2ln" } }, { google: {} }, { acme: 1 });
const call = (id: string) =>
  fc.oneof(
    record(
      {
        id: fc.constant(id),
        type: fc.constant("function"),
        function: record({ name: word, arguments: fc.constantFrom("{}", '{"a":1}', '{"b": [1, "ä"]}') }),
      },
      { extra_content: extraContent, index: fc.nat(3) },
    ),
    record({ id: fc.constant(id), type: fc.constant("custom"), custom: record({ name: word, input: text }) }),
    record({ id: fc.constant(id), type: fc.constant("later"), later: fc.jsonValue({ maxDepth: 1 }) }),
  );
const assistant = record(
  {
    role: fc.constant("assistant"),
    content: fc.oneof(
      text,
      fc.array(
        fc.oneof(
          textPart,
          record({ type: fc.constant("refusal"), refusal: text }),
          record({
            type: fc.constant("thinking"),
            thinking: fc.constantFrom([{ type: "text", text: "hm" }], "hm"),
          }),
        ),
        { maxLength: 3 },
      ),
    ),
  },
  {
    name: word,
    refusal: fc.option(word),
    reasoning: fc.option(text),
    reasoning_content: fc.option(text),
    reasoning_details: fc.array(detail, { maxLength: 3 }),
    annotations: fc.constant([]),
    audio: fc.option(record({ id: word })),
  },
);
const assistantWithCalls = fc
  .tuple(
    record(
      { role: fc.constant("assistant"), tool_calls: fc.tuple(call("call_1"), call("call_2")) },
      {
        content: fc.option(content),
        reasoning_content: fc.option(text),
        reasoning_details: fc.array(detail, { maxLength: 3 }),
      },
    ),
  )
  .map(([message]) => message);
const message = fc.oneof(
  record({ role: fc.constantFrom("system", "developer", "user"), content }, { name: fc.option(word) }),
  assistant,
  assistantWithCalls,
  record({ role: fc.constant("tool"), tool_call_id: fc.constant("call_1"), content }, { name: word }),
);

const schema = fc.constantFrom(
  { type: "object", properties: {} },
  { type: "object", $defs: { a: {} }, properties: { a: { $ref: "#/$defs/a" } } },
);
const tool = fc.oneof(
  record(
    {
      type: fc.constant("function"),
      function: record(
        { name: word, parameters: schema },
        { description: fc.option(text), strict: fc.option(fc.boolean()) },
      ),
    },
    { cache_control: cacheControl },
  ),
  record({
    type: fc.constant("custom"),
    custom: record({ name: word }, { description: text, format: fc.constant({ type: "text" }) }),
  }),
  record({ type: fc.constant("web_search") }),
);
const named = (type: string) => record({ type: fc.constant(type), [type]: record({ name: word }) });

const request = record(
  { model: fc.constant("acme/model"), messages: fc.array(message, { minLength: 1, maxLength: 5 }) },
  {
    tools: fc.array(tool, { maxLength: 3 }),
    tool_choice: fc.oneof(
      fc.constantFrom("auto", "none", "required", "any", null, { type: "web_search" }),
      named("function"),
      named("custom"),
      record({
        type: fc.constant("allowed_tools"),
        allowed_tools: record({
          mode: fc.constantFrom("auto", "required"),
          tools: fc.array(fc.oneof(named("function"), named("mcp")), { maxLength: 2 }),
        }),
      }),
    ),
    parallel_tool_calls: fc.option(fc.boolean()),
    response_format: fc.oneof(
      fc.constantFrom({ type: "text" }, { type: "json_object" }, { type: "grammar", grammar: "x" }, null),
      record({
        type: fc.constant("json_schema"),
        json_schema: record({ name: word, schema }, { strict: fc.option(fc.boolean()), description: word }),
      }),
    ),
    reasoning: record(
      {},
      {
        effort: fc.constantFrom("high", "none", null),
        max_tokens: fc.nat(9_000),
        enabled: fc.boolean(),
        exclude: fc.boolean(),
      },
    ),
    reasoning_effort: fc.constantFrom("low", "odd", null),
    verbosity: fc.constantFrom("low", null),
    max_tokens: fc.option(fc.nat(100)),
    max_completion_tokens: fc.option(fc.nat(100)),
    temperature: fc.option(fc.constantFrom(0, 0.5, 2)),
    top_p: fc.constantFrom(0, 1),
    top_k: fc.nat(50),
    frequency_penalty: fc.constantFrom(-2, 0),
    presence_penalty: fc.constantFrom(-2, 0),
    logprobs: fc.option(fc.boolean()),
    top_logprobs: fc.option(fc.nat(20)),
    n: fc.nat(3),
    logit_bias: fc.constantFrom({ "50256": -100 }, {}, null),
    seed: fc.option(fc.integer()),
    stop: fc.oneof(word, fc.array(word, { maxLength: 2 }), fc.constant(null)),
    user: fc.option(word),
    metadata: fc.option(fc.dictionary(word, word, { maxKeys: 2 })),
    service_tier: fc.constantFrom("auto", "flex", "on_demand", null),
    prompt_cache_key: word,
    cache_control: cacheControl,
    stream: fc.boolean(),
    modalities: fc.constant(["text", "audio"]),
    audio: fc.constant({ voice: "alloy", format: "pcm16" }),
    prediction: fc.constant({ type: "content", content: "x" }),
    web_search_options: fc.constant({}),
    store: fc.boolean(),
  },
);

describe("a chat request that is decoded and encoded again", () => {
  test("nothing changes, including unknown fields and unusual spellings", () => {
    fc.assert(
      fc.property(request, (body) => {
        const { body: out, warnings } = pass(body);
        const { stream_options, ...rest } = out as Record<string, unknown>;
        expect(rest).toEqual(body);
        expect(stream_options).toEqual(body["stream"] === true ? { include_usage: true } : undefined);
        expect(warnings).toEqual([]);
      }),
      { numRuns: shareOf(600, 1 / 5) },
    );
  });

  test("the gateway's own fields are removed", () => {
    const body = { model: "a/b", messages: [{ role: "user", content: "hi" }] };
    const gateway = {
      models: ["c/d"],
      provider: { order: ["x"] },
      session_id: "s",
      usage: { include: true },
    };
    expect(pass({ ...body, ...gateway, stream_options: { include_usage: false } }).body).toEqual({
      ...body,
      model: "acme/model",
    });
  });

  test("a tool without parameters gets an empty schema, and a call without arguments gets {}", () => {
    const out = pass({
      model: "a/b",
      messages: [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "" } }],
        },
      ],
      tools: [{ type: "function", function: { name: "f", strict: null } }],
    }).body as { messages: unknown[]; tools: unknown[] };
    expect(out.tools).toEqual([
      {
        type: "function",
        function: { name: "f", strict: null, parameters: { type: "object", properties: {} } },
      },
    ]);
    expect(out.messages).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
    ]);
  });

  test("a setting that was changed in between has its new value", () => {
    const asked = decodeRequest({
      model: "a/b",
      messages: [],
      max_completion_tokens: 5,
      reasoning: { effort: "low" },
    });
    const reasoning = { ...asked.reasoning!, effort: "medium" };
    const target = { ...TARGET, reasoning: {} };
    expect(encodeRequest({ ...asked, maxTokens: 7, reasoning }, target).body).toEqual({
      model: "acme/model",
      messages: [],
      max_tokens: 7,
      reasoning_effort: "medium",
    });
  });
});
