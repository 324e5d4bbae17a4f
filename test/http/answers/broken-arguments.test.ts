import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { type FormatVendors, startFormatVendors } from "../../faults/format-vendors.ts";

let vendors: FormatVendors;
beforeAll(async () => {
  vendors = await startFormatVendors();
});
afterAll(() => vendors.stop());

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
type Json = any;

async function send(path: string, body: Json, format: FormatName): Promise<Json> {
  vendors.reset(format);
  const { base, key } = vendors.gateway;
  const response = await fetch(base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, model: `acme/${format}-alone` }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return vendors.first.calls[0]?.body;
}

const chat = (args: string) => ({
  messages: [
    { role: "user", content: "Write." },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "write", arguments: args } }],
    },
    { role: "tool", tool_call_id: "c1", content: "Bad arguments." },
  ],
  tools: [{ type: "function", function: { name: "write", parameters: { type: "object" } } }],
});
const responses = (args: string) => ({
  input: [
    { role: "user", content: "Write." },
    { type: "function_call", call_id: "c1", name: "write", arguments: args },
    { type: "function_call_output", call_id: "c1", output: "Bad arguments." },
  ],
  tools: [{ type: "function", name: "write", parameters: { type: "object" } }],
});

/** Arguments that are not a JSON object, and what is sent to an upstream of chat completions instead. */
const BROKEN: readonly (readonly [string, string])[] = [
  ['{"path": "a.ts", "text": "cut off', JSON.stringify({ arguments: '{"path": "a.ts", "text": "cut off' })],
  ['{}{"path":"ä"}', JSON.stringify({ arguments: '{}{"path":"ä"}' })],
  ["{'path': 'a'}", JSON.stringify({ arguments: "{'path': 'a'}" })],
  ["[1]", JSON.stringify({ arguments: "[1]" })],
  ["", "{}"],
  ["null", "{}"],
];

describe("tool-call arguments that are not a JSON object", () => {
  test.each(BROKEN)(
    "are sent to a chat completions upstream wrapped in a valid object: %s",
    async (args, sentArgs) => {
      for (const [path, body] of [
        ["/chat/completions", chat(args)],
        ["/responses", responses(args)],
      ] as const) {
        const sent = await send(path, body, "openai-chat");
        expect(sent.messages[1].tool_calls[0].function).toEqual({ name: "write", arguments: sentArgs });
      }
    },
  );

  test.each(FORMAT_NAMES)("are sent to a %s upstream without losing a character", async (format) => {
    const sent = await send("/chat/completions", chat("cut {off"), format);
    expect(JSON.stringify(sent)).toContain("cut {off");
  });
});

test.each([
  "{}",
  '{"path":"a \\"b\\" é"}',
  ' { "a" : [1.50e+1, {"b": null}] } ',
  '{"a":12345678901234567890}',
])(
  "tool-call arguments that are a JSON object are sent to a chat completions upstream byte for byte: %s",
  async (args) => {
    const sent = await send("/chat/completions", chat(args), "openai-chat");
    expect(sent.messages).toEqual(chat(args).messages);
  },
);
