import { type Dimension, members, times } from "./dimension.ts";

type Body = Readonly<Record<string, unknown>>;

const user = (content: unknown): Body => ({ role: "user", content });
const assistant = (content: unknown): Body => ({ role: "assistant", content });
const text: Body = { type: "text", text: "Hello!" };
const use = (id: string): Body => ({ type: "tool_use", id, name: "look_up", input: { a: 1 } });
const result = (id: string): Body => ({ type: "tool_result", tool_use_id: id, content: "Found." });
const image: Body = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const document = (title: string): Body => ({
  type: "document",
  title,
  source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
});
const thinking: Body = { type: "thinking", thinking: "So.", signature: "AAAA" };
const citation: Body = {
  type: "char_location",
  cited_text: "Hello!",
  document_index: 0,
  start_char_index: 0,
  end_char_index: 6,
};
const tool = (name: string, input_schema: unknown = { type: "object", properties: {} }): Body => ({
  name,
  description: "Looks something up.",
  input_schema,
});
const asked = (...messages: readonly Body[]): Body => ({ model: "acme/model", max_tokens: 100, messages });
const replied = (content: unknown, ...rest: readonly Body[]): Body =>
  asked(user("Go on."), assistant(content), ...rest, user("And now?"));

const DIMENSIONS: Readonly<Record<string, (n: number) => Body>> = {
  "messages of a user": (n) => asked(...times(n, () => user("Hello!"))),
  "messages in turns": (n) =>
    asked(...times(n, (at) => (at % 2 === 0 ? user("Hello!") : assistant("Well.")))),
  "system messages among others": (n) =>
    asked(user("Hello!"), ...times(n, () => ({ role: "system", content: "Be brief." }))),
  "blocks of the system": (n) => ({ ...asked(user("Hello!")), system: times(n, () => text) }),
  "text blocks of a message": (n) => asked(user(times(n, () => text))),
  "images of a message": (n) => asked(user(times(n, () => image))),
  "documents of one title": (n) => asked(user(times(n, () => document("Report")))),
  "blocks of a document": (n) =>
    asked(user([{ type: "document", source: { type: "content", content: times(n, () => text) } }])),
  "citations of a text": (n) => replied([{ ...text, citations: times(n, () => citation) }]),
  "tool uses without results": (n) => replied(times(n, (at) => use(`t${at}`))),
  "tool uses with results": (n) =>
    asked(
      user("Go on."),
      assistant(times(n, (at) => use(`t${at}`))),
      user(times(n, (at) => result(`t${at}`))),
    ),
  "tool uses with results in reverse": (n) =>
    asked(
      user("Go on."),
      assistant(times(n, (at) => use(`t${at}`))),
      user(times(n, (at) => result(`t${n - at}`))),
    ),
  "tool uses of one id": (n) => replied(times(n, () => use("t"))),
  "turns with a tool use": (n) =>
    asked(user("Go on."), ...times(n, (at) => [assistant([use(`t${at}`)]), user([result(`t${at}`)])]).flat()),
  "results among texts": (n) =>
    asked(
      user("Go on."),
      assistant(times(n, (at) => use(`t${at}`))),
      user(times(n, (at) => [result(`t${at}`), text]).flat()),
    ),
  "results without tool uses": (n) => asked(user(times(n, (at) => result(`t${at}`)))),
  "blocks of a result": (n) =>
    asked(user("Go on."), assistant([use("t")]), user([{ ...result("t"), content: times(n, () => text) }])),
  "images of a result": (n) =>
    asked(user("Go on."), assistant([use("t")]), user([{ ...result("t"), content: times(n, () => image) }])),
  "tool references of a result": (n) =>
    asked(
      user("Go on."),
      assistant([use("t")]),
      user([
        { ...result("t"), content: times(n, (at) => ({ type: "tool_reference", tool_name: `tool_${at}` })) },
      ]),
    ),
  "members of a tool use's input": (n) => replied([{ ...use("t"), input: members(n, () => "value") }]),
  "thinking blocks": (n) => replied([...times(n, () => thinking), text]),
  "thinking blocks among tool uses": (n) => replied(times(n, (at) => [thinking, use(`t${at}`)]).flat()),
  "redacted thinking blocks": (n) =>
    replied([...times(n, () => ({ type: "redacted_thinking", data: "AAAA" })), text]),
  "blocks of an unknown type": (n) => asked(user(times(n, () => ({ type: "hologram", hologram: 1 })))),
  "server tool uses": (n) =>
    replied(times(n, (at) => ({ type: "server_tool_use", id: `s${at}`, name: "web_search", input: {} }))),
  "blocks with cache marks": (n) =>
    asked(user(times(n, () => ({ ...text, cache_control: { type: "ephemeral" } })))),
  tools: (n) => ({ ...asked(user("Hello!")), tools: times(n, (at) => tool(`tool_${at}`)) }),
  "tools of an unknown type": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => ({ type: `tool_${at}`, name: `t${at}` })),
  }),
  "stop sequences": (n) => ({ ...asked(user("Hello!")), stop_sequences: times(n, (at) => `stop ${at}`) }),
  "members of metadata": (n) => ({ ...asked(user("Hello!")), metadata: members(n, () => "value") }),
  "characters of a user's id": (n) => ({
    ...asked(user("Hello!")),
    metadata: { user_id: `user_a_account__session_${"s".repeat(n)}` },
  }),
  "unknown fields": (n) => ({ ...asked(user("Hello!")), ...members(n, () => 1) }),
  "unknown fields of a block": (n) => asked(user([{ ...text, ...members(n, () => 1) }])),
  "edits of the context": (n) => ({
    ...asked(user("Hello!")),
    context_management: { edits: times(n, () => ({ type: "clear_tool_uses_20250919" })) },
  }),
  "servers of tools": (n) => ({
    ...asked(user("Hello!")),
    mcp_servers: times(n, (at) => ({ type: "url", url: `https://a.b/${at}`, name: `s${at}` })),
  }),
  "characters of a text": (n) => asked(user("word ".repeat(n))),
  "escaped characters of a text": (n) => asked(user('\\"\n'.repeat(n))),
};

/** Dimensions of a Messages request. Schemas are lowered in the same way for all client APIs, so those of chat completions are sufficient. */
export const MESSAGES_DIMENSIONS: readonly Dimension[] = Object.entries(DIMENSIONS).map(([name, body]) => ({
  name,
  body,
}));
