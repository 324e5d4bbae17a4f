import { chunkOf, closing, documentOf, type Play, USAGE } from "./vendor.ts";

/** What a simulated vendor says in one answer. */
export interface Speech {
  /** The text, in pieces. */
  readonly text?: readonly string[];
  /** The reasoning, in pieces. */
  readonly reasoning?: readonly string[];
  /** The arguments of a call of a function, in pieces. */
  readonly call?: readonly string[];
  /** The name of that function, `find` by default. */
  readonly name?: string;
  /** The phase of the text, which only Responses have. */
  readonly phase?: string;
  /** The answer is cut off at its limit of tokens. */
  readonly isCut?: true;
}

/** Formats that the vendor speaks. */
export type SpokenFormat = "openai-chat" | "anthropic-messages" | "openai-responses" | "gemini";

/** Returns a vendor that says this in the format of the path that it is called at, streamed if the request asks for it. */
export function speak(speech: Speech): Play {
  return async (call) => {
    const [, path = ""] = call.head.split(" ");
    const method = /(\w+)(?:\?.*)?$/.exec(path)?.[1] ?? "";
    const format = FORMATS[method] ?? CHAT;
    if (!call.isStream && method !== "streamGenerateContent")
      return call.respond(200, format.whole(speech, call.body));
    await call.begin(200, { "content-type": "text/event-stream" });
    for (const event of format.stream(speech, call.body)) {
      const { type } = event as { readonly type?: string };
      const name = type === undefined ? "" : `event: ${type}\n`;
      await call.piece(`${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    }
    await call.end();
  };
}

interface Speaking {
  whole(speech: Speech, asked: Body): unknown;
  stream(speech: Speech, asked: Body): readonly unknown[];
}

const join = (pieces: readonly string[] = []) => pieces.join("");

const CHAT: Speaking = {
  whole({ text, reasoning, call, name, isCut }) {
    const document = documentOf(join(text));
    const [choice] = document.choices;
    const message = {
      ...choice!.message,
      ...(reasoning && { reasoning_content: join(reasoning) }),
      ...(call && { tool_calls: [chatCall(join(call), name)] }),
    };
    const finish_reason = isCut ? "length" : call ? "tool_calls" : "stop";
    return { ...document, choices: [{ ...choice, message, finish_reason }] };
  },
  stream: ({ text = [], reasoning = [], call, name, isCut }) => [
    chunkOf({ role: "assistant", content: "" }),
    ...reasoning.map((piece) => chunkOf({ reasoning_content: piece })),
    ...text.map((content) => chunkOf({ content })),
    ...(call === undefined ? [] : [chunkOf({ tool_calls: [{ index: 0, ...chatCall("", name) }] })]),
    ...(call ?? []).map((piece) => chunkOf({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
    ...closing(isCut ? "length" : call ? "tool_calls" : "stop"),
  ],
};

const FUNCTION = "find";

function chatCall(args: string, name = FUNCTION) {
  return { id: "call_1", type: "function", function: { name, arguments: args } };
}

const MESSAGE_USAGE = { input_tokens: 10, output_tokens: 5 };

const MESSAGES: Speaking = {
  whole: ({ text, reasoning, call, name = FUNCTION, isCut }) => ({
    ...MESSAGE,
    content: [
      ...(reasoning ? [{ type: "thinking", thinking: join(reasoning), signature: "c2ln" }] : []),
      ...(text ? [{ type: "text", text: join(text) }] : []),
      ...(call ? [{ type: "tool_use", id: "toolu_1", name, input: JSON.parse(join(call)) }] : []),
    ],
    stop_reason: stopReason(call, isCut),
    usage: MESSAGE_USAGE,
  }),
  stream({ text, reasoning, call, name = FUNCTION, isCut }) {
    const blocks = [
      ...(reasoning ? [block({ type: "thinking", thinking: "" }, "thinking", reasoning)] : []),
      ...(text ? [block({ type: "text", text: "" }, "text", text)] : []),
      ...(call ? [block({ type: "tool_use", id: "toolu_1", name, input: {} }, "partial_json", call)] : []),
    ];
    return [
      {
        type: "message_start",
        message: { ...MESSAGE, content: [], stop_reason: null, usage: MESSAGE_USAGE },
      },
      ...blocks.flatMap((events, index) => events.map((event) => ({ ...event, index }))),
      { type: "message_delta", delta: { stop_reason: stopReason(call, isCut) }, usage: MESSAGE_USAGE },
      { type: "message_stop" },
    ];
  },
};

function stopReason(call: Speech["call"], isCut: Speech["isCut"]): string {
  if (isCut) return "max_tokens";
  return call ? "tool_use" : "end_turn";
}

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

const RESPONSES: Speaking = {
  whole: (speech, asked) => ({
    ...RESPONSE,
    ...echoOf(asked),
    ...endOf(speech),
    output: itemsOf(speech),
    usage: RESPONSE_USAGE,
  }),
  stream(speech, asked) {
    const items = itemsOf(speech);
    const events = items.flatMap((item, output_index) => itemEvents(item, { speech, output_index }));
    const response = { ...RESPONSE, ...echoOf(asked) };
    const created = { ...response, status: "in_progress", output: [] };
    const end = endOf(speech);
    const ended = { ...response, ...end, output: items, usage: RESPONSE_USAGE };
    return [
      { type: "response.created", response: created },
      ...events,
      { type: `response.${end.status}`, response: ended },
    ].map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

/** The fields of a request that are no part of its response, or are others there. */
const UNREPEATED = new Set(["input", "stream", "include", "service_tier", "model", "store"]);

function echoOf(asked: Body): Body {
  return Object.fromEntries(Object.entries(asked).filter(([name]) => !UNREPEATED.has(name)));
}

/** Later than any clock of a test. Seconds since the epoch. */
const COMPLETED_AT = 4_000_000_000;

function endOf({ isCut }: Speech) {
  return isCut
    ? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    : { status: "completed", completed_at: COMPLETED_AT, incomplete_details: null };
}

function itemsOf({ text, reasoning, call, name = FUNCTION, phase, isCut }: Speech) {
  const status = isCut ? "incomplete" : "completed";
  const part = { type: "output_text", text: join(text), annotations: [] };
  return [
    ...(reasoning
      ? [{ id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: join(reasoning) }] }]
      : []),
    ...(text
      ? [
          {
            id: "msg_1",
            type: "message",
            role: "assistant",
            status,
            content: [part],
            ...(phase && { phase }),
          },
        ]
      : []),
    ...(call
      ? [
          {
            id: "fc_1",
            type: "function_call",
            status,
            call_id: "call_1",
            name,
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
  const added = { type: "response.output_item.added", output_index, item: begunItem(item) };
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
  if ("summary" in item) {
    const where = { ...about, summary_index: 0 };
    const names = { part: "response.reasoning_summary_part", text: "response.reasoning_summary_text" };
    return [
      added,
      ...partEvents(names, { where, part: item.summary[0]!, pieces: speech.reasoning ?? [] }),
      done,
    ];
  }
  const where = { ...about, content_index: 0 };
  const names = { part: "response.content_part", text: "response.output_text" };
  return [added, ...partEvents(names, { where, part: item.content[0]!, pieces: speech.text ?? [] }), done];
}

function begunItem(item: ReturnType<typeof itemsOf>[number]): Record<string, unknown> {
  if ("summary" in item) return { ...item, summary: [] };
  const empty = "arguments" in item ? { arguments: "" } : { content: [] };
  return { ...item, ...empty, status: "in_progress" };
}

/** A part of an item, its position, and its text as it is streamed. */
interface SpokenPart {
  readonly where: Readonly<Record<string, unknown>>;
  readonly part: { readonly text: string };
  readonly pieces: readonly string[];
}

function partEvents(
  names: { readonly part: string; readonly text: string },
  { where, part, pieces }: SpokenPart,
): Record<string, unknown>[] {
  return [
    { type: `${names.part}.added`, ...where, part: { ...part, text: "" } },
    ...pieces.map((delta) => ({ type: `${names.text}.delta`, ...where, delta })),
    { type: `${names.text}.done`, ...where, text: part.text },
    { type: `${names.part}.done`, ...where, part },
  ];
}

const GEMINI_USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

const GEMINI: Speaking = {
  whole: (speech) =>
    geminiAnswer(geminiParts(speech, [join(speech.text)], [join(speech.reasoning)]), geminiFinish(speech)),
  stream(speech) {
    const parts = geminiParts(speech, speech.text ?? [], speech.reasoning ?? []);
    return parts.map((part, at) =>
      geminiAnswer([part], at === parts.length - 1 ? geminiFinish(speech) : null),
    );
  },
};

function geminiFinish({ isCut }: Speech): string {
  return isCut ? "MAX_TOKENS" : "STOP";
}

function geminiAnswer(parts: readonly unknown[], finishReason: string | null) {
  return {
    candidates: [
      { content: { role: "model", parts }, index: 0, ...(finishReason === null ? {} : { finishReason }) },
    ],
    usageMetadata: finishReason !== null ? GEMINI_USAGE : { promptTokenCount: GEMINI_USAGE.promptTokenCount },
    modelVersion: "up",
    responseId: "vendor",
  };
}

/** A call arrives whole, as Gemini sends it. */
function geminiParts(
  { call, name = FUNCTION }: Speech,
  text: readonly string[],
  reasoning: readonly string[],
): readonly unknown[] {
  return [
    ...reasoning.filter((piece) => piece !== "").map((piece) => ({ text: piece, thought: true })),
    ...text.filter((piece) => piece !== "").map((piece) => ({ text: piece })),
    ...(call ? [{ functionCall: { name, args: JSON.parse(join(call)) } }] : []),
  ];
}

const FORMATS: Readonly<Record<string, Speaking>> = {
  completions: CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
  generateContent: GEMINI,
  streamGenerateContent: GEMINI,
};

/**
 * A vendor whose model behaves like that of an agent: it calls the first function of a request with these arguments until one of
 * the last two messages has results, and then says this.
 */
export function speakAsAgent({ text = [], call = [], ...speech }: Speech): Play {
  return (received) => {
    const name = toolToCall(received.body);
    return speak(name === null ? { ...speech, text } : { ...speech, call, name })(received);
  };
}

/** Matches the result of a call as any format spells it. */
const RESULT = /"(?:tool_result|function_call_output|functionResponse)"|"role":"tool"/;

function toolToCall(body: Body): string | null {
  const [first] = (body["tools"] ?? []) as readonly Body[];
  const messages = (body["messages"] ?? body["contents"] ?? body["input"]) as readonly unknown[] | string;
  if (first === undefined || RESULT.test(JSON.stringify(messages.slice(-2)))) return null;
  if (/"none"|"NONE"/.test(JSON.stringify([body["tool_choice"], body["toolConfig"]]))) return null;
  const [declared] = (first["functionDeclarations"] ?? [first["function"] ?? first]) as readonly Body[];
  return declared === undefined ? null : String(declared["name"]);
}

type Body = Readonly<Record<string, unknown>>;

/** The usage of every answer, as the gateway counts it. */
export const SPOKEN_TOKENS = { prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens };
