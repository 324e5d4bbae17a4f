import type { Fields } from "../../../src/base/json/fields.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import type { Client } from "../formats.ts";
import type { Expected } from "../probe.ts";

/** One feature of requests, in each client API that can express it. */
export interface RequestCase {
  readonly name: string;
  /** The fields that are added to a minimal request. */
  readonly bodies: Readonly<Partial<Record<Client, Fields>>>;
  /** The expected form in each upstream format, or several possible forms; absent for formats that cannot express it. */
  readonly kept: Readonly<Partial<Record<FormatName, Expected | readonly Expected[]>>>;
  /** Matches the field in the warning or error if the feature is not kept. */
  readonly field: RegExp;
  /** The reason why a format does not need the feature. */
  readonly needless?: Readonly<Partial<Record<FormatName, string>>>;
}

const HELLO = [{ role: "user", content: "Hello" }];

/** Returns a minimal request with additional fields. */
export function makeBody(client: Client, fields: Fields): Fields {
  const model = "acme/model";
  if (client === "responses") return { model, max_output_tokens: 4_000, input: HELLO, ...fields };
  const bound = "max_completion_tokens" in fields ? {} : { max_tokens: 4_000 };
  return { model, ...bound, messages: HELLO, ...fields };
}

/** Returns requests with one user message of a text and these parts. */
export function asked(parts: Readonly<Partial<Record<Client, readonly Fields[]>>>): RequestCase["bodies"] {
  const bodies: Partial<Record<Client, Fields>> = {};
  for (const [client, content] of Object.entries(parts) as [Client, readonly Fields[]][]) {
    const text = { type: client === "responses" ? "input_text" : "text", text: "What is this?" };
    const message = { role: "user", content: [text, ...content] };
    bodies[client] = client === "responses" ? { input: [message] } : { messages: [message] };
  }
  return bodies;
}

/** Returns requests with a turn of the model between two user messages: a message's fields, items, or blocks. */
export function answered(turn: {
  readonly chat: Fields;
  readonly responses: readonly Fields[];
  readonly messages: readonly Fields[];
}): RequestCase["bodies"] {
  const [hello, more] = [
    { role: "user", content: "Hello" },
    { role: "user", content: "Go on" },
  ];
  return {
    chat: { messages: [hello, { role: "assistant", ...turn.chat }, more] },
    responses: { input: [hello, ...turn.responses, more] },
    messages: { messages: [hello, { role: "assistant", content: turn.messages }, more] },
  };
}

/** Returns the tool `look` with an argument `place` in each client API, with additional fields. */
export function lookTool(fields: Fields = {}): Readonly<Record<Client, Fields>> {
  const schema = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };
  const described = { name: "look", description: "Looks at a place." };
  return {
    chat: { type: "function", function: { ...described, parameters: schema, ...fields } },
    responses: { type: "function", ...described, parameters: schema, ...fields },
    messages: { ...described, input_schema: schema, ...fields },
  };
}

/** Returns fields for each client API. */
export function everywhere(make: (client: Client) => Fields): Readonly<Record<Client, Fields>> {
  return { chat: make("chat"), responses: make("responses"), messages: make("messages") };
}

/** Returns requests with a call of `look` and its result, in each client API. */
export function called(turn: {
  readonly chat?: { readonly message?: Fields; readonly call?: Fields; readonly result?: Fields };
  readonly responses?: {
    readonly before?: readonly Fields[];
    readonly call?: Fields;
    readonly result?: Fields;
  };
  readonly messages?: {
    readonly before?: readonly Fields[];
    readonly call?: Fields;
    readonly result?: Fields;
  };
}): RequestCase["bodies"] {
  const tools = lookTool();
  const args = { place: "Oslo" };
  const { chat, responses, messages } = turn;
  const user: Fields = { role: "user", content: "Hello" };
  return {
    ...(chat === undefined
      ? {}
      : {
          chat: {
            tools: [tools.chat],
            messages: [
              user,
              {
                role: "assistant",
                content: null,
                ...chat.message,
                tool_calls: [
                  {
                    id: "call_1",
                    type: "function",
                    function: { name: "look", arguments: JSON.stringify(args) },
                    ...chat.call,
                  },
                ],
              },
              { role: "tool", tool_call_id: "call_1", content: "Rain.", ...chat.result },
            ],
          },
        }),
    ...(responses === undefined
      ? {}
      : {
          responses: {
            tools: [tools.responses],
            input: [
              user,
              ...(responses.before ?? []),
              {
                type: "function_call",
                call_id: "call_1",
                name: "look",
                arguments: JSON.stringify(args),
                ...responses.call,
              },
              { type: "function_call_output", call_id: "call_1", output: "Rain.", ...responses.result },
            ],
          },
        }),
    ...(messages === undefined
      ? {}
      : {
          messages: {
            max_tokens: 4_000,
            tools: [tools.messages],
            messages: [
              user,
              {
                role: "assistant",
                content: [
                  ...(messages.before ?? []),
                  { type: "tool_use", id: "call_1", name: "look", input: args, ...messages.call },
                ],
              },
              {
                role: "user",
                content: [
                  { type: "tool_result", tool_use_id: "call_1", content: "Rain.", ...messages.result },
                ],
              },
            ],
          },
        }),
  };
}
