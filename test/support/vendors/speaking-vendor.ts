import { chunkOf, closing, documentOf, type Play, USAGE } from "./vendor.ts";

/** What a simulated vendor says in one answer. */
export interface Speech {
  /** The text, in pieces. */
  readonly text?: readonly string[];
  /** The reasoning, in pieces. */
  readonly reasoning?: readonly string[];
  /** The arguments of a call of the function `find`, in pieces. */
  readonly call?: readonly string[];
}

/** Formats that the vendor speaks. */
export type SpokenFormat = "openai-chat" | "anthropic-messages" | "openai-responses";

/** Returns a vendor that says this in the format of the path that it is called at, streamed if the request asks for it. */
export function speak(speech: Speech): Play {
  return async (call) => {
    const [, path = ""] = call.head.split(" ");
    const format = FORMATS[path.slice(path.lastIndexOf("/") + 1)] ?? CHAT;
    if (!call.isStream) return call.respond(200, format.whole(speech));
    await call.begin();
    for (const event of format.stream(speech)) {
      const { type } = event as { readonly type?: string };
      const name = type === undefined ? "" : `event: ${type}\n`;
      await call.piece(`${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    }
    await call.end();
  };
}

interface Speaking {
  whole(speech: Speech): unknown;
  stream(speech: Speech): readonly unknown[];
}

const join = (pieces: readonly string[] = []) => pieces.join("");

const CHAT: Speaking = {
  whole({ text, reasoning, call }) {
    const document = documentOf(join(text));
    const [choice] = document.choices;
    const message = {
      ...choice!.message,
      ...(reasoning && { reasoning_content: join(reasoning) }),
      ...(call && { tool_calls: [chatCall(join(call))] }),
    };
    return { ...document, choices: [{ ...choice, message, finish_reason: call ? "tool_calls" : "stop" }] };
  },
  stream: ({ text = [], reasoning = [], call }) => [
    chunkOf({ role: "assistant", content: "" }),
    ...reasoning.map((piece) => chunkOf({ reasoning_content: piece })),
    ...text.map((content) => chunkOf({ content })),
    ...(call === undefined ? [] : [chunkOf({ tool_calls: [{ index: 0, ...chatCall("") }] })]),
    ...(call ?? []).map((piece) => chunkOf({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
    ...closing(call ? "tool_calls" : "stop"),
  ],
};

function chatCall(args: string) {
  return { id: "call_1", type: "function", function: { name: "find", arguments: args } };
}

const MESSAGE_USAGE = { input_tokens: 10, output_tokens: 5 };

const MESSAGES: Speaking = {
  whole: ({ text, reasoning, call }) => ({
    ...MESSAGE,
    content: [
      ...(reasoning ? [{ type: "thinking", thinking: join(reasoning), signature: "c2ln" }] : []),
      ...(text ? [{ type: "text", text: join(text) }] : []),
      ...(call ? [{ type: "tool_use", id: "toolu_1", name: "find", input: JSON.parse(join(call)) }] : []),
    ],
    stop_reason: call ? "tool_use" : "end_turn",
    usage: MESSAGE_USAGE,
  }),
  stream({ text, reasoning, call }) {
    const blocks = [
      ...(reasoning ? [block({ type: "thinking", thinking: "" }, "thinking", reasoning)] : []),
      ...(text ? [block({ type: "text", text: "" }, "text", text)] : []),
      ...(call
        ? [block({ type: "tool_use", id: "toolu_1", name: "find", input: {} }, "partial_json", call)]
        : []),
    ];
    return [
      {
        type: "message_start",
        message: { ...MESSAGE, content: [], stop_reason: null, usage: MESSAGE_USAGE },
      },
      ...blocks.flatMap((events, index) => events.map((event) => ({ ...event, index }))),
      { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn" }, usage: MESSAGE_USAGE },
      { type: "message_stop" },
    ];
  },
};

const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "up" };
const DELTAS: Readonly<Record<string, string>> = {
  thinking: "thinking_delta",
  text: "text_delta",
  partial_json: "input_json_delta",
};

function block(start: unknown, field: string, pieces: readonly string[]): Record<string, unknown>[] {
  return [
    { type: "content_block_start", content_block: start },
    ...pieces.map((piece) => ({
      type: "content_block_delta",
      delta: { type: DELTAS[field], [field]: piece },
    })),
    { type: "content_block_stop" },
  ];
}

const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "up" };
const RESPONSE_USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

/** Has no reasoning: only its summaries are readable, which are events of their own. */
const RESPONSES: Speaking = {
  whole: (speech) => ({ ...RESPONSE, status: "completed", output: itemsOf(speech), usage: RESPONSE_USAGE }),
  stream(speech) {
    const items = itemsOf(speech);
    const events = items.flatMap((item, output_index) => itemEvents(item, { speech, output_index }));
    const created = { ...RESPONSE, status: "in_progress", output: [] };
    const completed = { ...RESPONSE, status: "completed", output: items, usage: RESPONSE_USAGE };
    return [
      { type: "response.created", response: created },
      ...events,
      { type: "response.completed", response: completed },
    ].map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

function itemsOf({ text, call }: Speech) {
  const part = { type: "output_text", text: join(text), annotations: [] };
  return [
    ...(text
      ? [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] }]
      : []),
    ...(call
      ? [
          {
            id: "fc_1",
            type: "function_call",
            status: "completed",
            call_id: "call_1",
            name: "find",
            arguments: join(call),
          },
        ]
      : []),
  ];
}

function itemEvents(
  item: ReturnType<typeof itemsOf>[number],
  { speech, output_index }: { readonly speech: Speech; readonly output_index: number },
): Record<string, unknown>[] {
  const about = { item_id: item.id, output_index };
  const empty = "arguments" in item ? { ...item, arguments: "" } : { ...item, content: [] };
  const added = {
    type: "response.output_item.added",
    output_index,
    item: { ...empty, status: "in_progress" },
  };
  const done = { type: "response.output_item.done", output_index, item };
  if ("arguments" in item) {
    const deltas = (speech.call ?? []).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...about,
      delta,
    }));
    return [
      added,
      ...deltas,
      { type: "response.function_call_arguments.done", ...about, arguments: item.arguments },
      done,
    ];
  }
  const [part] = item.content;
  const where = { ...about, content_index: 0 };
  return [
    added,
    { type: "response.content_part.added", ...where, part: { ...part, text: "" } },
    ...(speech.text ?? []).map((delta) => ({ type: "response.output_text.delta", ...where, delta })),
    { type: "response.output_text.done", ...where, text: part!.text },
    { type: "response.content_part.done", ...where, part },
    done,
  ];
}

const FORMATS: Readonly<Record<string, Speaking>> = {
  completions: CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
};

/** The usage of every answer, as the gateway counts it. */
export const SPOKEN_TOKENS = { prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens };
