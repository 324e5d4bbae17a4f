import { describe, expect, test } from "bun:test";
import type { RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import { RelayReader } from "../../../src/wire/canonical/answer/relay-reader.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import { ChatRelay } from "../../../src/wire/openai-chat/passthrough/relay-stream.ts";
import { IS_LONG_RUN } from "../../support/long-run.ts";

const identity: RelayIdentity = {
  id: "gen_1",
  model: "acme/model",
  created: 7,
  originalIds: null,
  makeCallId: () => "call_made",
  onTurn: () => {},
};

interface Chunk {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

const chunk = (content: string, rest: object = {}) =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "vendor-model",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...rest,
  });

/** Texts that contain the end of an event, or escapes, among plain ones. */
const TEXTS = [
  "a",
  "b",
  'c"}',
  '"},"finish_reason":null}]}',
  "\\",
  "\n\n",
  "☃ ß 𝄞",
  "",
  "data: {",
  "\u0001",
  "d",
];
const FRAMES: readonly (readonly [string, (data: string) => string])[] = [
  ["with a space after the colon", (data) => `data: ${data}\n\n`],
  ["without the space", (data) => `data:${data}\n\n`],
  ["with an event name", (data) => `event: chunk\ndata: ${data}\n\n`],
  ["with CRLF", (data) => `data: ${data}\r\n\r\n`],
  ["in two lines", (data) => `data: ${data.replace(",", ",\ndata: ")}\n\n`],
  ["after a comment", (data) => `: still here\ndata: ${data}\n\n`],
];

/** Returns the client's chunks for pieces of a stream. */
function relay(pieces: readonly string[]): Chunk[] {
  const made = new ChatRelay(identity, false);
  const reader = new RelayReader(made);
  const out = pieces.map((piece) => reader.read(Buffer.from(piece, "latin1")));
  expect(made.error).toBeNull();
  return Buffer.concat(out)
    .toString("utf8")
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.slice("data: ".length)) as Chunk);
}

function textOf(chunks: readonly Chunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

/** A long run cuts streams at each place, others at some. */
const CUT_STEP = IS_LONG_RUN ? 1 : 7;

const asLatin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

describe("relaying the texts of a chat stream", () => {
  test.each(FRAMES)(
    "texts are complete and carry the gateway's id, in one piece and cut anywhere: events %s",
    (name, frame) => {
      const stream = asLatin1(TEXTS.map((text) => frame(chunk(text))).join(""));
      const chunks = relay([stream]);
      expect(textOf(chunks)).toBe(TEXTS.join(""));
      for (const { id, model } of chunks) expect([id, model]).toEqual(["gen_1", "acme/model"]);
      // The lengths of the names let each form of events be cut at other places.
      for (let cut = 1 + (name.length % CUT_STEP); cut < stream.length; cut += CUT_STEP)
        expect(textOf(relay([stream.slice(0, cut), stream.slice(cut)]))).toBe(TEXTS.join(""));
    },
  );

  test("padding of varying length is passed on", () => {
    const padded = TEXTS.map((text, at) => chunk(text, { obfuscation: "x".repeat(at) }));
    const stream = asLatin1(padded.map((data) => `data: ${data}\n\n`).join(""));
    const chunks = relay([stream]);
    expect(textOf(chunks)).toBe(TEXTS.join(""));
    const said = TEXTS.flatMap((text, at) => (text === "" ? [] : ["x".repeat(at)]));
    expect(chunks.map((sent) => (sent as { obfuscation?: string }).obfuscation ?? "")).toEqual(said);
  });

  test("texts are complete when the form of events changes and changes back", () => {
    const looks = [{}, { service_tier: "flex" }, {}, { usage: null }, {}, { service_tier: "default" }];
    const stream = looks
      .flatMap((rest) => ["m", "n"].map((text) => `data: ${chunk(text, rest)}\n\n`))
      .join("");
    const chunks = relay([stream]);
    expect(textOf(chunks)).toBe("mn".repeat(looks.length));
    const tiers = chunks.map((sent) => (sent as { service_tier?: string }).service_tier);
    expect(tiers).toEqual(
      looks.flatMap((rest: { service_tier?: string }) => [rest.service_tier, rest.service_tier]),
    );
  });

  test("events that all end differently are matched in linear time", () => {
    const count = 20_000;
    const stream = Array.from({ length: count }, (_, at) => {
      const choices = [{ index: 0, delta: { content: "x" }, finish_reason: null, logprobs: { at } }];
      return `data: ${chunk("", { choices })}\n\n`;
    });
    // Otherwise the test would time out.
    expect(textOf(relay([stream.join("")]))).toBe("x".repeat(count));
  });
});

describe("other fields of a chat stream", () => {
  const END = {
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
  const choose = (choice: object, rest: object = {}) =>
    `data: ${chunk("", { choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }], ...rest })}\n\n`;

  /** Returns the last chunk of a stream of "Hello" and these events. */
  function lastOf(...events: readonly string[]) {
    const made = new ChatRelay(identity, false);
    const out = made.step(`data: ${chunk("Hello")}\n\n${events.join("")}data: [DONE]\n\n`);
    expect(made.classifyEnd()).toBe("complete");
    const chunks = (out + made.encodeEnd(END)).split("\n\n").slice(0, -2);
    return chunks.map((event) => JSON.parse(event.slice("data: ".length))).at(-1);
  }

  test("fields of a second finish are kept", () => {
    const last = lastOf(
      choose({ finish_reason: "stop", logprobs: { content: [] } }, { service_tier: "flex" }),
      choose(
        { finish_reason: "length", logprobs: null, content_filter_results: { hate: { filtered: false } } },
        { service_tier: null, citations: ["https://example.com"] },
      ),
    );
    expect(last).toMatchObject({ service_tier: "flex", citations: ["https://example.com"] });
    expect(last.choices).toEqual([
      {
        index: 0,
        delta: {},
        finish_reason: "stop",
        logprobs: { content: [] },
        content_filter_results: { hate: { filtered: false } },
      },
    ]);
  });

  test("fields of an event without content are kept", () => {
    const last = lastOf(
      choose({ content_filter_offsets: { end_offset: 5 } }, { citations: ["https://example.com"] }),
      choose({ finish_reason: "stop" }),
    );
    expect(last).toMatchObject({ citations: ["https://example.com"] });
    expect(last.choices[0]).toMatchObject({
      finish_reason: "stop",
      content_filter_offsets: { end_offset: 5 },
    });
  });
});

test("a chat stream has as many choices as OpenAI allows, and one more breaks it", () => {
  const event = (index: number) =>
    `data: ${chunk("", { choices: [{ index, delta: { content: "x" }, finish_reason: null }] })}\n\n`;
  const made = new ChatRelay(identity, false);
  for (let index = 0; index < 128; index++) made.step(event(index));
  made.step(event(127));
  expect(made.error).toBeNull();
  made.step(event(128));
  expect(made.error?.message).toContain("too many choices");
});
