import { describe, expect, test } from "bun:test";
import { parseChatRequest } from "../../../src/wire/client-apis/chat-request.ts";
import type { UpstreamTarget } from "../../../src/wire/client-apis/request/inference-request.ts";
import { FORMAT_NAMES, type FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";
import { OPENAI_TRAITS } from "../../../src/wire/openai-chat/fit-messages.ts";
import { makeTarget } from "../../fidelity/targets.ts";

const long = (text: string) => `${text} “ä” \\ "quoted"\n`.repeat(40);
const call = (id: string) => ({
  id,
  type: "function",
  function: { name: "read", arguments: JSON.stringify({ path: long("a/b") }) },
});
const CONVERSATION = [
  { role: "system", content: long("Rules.") },
  { role: "user", content: [{ type: "text", text: long("Look."), cache_control: { type: "ephemeral" } }] },
  { role: "assistant", content: long("I look."), tool_calls: [call("call_1"), call("call_2")] },
  { role: "tool", tool_call_id: "call_2", content: long("two") },
  { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: long("one") }] },
  { role: "system", content: long("Mind.") },
  { role: "user", content: "So?" },
  { role: "assistant", content: `${long("So")}  ` },
];

function encode(json: string, format: FormatName) {
  const target: UpstreamTarget = {
    provider: {
      format,
      model: { name: "model-1", maxOutputTokens: 1000, reasoning: null },
      toolCalls: toolCallRulesOf(format, "openai"),
      noStreamOptions: false,
      renames: [],
      knownFields: null,
      knownMessageFields: new Set(),
      takesThinkingParts: false,
      takesCustomTools: true,
      refusedFields: new Set(["prediction"]),
      traits: OPENAI_TRAITS,
      // Forces translation even to the client's own format.
      bodyFields: { absent: null },
    },
    withReasoning: true,
    overrides: null,
    recallTurn: () => null,
    hashUser: (user) => `hashed(${user})`,
  };
  const request = parseChatRequest(Buffer.from(json), (id) => id);
  const text = request.encoding.encode(target).body.toString();
  return { text, body: JSON.parse(text) };
}

describe("a translated chat request", () => {
  test.each(FORMAT_NAMES)(
    "to %s has the same meaning whether or not its long texts are replaced by placeholders",
    (format) => {
      const request = { model: "m", messages: CONVERSATION };
      // A body that contains the mark of the placeholders is decoded whole.
      const read = encode(JSON.stringify({ ...request, prediction: "\u0001" }), format);
      expect(encode(JSON.stringify(request), format).body).toEqual(read.body);
    },
  );

  test("keeps long texts byte for byte, with the client's escapes", () => {
    const text = `see \\u00e4\\/${"x".repeat(400)}\\ud83d\\ude00`;
    const sent = encode(`{"model":"m","messages":[{"role":"user","content":"${text}"}]}`, "gemini");
    expect(sent.text).toContain(`"${text}"`);
  });
});

test("a vendor that rejects unknown fields gets only known ones, and a warning names each dropped field", () => {
  const settings = { user: "ada", safety_identifier: "ada", logit_bias: { 1: 1 }, prompt_cache_key: "k" };
  const body = { model: "m", messages: [{ role: "user", content: "Hi" }], ...settings };
  const request = parseChatRequest(Buffer.from(JSON.stringify(body)), (id) => id);
  const knownFields = new Set(["model", "messages", "prompt_cache_key"]);
  const chat = makeTarget("openai-chat");
  const encoded = request.encoding.encode({ ...chat, provider: { ...chat.provider, knownFields } });
  const { model, messages, prompt_cache_key } = { ...body, model: "gpt-target" };
  expect(JSON.parse(encoded.body.toString())).toEqual({ model, messages, prompt_cache_key });
  const fields = encoded.warnings.map(({ field }) => field).sort();
  expect(fields).toEqual(["logit_bias", "safety_identifier", "user"]);
});
