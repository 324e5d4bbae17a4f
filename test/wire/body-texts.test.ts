import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ClientApi } from "../../src/wire/client-apis/request/inference-request.ts";
import { type BodyTexts, readRequestTexts } from "../../src/wire/client-apis/texts/body-texts.ts";

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

const NEW_ARGUMENTS = '{"type":"T","CARD":"4111111111111111","SMALL":7,"LIST":["É\\n"]}';

describe("the texts of a request", () => {
  test("of chat are all strings, names and long numbers but ids, words of the API, images and users", () => {
    expect(read("chat.completions", CHAT).texts).toEqual([
      "s",
      "anna",
      "u",
      "r",
      "find",
      "t",
      "card",
      "4111111111111111",
      "small",
      "list",
      "é\n",
      '{"id":"x"}',
      "find",
      "d",
      "e",
    ]);
  });

  test("of chat are replaced where they stand, also within arguments, and nothing else changes", () => {
    const expected = JSON.parse(JSON.stringify(CHAT));
    expected.messages[0].content = "S";
    expected.messages[1].content[0].text = "U";
    expected.messages[2].tool_calls[0].function.arguments = NEW_ARGUMENTS;
    expected.messages[3].content = '{"ID":"X"}';
    expected.messages[1].name = "ANNA";
    expected.messages[2].reasoning_content = "R";
    expected.messages[2].tool_calls[0].function.name = "FIND";
    expected.tools[0].function = {
      name: "FIND",
      description: "D",
      parameters: { type: "object", properties: { a: { enum: ["E"] } } },
    };
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
    const call = ["find", "n", "k", "deep", "i"];
    expect(read("messages", body).texts).toEqual(["s", "plain", "t", "r", ...call, "o"]);
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
    const calls = ["find", "a", "o", "sh", "ls"];
    expect(read("responses", body).texts).toEqual(["s", "2", "c", "n", "u", "data:x", "r", ...calls]);
    expect(read("responses", { model: "m", input: "u" }).texts).toEqual(["u"]);
  });

  test("of text completions, FIM and embeddings are prompts, suffix, inputs and stop sequences", () => {
    const completion = { model: "m", prompt: ["p", "q"], suffix: "s", stop: ["x"], user: "u" };
    expect(read("completions", completion).texts).toEqual(["p", "q", "s", "x"]);
    expect(read("completions", { model: "m", prompt: [1, 2] }).texts).toEqual([]);
    expect(read("fim", { model: "m", prompt: "p", suffix: "s", stop: ["x"] }).texts).toEqual(["p", "s", "x"]);
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
          fc.constantFrom("type", "text", "data", "input", "content", "arguments", "id", 'x"y\u00e9z'),
          tie("value"),
          { maxKeys: 5 },
        ),
      ),
    }));
    fc.assert(
      fc.property(value, fc.boolean(), (content, isIndented) => {
        const call = { function: { arguments: JSON.stringify({ v: content }) } };
        const source = { model: "m", messages: [{ content }, { tool_calls: [call] }], tools: [content] };
        const body = read("chat.completions", JSON.stringify(source, null, isIndented ? 1 : undefined));
        const same = body.replace(new Map(body.texts.map((text, index) => [index, text])));
        expect(stripNumbers(JSON.parse(same.toString("utf8")))).toEqual(stripNumbers(source));
        const masked = body.replace(new Map(body.texts.map((_, index) => [index, "Masked text."])));
        const again = read("chat.completions", masked.toString("utf8"));
        expect(again.texts.filter((text) => text !== "Masked text.")).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

/** Whole numbers of nine digits become strings. */
function stripNumbers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\\*"(-?\d{9,19})\\*"/g, "$1"));
}
