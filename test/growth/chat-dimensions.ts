import { type Dimension, members, times } from "./dimension.ts";
import { SCHEMA_DIMENSIONS } from "./schema-dimensions.ts";

type Body = Readonly<Record<string, unknown>>;

const user = (content: unknown): Body => ({ role: "user", content });
const assistant = (fields: Body): Body => ({ role: "assistant", content: null, ...fields });
const call = (id: string): Body => ({
  id,
  type: "function",
  function: { name: "look_up", arguments: '{"a":1}' },
});
const result = (id: string): Body => ({ role: "tool", tool_call_id: id, content: "Found." });
const tool = (name: string, parameters: unknown = { type: "object", properties: {} }): Body => ({
  type: "function",
  function: { name, description: "Looks something up.", parameters },
});
const image: Body = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const file = (filename: string): Body => ({
  type: "file",
  file: { filename, file_data: "data:application/pdf;base64,AAAA" },
});
const textPart: Body = { type: "text", text: "Hello!" };
const detail = (fields: Body): Body => ({ type: "reasoning.text", text: "So. ", index: 0, ...fields });
const encrypted = (id: string, index: number): Body => ({
  type: "reasoning.encrypted",
  data: "AAAA",
  format: "google-gemini-v1",
  id,
  index,
});
const asked = (...messages: readonly Body[]): Body => ({ model: "acme/model", messages });
const replied = (fields: Body, ...rest: readonly Body[]): Body =>
  asked(user("Go on."), assistant(fields), ...rest, user("And now?"));

/** Dimensions of a chat completion request. */
const DIMENSIONS: Readonly<Record<string, (n: number) => Body>> = {
  "messages of a user": (n) => asked(...times(n, () => user("Hello!"))),
  "messages in turns": (n) =>
    asked(...times(n, (at) => (at % 2 === 0 ? user("Hello!") : assistant({ content: "Hello to you." })))),
  "system messages": (n) =>
    asked(...times(n, () => ({ role: "system", content: "Be brief." })), user("Hello!")),
  "developer messages behind the first others": (n) =>
    asked(user("Hello!"), ...times(n, () => ({ role: "developer", content: "Be brief." }))),
  "assistant messages": (n) => asked(user("Hello!"), ...times(n, () => assistant({ content: "Well." }))),
  "named messages": (n) => asked(...times(n, (at) => ({ ...user("Hello!"), name: `name_${at}` }))),
  "text parts of a message": (n) => asked(user(times(n, () => textPart))),
  "text parts of an assistant's message": (n) => replied({ content: times(n, () => textPart) }),
  "text parts of a tool's message": (n) =>
    replied({ tool_calls: [call("c")] }, { ...result("c"), content: times(n, () => textPart) }),
  "images of a message": (n) => asked(user(times(n, () => image))),
  "images of a tool's message": (n) =>
    replied({ tool_calls: [call("c")] }, { ...result("c"), content: times(n, () => image) }),
  "files of one name": (n) => asked(user(times(n, () => file("report.pdf")))),
  "files of different names": (n) => asked(user(times(n, (at) => file(`report ${at}.pdf`)))),
  "parts with cache marks": (n) =>
    asked(user(times(n, () => ({ ...textPart, cache_control: { type: "ephemeral" } })))),
  "parts of an unknown type": (n) => asked(user(times(n, () => ({ type: "hologram", hologram: 1 })))),
  "refusals among an assistant's parts": (n) =>
    replied({ content: times(n, () => ({ type: "refusal", refusal: "No." })) }),
  "thinking parts": (n) => replied({ content: times(n, () => ({ type: "thinking", thinking: [textPart] })) }),
  "tool calls without results": (n) => replied({ tool_calls: times(n, (at) => call(`c${at}`)) }),
  "tool calls with results": (n) =>
    replied({ tool_calls: times(n, (at) => call(`c${at}`)) }, ...times(n, (at) => result(`c${at}`))),
  "tool calls with results in reverse": (n) =>
    replied({ tool_calls: times(n, (at) => call(`c${at}`)) }, ...times(n, (at) => result(`c${n - at}`))),
  "tool calls of one id": (n) => replied({ tool_calls: times(n, () => call("c")) }, result("c")),
  "tool calls without an id": (n) => replied({ tool_calls: times(n, () => call("")) }),
  "tool calls with ids that no provider takes": (n) =>
    replied({ tool_calls: times(n, (at) => call(`call#${at}`)) }),
  "turns with a tool call": (n) =>
    asked(
      user("Go on."),
      ...times(n, (at) => [assistant({ tool_calls: [call(`c${at}`)] }), result(`c${at}`)]).flat(),
    ),
  "turns with a tool call of one id": (n) =>
    asked(user("Go on."), ...times(n, () => [assistant({ tool_calls: [call("c")] }), result("c")]).flat()),
  "results without calls": (n) => replied({ content: "Well." }, ...times(n, (at) => result(`c${at}`))),
  "members of a tool call's arguments": (n) =>
    replied({
      tool_calls: [
        { ...call("c"), function: { name: "look_up", arguments: JSON.stringify(members(n, () => "value")) } },
      ],
    }),
  "characters of arguments that are not JSON": (n) =>
    replied({ tool_calls: [{ ...call("c"), function: { name: "look_up", arguments: "{".repeat(n) } }] }),
  "custom tool calls": (n) =>
    replied({
      tool_calls: times(n, (at) => ({ id: `c${at}`, type: "custom", custom: { name: "run", input: "ls" } })),
    }),
  "tool calls with a long name": (n) =>
    replied({
      tool_calls: times(n, (at) => ({
        ...call(`c${at}`),
        function: { name: `${at} ${"n".repeat(80)}`, arguments: "" },
      })),
    }),
  "reasoning details of one index": (n) =>
    replied({ content: "Well.", reasoning_details: times(n, () => detail({})) }),
  "reasoning details of different indexes": (n) =>
    replied({ content: "Well.", reasoning_details: times(n, (index) => detail({ index })) }),
  "signed reasoning details": (n) =>
    replied({
      content: "Well.",
      reasoning_details: times(n, (index) =>
        detail({ index, signature: "AAAA", format: "anthropic-claude-v1" }),
      ),
    }),
  "encrypted reasoning details": (n) =>
    replied({ content: "Well.", reasoning_details: times(n, (index) => encrypted(`d${index}`, index)) }),
  "encrypted reasoning details and as many tool calls": (n) =>
    replied({
      tool_calls: times(n, (at) => call(`c${at}`)),
      reasoning_details: times(n, (index) => encrypted(`d${index}`, index)),
    }),
  "encrypted reasoning details that prove tool calls": (n) =>
    replied({
      tool_calls: times(n, (at) => call(`c${at}`)),
      reasoning_details: times(n, (index) => encrypted(`c${n - index}`, index)),
    }),
  "encrypted reasoning details that prove one tool call": (n) =>
    replied({ tool_calls: [call("c")], reasoning_details: times(n, (index) => encrypted("c", index)) }),
  "thought signatures on tool calls": (n) =>
    replied({
      tool_calls: times(n, (at) => ({
        ...call(`c${at}`),
        extra_content: { google: { thought_signature: "AAAA" } },
      })),
    }),
  "characters of reasoning": (n) => replied({ content: "Well.", reasoning_content: "word ".repeat(n) }),
  tools: (n) => ({ ...asked(user("Hello!")), tools: times(n, (at) => tool(`tool_${at}`)) }),
  "tools of one name": (n) => ({ ...asked(user("Hello!")), tools: times(n, () => tool("tool")) }),
  "strict tools": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => ({
      type: "function",
      function: {
        name: `tool_${at}`,
        strict: true,
        parameters: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      },
    })),
  }),
  "custom tools": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => ({ type: "custom", custom: { name: `tool_${at}`, format: { type: "text" } } })),
  }),
  "tools of an unknown type": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => ({ type: `tool_${at}` })),
  }),
  "tools that are allowed": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => tool(`tool_${at}`)),
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: {
        mode: "auto",
        tools: times(n, (at) => ({ type: "function", function: { name: `tool_${at}` } })),
      },
    },
  }),
  "stop sequences": (n) => ({ ...asked(user("Hello!")), stop: times(n, (at) => `stop ${at}`) }),
  "tokens of logit_bias": (n) => ({
    ...asked(user("Hello!")),
    logit_bias: Object.fromEntries(times(n, (at) => [at, 1])),
  }),
  "members of metadata": (n) => ({ ...asked(user("Hello!")), metadata: members(n, () => "value") }),
  "unknown fields": (n) => ({ ...asked(user("Hello!")), ...members(n, () => 1) }),
  "unknown fields of a message": (n) => asked({ ...user("Hello!"), ...members(n, () => 1) }),
  "unknown fields of a part": (n) => asked(user([{ ...textPart, ...members(n, () => 1) }])),
  "values of an unknown field": (n) => ({ ...asked(user("Hello!")), unknown: times(n, () => []) }),
  "providers to ask first": (n) => ({
    ...asked(user("Hello!")),
    provider: { order: times(n, (at) => `p${at}`) },
  }),
  "providers to ignore": (n) => ({
    ...asked(user("Hello!")),
    provider: { ignore: times(n, (at) => `p${at}`) },
  }),
  "characters of a text": (n) => asked(user("word ".repeat(n))),
  "escaped characters of a text": (n) => asked(user('\\"\n'.repeat(n))),
  "characters of a text in another script": (n) => asked(user("中文 ".repeat(n))),
  "emoji of a text": (n) => asked(user("😀".repeat(n))),
  "blanks of a text": (n) => asked(user(" ".repeat(n))),
  "characters of a user's name": (n) => ({ ...asked(user("Hello!")), user: "u".repeat(n) }),
  "characters of a session's name": (n) => ({ ...asked(user("Hello!")), session_id: "s".repeat(n) }),
  "characters of an address": (n) =>
    asked(user([{ type: "image_url", image_url: { url: `https://a.b/${"c.".repeat(n)}` } }])),
};

const forTools = Object.entries(SCHEMA_DIMENSIONS).map(
  ([name, schema]): Dimension => ({
    name: `${name} of a tool`,
    body: (n) => ({ ...asked(user("Hello!")), tools: [tool("tool", schema(n))] }),
  }),
);

const forStrictTools = Object.entries(SCHEMA_DIMENSIONS).map(
  ([name, schema]): Dimension => ({
    name: `${name} of an answer`,
    body: (n) => ({
      ...asked(user("Hello!")),
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", strict: true, schema: schema(n) },
      },
    }),
  }),
);

export const CHAT_DIMENSIONS: readonly Dimension[] = [
  ...Object.entries(DIMENSIONS).map(([name, body]) => ({ name, body })),
  ...forTools,
  ...forStrictTools,
];
