import { describe, expect, test } from "bun:test";
import type { ModelTarget } from "../../../../src/wire/canonical/model/format.ts";
import type { Part, ReasoningPart } from "../../../../src/wire/canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type Message,
  type ReasoningParameters,
} from "../../../../src/wire/canonical/model/request.ts";
import { encodeRequest } from "../../../../src/wire/openai-chat/translate/request/encode-request.ts";

const TARGET: ModelTarget = { name: "m", maxOutputTokens: null, reasoning: null };

function encode(request: Partial<ConversationRequest>, target = TARGET) {
  const { body, warnings } = encodeRequest({ ...EMPTY_REQUEST, messages: [], ...request }, target);
  return { body: body as Record<string, unknown>, warnings: warnings.map(({ field }) => field) };
}

const messages = (...list: Message[]) => encode({ messages: list }).body["messages"];
const text = (words: string): Part => ({ kind: "text", text: words });
const image: Part = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } };
const result = (callId: string, ...content: Part[]): Part => ({
  kind: "tool-result",
  callId,
  tool: "function",
  content,
  isError: false,
});
const reasoning = (fields: Partial<ReasoningPart>): Part => ({
  kind: "reasoning",
  text: "",
  isSummary: false,
  signature: null,
  encrypted: null,
  id: null,
  origin: null,
  ...fields,
});
const makeParameters = (fields: Partial<ReasoningParameters>): ReasoningParameters => ({
  enabled: null,
  effort: null,
  budgetTokens: null,
  adaptive: false,
  summary: null,
  hidden: false,
  ...fields,
});

describe("encoding a request of another format for a chat vendor", () => {
  test("text blocks are joined, developer becomes system, and cache marks are left out", () => {
    expect(
      messages(
        {
          role: "developer",
          parts: [text("Be brief."), { kind: "text", text: "Be kind.", cache: { ttl: null } }],
        },
        { role: "user", parts: [text("hi")] },
        { role: "assistant", parts: [text("As it is "), text("given.")] },
      ),
    ).toEqual([
      { role: "system", content: "Be brief.\n\nBe kind." },
      { role: "user", content: "hi" },
      { role: "assistant", content: "As it is given." },
    ]);
  });

  test("each tool result is a message, and media follow after all of them", () => {
    const call = (id: string): Part => ({
      kind: "tool-call",
      id,
      name: "f",
      tool: "function",
      arguments: "",
    });
    expect(
      messages(
        { role: "assistant", parts: [call("a"), call("b")] },
        { role: "tool", parts: [result("a", image), result("b", text("x"), text("y"), image)] },
        { role: "user", parts: [text("and?")] },
      ),
    ).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: ["a", "b"].map((id) => ({
          id,
          type: "function",
          function: { name: "f", arguments: "{}" },
        })),
      },
      { role: "tool", tool_call_id: "a", content: "The result follows in the next message." },
      { role: "tool", tool_call_id: "b", content: "x\n\ny" },
      {
        role: "user",
        content: Array(2).fill({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }),
      },
      { role: "user", content: "and?" },
    ]);
  });

  test("documents are sent as files, and text documents as text", () => {
    const pdf: Part = { kind: "file", source: { kind: "base64", mediaType: "application/pdf", data: "JV" } };
    const note: Part = {
      kind: "file",
      name: "note",
      source: { kind: "text", mediaType: "text/plain", text: "hello" },
    };
    expect(messages({ role: "user", parts: [pdf, note] })).toEqual([
      {
        role: "user",
        content: [
          { type: "file", file: { filename: "document.pdf", file_data: "data:application/pdf;base64,JV" } },
          { type: "text", text: "note:\n\nhello" },
        ],
      },
    ]);
  });

  test("a file id of another vendor is rejected with the name of the field", () => {
    const file: Part = { kind: "file", source: { kind: "file-id", id: "f", store: "anthropic" } };
    expect(() => messages({ role: "user", parts: [text("look"), file] })).toThrow("messages[0].content[1]");
  });

  test("signed reasoning is sent as details, other reasoning as plain text", () => {
    const anthropic = { signature: "sig", origin: "anthropic-claude-v1" };
    const summary = { id: "rs", origin: "openai-responses-v1" };
    expect(
      messages(
        { role: "assistant", parts: [reasoning({ text: "Hm" }), text("a")] },
        { role: "assistant", parts: [reasoning({ text: "Hm", ...anthropic }), text("b")] },
        {
          role: "assistant",
          parts: [
            reasoning({ text: "S", isSummary: true, ...summary }),
            reasoning({ encrypted: "e", ...summary }),
            text("c"),
          ],
        },
      ),
    ).toEqual([
      { role: "assistant", content: "a", reasoning_content: "Hm" },
      {
        role: "assistant",
        content: "b",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm", signature: "sig", format: "anthropic-claude-v1", index: 0 },
        ],
      },
      {
        role: "assistant",
        content: "c",
        reasoning_details: [
          { type: "reasoning.summary", summary: "S", id: "rs", format: "openai-responses-v1", index: 0 },
          { type: "reasoning.encrypted", data: "e", id: "rs", format: "openai-responses-v1", index: 1 },
        ],
      },
    ]);
  });

  test("native parts of another format are left out with a warning, and so is a turn that becomes empty", () => {
    const block: Part = { kind: "native", format: "anthropic-messages", type: "server_tool_use", value: {} };
    const { body, warnings } = encode({
      messages: [{ role: "assistant", parts: [block] }],
      tools: [{ kind: "native", format: "anthropic-messages", type: "web_search_20250305", value: {} }],
      toolChoice: { kind: "required" },
      parallelToolCalls: false,
      topK: 5,
      metadata: { a: "b" },
      serviceTier: "standard_only",
      extras: { format: "anthropic-messages", fields: { container: "c" } },
    });
    expect(body).toEqual({ model: "m", messages: [], service_tier: "default" });
    expect(warnings.toSorted()).toEqual(
      ["messages[0].content[0]", "tools[0]", "top_k", "metadata", "container"].toSorted(),
    );
  });

  test("custom tools stay custom, and so does a choice of one", () => {
    const { body } = encode({
      tools: [{ kind: "custom", name: "sh", description: null, inputFormat: { type: "text" } }],
      toolChoice: { kind: "tool", name: "sh" },
      stream: true,
    });
    expect(body).toMatchObject({
      tools: [{ type: "custom", custom: { name: "sh", format: { type: "text" } } }],
      tool_choice: { type: "custom", custom: { name: "sh" } },
      stream_options: { include_usage: true },
    });
  });

  test.each([
    ["a supported effort", { effort: "high" }, {}, "high", 0],
    ["an effort above the supported ones", { effort: "xhigh" }, {}, "high", 1],
    ["an effort below the supported ones", { effort: "minimal" }, { efforts: ["low", "high"] }, "low", 1],
    ["a small budget", { budgetTokens: 1_024 }, {}, "low", 0],
    ["a large budget", { budgetTokens: 31_999 }, {}, "high", 0],
    [
      "no reasoning, from a model that can disable it",
      { enabled: false },
      { efforts: ["low"], canDisable: true as const },
      "none",
      0,
    ],
    [
      "no reasoning, from a model without a known field to disable it",
      { enabled: false },
      { canDisable: true as const },
      undefined,
      1,
    ],
    [
      "no reasoning, from a model that always reasons",
      { enabled: false },
      { efforts: ["minimal", "low"] },
      "minimal",
      1,
    ],
    ["adaptive reasoning", { adaptive: true, enabled: true }, {}, "medium", 0],
    ["a high effort, from a model that is not known to reason", { effort: "high" }, null, undefined, 1],
    ["no reasoning, from a model that is not known to reason", { enabled: false }, null, undefined, 0],
  ])("reasoning parameters are fitted to the model: %s", (_, given, known, effort, warned) => {
    const { body, warnings } = encode({ reasoning: makeParameters(given) }, { ...TARGET, reasoning: known });
    expect(body["reasoning_effort"]).toBe(effort);
    expect(warnings).toHaveLength(warned);
  });
});
