import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type BodyTexts, readRequestTexts } from "../../src/wire/client-apis/body-texts.ts";
import type { ClientApi } from "../../src/wire/client-apis/inference-request.ts";

function read(api: ClientApi, body: unknown): BodyTexts {
  return readRequestTexts(api, Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
}

function replaceAll(body: BodyTexts): unknown {
  const changed = new Map(body.texts.map((text, index) => [index, text.toUpperCase()]));
  return JSON.parse(body.replace(changed).toString("utf8"));
}

const CHAT = {
  model: "acme/model",
  messages: [
    { role: "system", content: "s" },
    {
      role: "user",
      name: "anna",
      content: [
        { type: "text", text: "u" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "r",
      tool_calls: [
        {
          id: "call_1",
          type: "function",
          function: {
            name: "find",
            arguments: '{"type":"t","card":4111111111111111,"small":7,"list":["é\\n"]}',
          },
        },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: '{"id":"x"}' },
  ],
  tools: [
    {
      type: "function",
      function: {
        name: "find",
        description: "d",
        parameters: { type: "object", properties: { a: { enum: ["e"] } } },
      },
    },
  ],
  user: "user-1",
};

const NEW_ARGUMENTS = '{"type":"T","card":"4111111111111111","small":7,"list":["É\\n"]}';

describe("the texts of a request", () => {
  test("of chat are contents, arguments and descriptions, and not ids, names, media and reasoning", () => {
    expect(read("chat.completions", CHAT).texts).toEqual([
      "s",
      "u",
      "t",
      "4111111111111111",
      "é\n",
      '{"id":"x"}',
      "d",
    ]);
  });

  test("of chat are replaced where they stand, also within arguments, and nothing else changes", () => {
    const expected = JSON.parse(JSON.stringify(CHAT));
    expected.messages[0].content = "S";
    expected.messages[1].content[0].text = "U";
    expected.messages[2].tool_calls[0].function.arguments = NEW_ARGUMENTS;
    expected.messages[3].content = '{"ID":"X"}';
    expected.tools[0].function.description = "D";
    expect(replaceAll(read("chat.completions", CHAT))).toEqual(expected);
  });

  test("of Messages are the system prompt, blocks, plain documents, inputs of tools and results", () => {
    const body = {
      model: "m",
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            {
              type: "document",
              source: { data: "plain", media_type: "text/plain", type: "text" },
              title: "t",
            },
            { type: "image", source: { data: "AAAA", media_type: "image/png", type: "base64" } },
            { type: "image", source: { type: "base64", data: "BBBB" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "r", signature: "x" },
            {
              type: "tool_use",
              id: "toolu_1",
              name: "find",
              input: { name: "n", type: "k", deep: [{ id: "i" }] },
            },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "o" }] }],
        },
      ],
    };
    expect(read("messages", body).texts).toEqual(["s", "plain", "t", "n", "k", "i", "o"]);
  });

  test("of Responses are instructions, items, arguments, outputs and variables of a prompt", () => {
    const body = {
      model: "m",
      instructions: "s",
      prompt: { id: "pmpt_1", version: "2", variables: { city: "c", name: "n" } },
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "u" },
            { type: "input_image", image_url: "data:x" },
          ],
        },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "r" }],
          encrypted_content: "x",
        },
        { type: "function_call", call_id: "call_1", name: "find", arguments: '{"q":"a"}' },
        { type: "function_call_output", call_id: "call_1", output: "o" },
        { type: "custom_tool_call", call_id: "call_2", name: "sh", input: "ls" },
      ],
    };
    expect(read("responses", body).texts).toEqual(["s", "c", "n", "u", "a", "o", "ls"]);
    expect(read("responses", { model: "m", input: "u" }).texts).toEqual(["u"]);
  });

  test("of text completions, FIM and embeddings are prompts, suffix and inputs", () => {
    const completion = { model: "m", prompt: ["p", "q"], suffix: "s", stop: ["x"], user: "u" };
    expect(read("completions", completion).texts).toEqual(["p", "q", "s"]);
    expect(read("completions", { model: "m", prompt: [1, 2] }).texts).toEqual([]);
    expect(read("fim", { model: "m", prompt: "p", suffix: "s", stop: ["x"] }).texts).toEqual(["p", "s"]);
    expect(read("embeddings", { model: "m", input: ["a", "b"], user: "x" }).texts).toEqual(["a", "b"]);
    expect(read("embeddings", { model: "m", input: [1, 2] }).texts).toEqual([]);
  });

  test("are found under a name with escapes, and among arguments that are no JSON", () => {
    expect(read("chat.completions", '{"mess\\u0061ges":[{"content":"u"}]}').texts).toEqual(["u"]);
    const call = { function: { arguments: "{broken" } };
    expect(read("chat.completions", { messages: [{ tool_calls: [call] }] }).texts).toEqual(["{broken"]);
  });

  test("are not read from a body that is no JSON", () => {
    for (const body of [
      '{"messages":[{"content":"\\x"}]}',
      '{"messages":[',
      '{"messages":[}',
      "[1",
      '{"a" 1}',
      '{"a":}',
    ])
      expect(() => read("chat.completions", body)).toThrow("not valid JSON");
    expect(() => read("chat.completions", `{"messages":${"[".repeat(300)}`)).toThrow("nesting");
  });

  test("replaced in any body leave valid JSON in which every other value is the same", () => {
    const leaf = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.constant(null), fc.boolean());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        leaf,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(
          fc.constantFrom("type", "text", "data", "input", "content", "arguments", "id", 'x"y\u00e9'),
          tie("value"),
          { maxKeys: 5 },
        ),
      ),
    }));
    fc.assert(
      fc.property(value, fc.boolean(), fc.string({ unit: "binary" }), (content, isIndented, mask) => {
        const call = { function: { arguments: JSON.stringify({ v: content }) } };
        const source = { model: "m", messages: [{ content }, { tool_calls: [call] }], tools: [content] };
        const body = read("chat.completions", JSON.stringify(source, null, isIndented ? 1 : undefined));
        const same = body.replace(new Map(body.texts.map((text, index) => [index, text])));
        expect(stripNumbers(JSON.parse(same.toString("utf8")))).toEqual(stripNumbers(source));
        const masked = body.replace(new Map(body.texts.map((_, index) => [index, mask])));
        const changed = JSON.parse(masked.toString("utf8"));
        const again = read("chat.completions", masked.toString("utf8"));
        expect(again.texts.every((text) => text === mask)).toBe(true);
        expect(shapeOf(changed)).toEqual(shapeOf(source));
      }),
      { numRuns: 300 },
    );
  });
});

/** Whole numbers of nine digits in arguments become strings. */
function stripNumbers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\\?"(-?\d{9,19})\\?"/g, "$1"));
}

/** The value with every string and long number replaced. Arguments are opened. */
function shapeOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner) => {
    if (typeof inner === "number" && /^\d{9,19}$/.test(String(inner))) return "text";
    if (typeof inner !== "string") return inner;
    try {
      const opened = key === "arguments" ? JSON.parse(inner) : null;
      if (typeof opened === "object" && opened !== null) return shapeOf(opened);
    } catch {}
    return "text";
  });
}
