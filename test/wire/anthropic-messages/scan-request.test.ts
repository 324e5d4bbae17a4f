import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import { forwardMessagesRequest } from "../../../src/wire/anthropic-messages/passthrough/forward-request.ts";
import { scanMessagesRequest } from "../../../src/wire/anthropic-messages/passthrough/scan-request.ts";
import { wrapReasoning } from "../../../src/wire/canonical/model/reasoning-envelope.ts";
import { repairToolCalls } from "../../../src/wire/conversation/calls/repair-tool-calls.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";

const scan = (body: unknown) => scanMessagesRequest(Buffer.from(JSON.stringify(body)));
const MESSAGES = [{ role: "user", content: "hi" }];
const call = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "r" });
const RULES = toolCallRulesOf("anthropic-messages", "anthropic");

function failureOf(body: unknown) {
  try {
    scan(body);
  } catch (error) {
    if (error instanceof GatewayError) return error.failure;
    throw error;
  }
  return null;
}

describe("scanning a Messages request", () => {
  test("the fields that routing needs are read", () => {
    const scanned = scan({ model: "a/b", max_tokens: 9, stream: true, messages: MESSAGES });
    expect(scanned).toMatchObject({ model: "a/b", maxTokens: 9, stream: true, mayCarryReasoning: false });
    expect(scan({ model: "a/b", messages: MESSAGES })).toMatchObject({ maxTokens: null, stream: false });
  });

  test("texts, inputs, results and tools are counted, and media are not", () => {
    const bytes = (content: unknown) =>
      scan({ model: "m", messages: [{ role: "user", content }] }).promptTextBytes;
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "A".repeat(999) },
    };
    expect(bytes([image])).toBe(0);
    expect(bytes("abcd")).toBe(6);
    expect(bytes([{ type: "text", text: "abcd" }])).toBe(6);
    expect(bytes([{ ...call("a"), input: { a: 1 } }])).toBe(7);
    expect(bytes([{ ...result("a"), content: [{ type: "text", text: "abcd" }] }])).toBe(6);
    const found = {
      type: "search_result",
      source: "s",
      title: "t",
      content: [{ type: "text", text: "abcd" }],
    };
    expect(bytes([found])).toBe(6);
    expect(bytes([{ ...result("a"), content: [found] }])).toBe(6);
    expect(
      bytes([{ type: "document", source: { type: "text", media_type: "text/plain", data: "abcd" } }]),
    ).toBe(6);
    expect(scan({ model: "m", system: "abcd", tools: [], messages: MESSAGES }).promptTextBytes).toBe(
      6 + 4 + 2,
    );
  });

  test.each<[string, unknown[], boolean]>([
    ["no calls", MESSAGES, true],
    [
      "calls and their results",
      [
        { role: "assistant", content: [call("a"), call("b")] },
        { role: "user", content: [result("a"), result("b"), { type: "text", text: "x" }] },
      ],
      true,
    ],
    [
      "a text before the results",
      [
        { role: "assistant", content: [call("a")] },
        { role: "user", content: [{ type: "text", text: "x" }, result("a")] },
      ],
      false,
    ],
    [
      "a missing result",
      [
        { role: "assistant", content: [call("a"), call("b")] },
        { role: "user", content: [result("a")] },
      ],
      false,
    ],
    [
      "a result with an unknown id",
      [
        { role: "assistant", content: [call("a.b")] },
        { role: "user", content: [result("a.b")] },
      ],
      false,
    ],
    [
      "calls of the vendor's own tools",
      [{ role: "assistant", content: [{ type: "server_tool_use", id: "s", name: "x", input: {} }] }],
      true,
    ],
  ])("the outline shows whether the tool-call history needs repair: %s", (_name, messages, isValid) => {
    expect(repairToolCalls(scan({ model: "m", messages }).outline.read(), RULES) === null).toBe(isValid);
  });

  test("another vendor's reasoning is detected", () => {
    const data = wrapReasoning({ signature: "s", encrypted: null, id: null, origin: "x", isSummary: false });
    const messages = [{ role: "assistant", content: [{ type: "redacted_thinking", data }] }];
    expect(scan({ model: "m", messages }).mayCarryReasoning).toBe(true);
  });

  test.each<[string, Fields]>([
    ["model", { model: 5 }],
    ["messages", { messages: [] }],
    ["messages", { messages: "hi" }],
    ["messages[0].role", { messages: [{ role: "developer", content: "x" }] }],
    ["messages[0].content", { messages: [{ role: "user" }] }],
    ["messages[0].content[0]", { messages: [{ role: "user", content: ["x"] }] }],
    ["messages[0].content[0].text", { messages: [{ role: "user", content: [{ type: "text" }] }] }],
    [
      "messages[0].content[0].input",
      { messages: [{ role: "assistant", content: [{ ...call("a"), input: "x" }] }] },
    ],
    ["messages[0].content[0].source", { messages: [{ role: "user", content: [{ type: "image" }] }] }],
    ["max_tokens", { max_tokens: 0 }],
    ["max_tokens", { max_tokens: "5" }],
    ["temperature", { temperature: 1.1 }],
    ["top_p", { top_p: -1 }],
    ["top_k", { top_k: 0.5 }],
    ["stream", { stream: "yes" }],
    ["system", { system: 5 }],
    ["stop_sequences", { stop_sequences: "x" }],
    ["tools", { tools: {} }],
    ["tools[0].name", { tools: [{ input_schema: {} }] }],
    ["tools[0].input_schema", { tools: [{ name: "a", input_schema: "x" }] }],
    ["tool_choice", { tool_choice: "auto" }],
    ["tool_choice.name", { tool_choice: { type: "tool" } }],
    ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: "x" } }],
    ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 0 } }],
    ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 1.5 } }],
    ["metadata.user_id", { metadata: { user_id: 5 } }],
    ["models", { models: [5] }],
    ["thread", { thread: { type: "persistent" } }],
  ])("an invalid request is rejected with the name of the field: %s", (field, wrong) => {
    expect(failureOf({ model: "m", messages: MESSAGES, ...wrong })).toMatchObject({
      code: "invalid_request",
      metadata: { field },
    });
  });

  test("the smallest amounts of tokens are accepted, and left to the vendor", () => {
    const thinking = { type: "enabled", budget_tokens: 1 };
    expect(failureOf({ model: "m", messages: MESSAGES, max_tokens: 1, thinking })).toBeNull();
  });

  test("null counts as absent, and unknown fields are accepted", () => {
    const body = {
      max_tokens: null,
      temperature: null,
      system: null,
      tools: null,
      thread: null,
      new: { x: 1 },
    };
    const messages = [{ role: "system", content: [{ type: "new_block" }] }];
    expect(failureOf({ model: "m", messages, ...body })).toBeNull();
  });

  test("a body that is not JSON is rejected", () => {
    expect(() => scanMessagesRequest(Buffer.from('{"model": "m",'))).toThrow("not valid JSON");
  });
});

function forward(sent: string): string {
  const target = {
    provider: { model: { name: "claude-1" }, refusedFields: new Set<string>() },
    hashUser: (user: string) => `hashed(${user})`,
  };
  return forwardMessagesRequest(scanMessagesRequest(Buffer.from(sent)), target).toString();
}

describe("forwarding a Messages request", () => {
  test.each([
    ['"ada"', '"hashed(ada)"'],
    ['"user_1_account_2_session_3"', '"hashed(user_1_account_2)"'],
    ["null", "null"],
  ])("the user %s is replaced by a hash, and other metadata are kept", (given, sent) => {
    const body = (model: string, user: string) =>
      `{"model":"${model}","messages":[{"role":"user","content":"h"}],"metadata":{"a" : 1, "user_id": ${user}}}`;
    expect(forward(body("a/b", given))).toBe(body("claude-1", sent));
  });

  test("only the model is replaced, and the gateway's fields are removed", () => {
    const sent =
      '{"provider":{"order":["x"]}, "model" : "a/b","messages":[{"role":"user","content":"h\\u00e9"}] ,"models":["c/d"],"new":1e400}';
    const forwarded = forward(sent);
    expect(forwarded).toBe(
      '{"model" : "claude-1","messages":[{"role":"user","content":"h\\u00e9"}] ,"new":1e400}',
    );
  });
});
