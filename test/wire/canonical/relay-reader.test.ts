import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MessagesRelay } from "../../../src/wire/anthropic-messages/passthrough/relay-stream.ts";
import type { AnswerRelay, RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import { RelayReader } from "../../../src/wire/canonical/answer/relay-reader.ts";
import type { AnswerEnd } from "../../../src/wire/canonical/model/format.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import { ChatRelay } from "../../../src/wire/openai-chat/passthrough/relay-stream.ts";
import { ResponsesRelay } from "../../../src/wire/openai-responses/passthrough/relay-stream.ts";

const identity: RelayIdentity = {
  id: "gen_1",
  model: "acme/model",
  created: 7,
  originalIds: null,
  makeCallId: () => "call_made",
  onTurn: () => {},
};

/** Texts with everything that a copied text must keep, or must not be taken for. */
const text = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    " word",
    'c"}',
    "\\",
    "\n\n",
    "☃ ß 𝄞",
    "\u007f",
    "\u0001",
    "data: {",
    '":"',
    "x".repeat(90),
  ),
  fc.string({ maxLength: 12 }),
);
const index = fc.nat(2);

function chatEvent(delta: object, rest: object = {}, finish: string | null = null, index = 0): string {
  const choices = [{ index, delta, finish_reason: finish, logprobs: null }];
  const start = { id: "c", object: "chat.completion.chunk", created: 7, model: "m" };
  return `data: ${JSON.stringify({ ...start, choices, ...rest })}`;
}

function bytesOf(events: readonly string[]): Buffer {
  return Buffer.from(events.map((event) => `${event}\n\n`).join(""));
}

/** Gives the chat events of a stream an identity of their own. */
function identify(events: readonly string[], id: string, created: number): string[] {
  return events.map((event) =>
    event
      .replace('"id":"c"', () => `"id":${JSON.stringify(id)}`)
      .replace('"created":7', `"created":${created}`),
  );
}

const chat = fc.oneof(
  { arbitrary: text.map((content) => chatEvent({ content })), weight: 6 },
  {
    arbitrary: text.map((content) => chatEvent({ content }, { obfuscation: content.slice(0, 3) })),
    weight: 3,
  },
  text.map((reasoning) => chatEvent({ reasoning })),
  text.map((content) => chatEvent({ role: "assistant", content })),
  text.map((content) => chatEvent({ content }, { service_tier: "default" })),
  text.map((content) => chatEvent({ content }, {}, null, 1)),
  fc.constant(chatEvent({}, { system_fingerprint: "fp" })),
  text.map((part) => chatEvent({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
  index.map((at) => chatEvent({ tool_calls: [{ index: at, id: `c${at}`, function: { name: "f" } }] })),
  fc.constantFrom(chatEvent({}, {}, "stop"), chatEvent({}, { usage: { prompt_tokens: 3 } }), "data: [DONE]"),
  fc.constantFrom(
    ": keep-alive",
    'data: {"error":{"message":"no"}}',
    "data: {",
    "data:",
    "event: x\ndata: 1",
  ),
);

function messagesEvent(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}`;
}

const messages = fc.oneof(
  {
    arbitrary: fc
      .tuple(index, text, fc.constantFrom("text_delta", "signature_delta"))
      .map(([at, part, type]) =>
        messagesEvent("content_block_delta", { index: at, delta: { type, text: part } }),
      ),
    weight: 6,
  },
  index.map((at) =>
    messagesEvent("content_block_start", { index: at, content_block: { type: "text", text: "" } }),
  ),
  index.map((at) => messagesEvent("content_block_stop", { index: at })),
  fc.constantFrom(
    messagesEvent("message_start", { message: { content: [], usage: { input_tokens: 3 } } }),
    messagesEvent("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } }),
    messagesEvent("message_stop", {}),
    messagesEvent("ping", {}),
    'event: content_block_delta\ndata: {"type":\ndata: "content_block_delta"}',
    "event: content_block_delta\ndata: ",
    "event: content_block_delta\ndata:{}",
  ),
);

const responses = fc.oneof(
  {
    arbitrary: fc.tuple(fc.nat(99), index, text).map(([sequence_number, output_index, delta]) =>
      messagesEvent("response.output_text.delta", {
        sequence_number,
        output_index,
        content_index: 0,
        delta,
      }),
    ),
    weight: 6,
  },
  text.map((delta) => messagesEvent("response.function_call_arguments.delta", { output_index: 1, delta })),
  fc.constantFrom(
    messagesEvent("response.created", { response: { id: "r", status: "in_progress" } }),
    messagesEvent("response.completed", { response: { id: "r", status: "completed", output: [] } }),
    "data: [DONE]",
    "data: {",
  ),
);

/** A byte that makes JSON invalid, wherever it is. */
const BROKEN_BYTE = fc.record({ at: fc.nat(), byte: fc.constantFrom(0, 10, 13, 34, 92) });

/** A stream with one kind of line end, sometimes with one broken byte, and the lengths of its pieces. */
function streamOf(event: fc.Arbitrary<string>, mayBreak: boolean) {
  return fc.record({
    events: fc.array(event, { maxLength: 24 }),
    id: fc.constantFrom("c", "d", 'é"$&', ""),
    created: fc.nat({ max: 2 }),
    lineEnd: fc.constantFrom("\n", "\n", "\n", "\r\n", "\r"),
    broken: mayBreak ? fc.option(BROKEN_BYTE, { freq: 4 }) : fc.constant(null),
    isBadUtf8: fc.boolean(),
    lengths: fc.array(fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constant(6000)), { maxLength: 30 }),
  });
}

type Stream = ReturnType<typeof streamOf> extends fc.Arbitrary<infer Value> ? Value : never;

/** The first byte of "☃". */
const SNOWMAN = 0xe2;

function piecesOf({ events, id, created, lineEnd, broken, isBadUtf8, lengths }: Stream): Uint8Array[] {
  const bytes = Buffer.from(
    identify(events, id, created)
      .map((event) => `${event}\n\n`)
      .join("")
      .replaceAll("\n", lineEnd),
  );
  if (broken !== null) bytes[broken.at % bytes.length] = broken.byte;
  if (isBadUtf8) for (let at = 0; at < bytes.length; at++) if (bytes[at] === SNOWMAN) bytes[at] = 0xff;
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const length of [...lengths, bytes.length]) {
    if (from < bytes.length) pieces.push(new Uint8Array(bytes.subarray(from, from + length)));
    from += length;
  }
  return pieces;
}

/** The state of a relay. A chat relay counts the bytes of copied texts as the vendor has escaped them. */
function stateOf(relay: AnswerRelay) {
  const { sawToken, isDone, isFinished, error, usage, searches, producedBytes } = relay;
  const state = { sawToken, isDone, isFinished, error, usage, searches };
  return relay instanceof ChatRelay ? state : { ...state, producedBytes };
}

/** Returns what a client gets of a relay's text. */
function toSent(out: string): string {
  return Buffer.from(out, "latin1").toString("latin1");
}

/** Returns what is compared: a copied chat event has the vendor's escapes, and its padding at the end. */
function comparable(relay: AnswerRelay, sent: string): unknown {
  if (!(relay instanceof ChatRelay)) return sent;
  const events = sent.replace("data: [DONE]\n\n", "").split("\n\n").slice(0, -1);
  return events.map((event) => JSON.parse(event.slice("data: ".length)));
}

const ADDED = messagesEvent("response.output_item.added", {
  output_index: 0,
  item: { type: "message", id: "i" },
});

const END: AnswerEnd = {
  report: {
    usage: NO_TOKENS,
    cost: 0,
    upstreamInferenceCost: 0,
    upstreamPromptCost: 0,
    upstreamCompletionCost: 0,
    isByok: false,
  },
  metadata: null,
};

interface Opening {
  readonly open: () => AnswerRelay;
  /** The event that begins the stream. */
  readonly first: string;
  /** Whether the bytes of an event may be broken. A Responses event that is recognized is not checked as JSON. */
  readonly mayBreak: boolean;
}

const RELAYS: readonly (readonly [string, fc.Arbitrary<string>, Opening])[] = [
  [
    "a chat stream",
    chat,
    {
      open: () => new ChatRelay(identity, true),
      first: chatEvent({ role: "assistant" }),
      mayBreak: true,
    },
  ],
  [
    "a Messages stream",
    messages,
    { open: () => new MessagesRelay(identity, 5), first: messagesEvent("ping", {}), mayBreak: true },
  ],
  [
    "a Responses stream",
    responses,
    { open: () => new ResponsesRelay(identity), first: ADDED, mayBreak: false },
  ],
];

describe("reading the pieces of a stream", () => {
  test.each(RELAYS)(
    "sends the same for %s as reading every event as text, however it is cut",
    (_, event, { open, first, mayBreak }) => {
      fc.assert(
        fc.property(streamOf(event, mayBreak), (stream) => {
          const fast = open();
          const slow = open();
          const reader = new RelayReader(fast);
          let sent = "";
          let expected = "";
          for (const piece of piecesOf({ ...stream, events: [first, ...stream.events] })) {
            sent += reader.read(piece).toString("latin1");
            expected += toSent(slow.step(Buffer.from(piece).toString("latin1")));
            // What is sent must not wait for the next piece.
            expect(comparable(fast, sent)).toEqual(comparable(slow, expected));
            expect(stateOf(fast)).toEqual(stateOf(slow));
          }
          sent += reader.end().toString("latin1");
          expected += toSent(slow.end());
          expect(comparable(fast, sent)).toEqual(comparable(slow, expected));
          expect(stateOf(fast)).toEqual(stateOf(slow));
          expect([fast.classifyEnd(), fast.finish(), fast.stopShort()]).toEqual([
            slow.classifyEnd(),
            slow.finish(),
            slow.stopShort(),
          ]);
          const error = { message: "broke", code: 502, type: "upstream_error" } as const;
          expect(fast.encodeError(error)).toBe(slow.encodeError(error));
          expect(comparable(fast, fast.encodeEnd(END))).toEqual(comparable(slow, slow.encodeEnd(END)));
        }),
        { numRuns: 500 },
      );
    },
  );

  test("copies events that arrive alone and one whose blank line follows in the next piece", () => {
    const events = ["a", "b", "c", "d"].map((content) => Buffer.from(`${chatEvent({ content })}\n\n`));
    const relay = new ChatRelay(identity, false);
    const reader = new RelayReader(relay);
    const sent = reader
      .read(events[0] as Buffer)
      .toString()
      .replace('"role":"assistant",', "");
    const steps: string[] = [];
    relay.step = (piece) => {
      steps.push(piece);
      return "";
    };
    const [, second, third, fourth] = events as [Buffer, Buffer, Buffer, Buffer];
    expect(reader.read(second).toString()).toBe(sent.replace('"a"', '"b"'));
    expect(reader.read(third.subarray(0, -2))).toHaveLength(0);
    expect(reader.read(Buffer.concat([third.subarray(-2), fourth])).toString()).toBe(
      sent.replace('"a"', '"c"') + sent.replace('"a"', '"d"'),
    );
    expect(steps).toEqual([]);
  });

  test("reads the events of a vendor that sends a field twice", () => {
    const event = chatEvent({ content: "a" }).replace('"content":"a"', '"content":"a","content":"a"');
    const relay = new ChatRelay(identity, false);
    const sent = new RelayReader(relay).read(bytesOf([event, event])).toString();
    expect([relay.error, sent.split('"a"').length]).toEqual([null, 3]);
  });

  test("adds no arguments to a call that began without any", () => {
    const call = (text: string, name = {}) =>
      chatEvent({ tool_calls: [{ index: 0, function: { ...name, arguments: text } }] });
    const relay = new ChatRelay(identity, false);
    const events = [call("", { name: "look" }), call('{"a":1'), call("}")];
    const sent = new RelayReader(relay).read(bytesOf(events)).toString();
    expect(sent).toContain('{\\"a\\":1');
    expect(relay.encodeEnd(END)).not.toContain('"arguments":"{}"');
  });

  test("puts the end of an answer behind what it returned last, and leaves that", () => {
    const reader = new RelayReader(new ChatRelay(identity, false));
    const first = reader.read(bytesOf([chatEvent({ content: "a" })]));
    const last = reader.read(bytesOf([chatEvent({ content: "b" }, {}, "stop"), "data: [DONE]"]));
    const texts = [first.toString(), last.toString()];
    expect(reader.append(first, "end").toString()).toBe(`${texts[0]}end`);
    expect(reader.append(last, "end").toString()).toBe(`${texts[1]}end`);
    expect(reader.append(last, "").toString()).toBe(texts[1] as string);
    expect([first.toString(), last.toString()]).toEqual(texts);
  });

  test("keeps what it returned when the next piece is read", () => {
    const reader = new RelayReader(new ChatRelay(identity, false));
    const first = reader.read(Buffer.from(`${chatEvent({ content: "a" })}\n\n`));
    const before = first.toString();
    reader.read(Buffer.from(`${chatEvent({ content: "b" })}\n\n`));
    expect(first.toString()).toBe(before);
  });
});
