import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";

const { decodeRequest } = anthropicMessages;
const BASE = { model: "m", max_tokens: 5 };

function failureOf(body: Fields) {
  try {
    decodeRequest(body);
  } catch (error) {
    if (error instanceof GatewayError) return error.failure;
    throw error;
  }
  return null;
}

describe("decoding a Messages request", () => {
  test("all parts and parameters that other formats need are decoded", () => {
    const request = decodeRequest({
      ...BASE,
      system: "s",
      messages: [
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: "r", is_error: true },
            { type: "text", text: "t", cache_control: { type: "ephemeral", ttl: "1h", scope: "global" } },
          ],
        },
      ],
      tools: [{ name: "f", input_schema: { type: "object" } }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 2_000 },
      output_config: { effort: "high", format: { type: "json_schema", schema: { a: 1 } } },
      metadata: { user_id: "u" },
      stop_sequences: ["x"],
      stream: true,
    });
    expect(request).toMatchObject({
      messages: [
        { role: "system", parts: [{ kind: "text", text: "s" }] },
        {
          role: "tool",
          parts: [{ kind: "tool-result", callId: "a", isError: true, content: [{ text: "r" }] }],
        },
        { role: "user", parts: [{ kind: "text", text: "t", cache: { ttl: "1h" } }] },
      ],
      tools: [{ kind: "function", name: "f", parameters: { type: "object" } }],
      toolChoice: { kind: "required" },
      parallelToolCalls: false,
      maxTokens: 5,
      reasoning: { enabled: true, budgetTokens: 2_000, effort: "high", adaptive: false },
      outputFormat: { kind: "json-schema", schema: { a: 1 } },
      user: "u",
      stop: ["x"],
      stream: true,
    });
  });

  test("a document of text blocks has a text for other formats", () => {
    const source = {
      type: "content",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    };
    const { messages } = decodeRequest({
      ...BASE,
      messages: [{ role: "user", content: [{ type: "document", source }] }],
    });
    expect(messages[0]?.parts[0]).toMatchObject({ kind: "file", source: { kind: "text", text: "a\nb" } });
  });

  test("a thread is rejected with the error code that the SDK handles", () => {
    expect(failureOf({ ...BASE, thread: { type: "persistent" }, messages: [] })).toMatchObject({
      code: "invalid_request",
      metadata: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
    });
    expect(failureOf({ ...BASE, thread: null, messages: [{ role: "user", content: "a" }] })).toBeNull();
  });

  test.each<[string, Fields]>([
    ["messages", { messages: "hi" }],
    ["messages[0]", { messages: ["hi"] }],
    ["messages[0].role", { messages: [{ role: "tool", content: "a" }] }],
    ["messages[0].content", { messages: [{ role: "user" }] }],
    [
      "messages[0].content[1]",
      { messages: [{ role: "user", content: [{ type: "text", text: "a" }, { type: "text" }] }] },
    ],
    ["messages[0].content[0]", { messages: [{ role: "user", content: ["a"] }] }],
    ["system", { messages: [], system: 5 }],
    ["system[0]", { messages: [], system: [{ type: "text" }] }],
    ["tools", { messages: [], tools: {} }],
    ["tools[0].name", { messages: [], tools: [{ input_schema: {} }] }],
    ["tool_choice.name", { messages: [], tool_choice: { type: "tool" } }],
  ])("an invalid value is rejected with the name of its field: %s", (field, body) => {
    expect(failureOf({ ...BASE, ...body })).toMatchObject({ code: "invalid_request", metadata: { field } });
  });
});
