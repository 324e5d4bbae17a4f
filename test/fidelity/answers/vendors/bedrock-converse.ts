import type { Fields } from "../../../../src/base/json/fields.ts";
import { encodeEvent, encodeException } from "../../../support/clients/event-frames.ts";
import type { Vendor, VendorSayings } from "../vendor.ts";

const PROOF = "TUFSS0VScHJvb2Y=";
const USAGE = { inputTokens: 9_001, outputTokens: 501, totalTokens: 9_502 };

/** A whole block, the description at its start, and its deltas. */
interface Block {
  readonly block: Fields;
  readonly start?: Fields;
  readonly deltas: readonly Fields[];
}

interface Rest {
  readonly stop?: string;
  readonly usage?: Fields;
  readonly tier?: string;
  readonly sequence?: string;
}

function say(blocks: readonly Block[], rest: Rest = {}): Vendor {
  const { stop = "end_turn", usage = {}, tier, sequence } = rest;
  const metadata = {
    usage: { ...USAGE, ...usage },
    metrics: { latencyMs: 1 },
    ...(tier === undefined ? {} : { serviceTier: { type: tier } }),
  };
  const own = (fields: Fields) => (sequence === undefined ? {} : { additionalModelResponseFields: fields });
  return {
    whole: {
      output: { message: { role: "assistant", content: blocks.map(({ block }) => block) } },
      stopReason: stop,
      ...own({ stop_sequence: sequence }),
      ...metadata,
    },
    stream: [
      encodeEvent("messageStart", { role: "assistant" }),
      ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
        ...(start === undefined ? [] : [encodeEvent("contentBlockStart", { contentBlockIndex, start })]),
        ...deltas.map((delta) => encodeEvent("contentBlockDelta", { contentBlockIndex, delta })),
        encodeEvent("contentBlockStop", { contentBlockIndex }),
      ]),
      encodeEvent("messageStop", { stopReason: stop, ...own({ delta: { stop_sequence: sequence } }) }),
      encodeEvent("metadata", metadata),
    ].join(""),
  };
}

const text = (...pieces: readonly string[]): Block => ({
  block: { text: pieces.join("") },
  deltas: pieces.map((piece) => ({ text: piece })),
});
const hello = (rest: Rest = {}) => say([text("Hello ", "MARKER", " ✓")], rest);

function call(id: string, name: string, input: Fields): Block {
  const head = { toolUseId: `call_${id}`, name };
  const json = JSON.stringify(input);
  return {
    block: { toolUse: { ...head, input } },
    start: { toolUse: head },
    deltas: [{ toolUse: { input: json.slice(0, 5) } }, { toolUse: { input: json.slice(5) } }],
  };
}

function thought(signature: string | null): Block {
  const signed = signature === null ? {} : { signature };
  return {
    block: { reasoningContent: { reasoningText: { text: "MARKER-thought", ...signed } } },
    deltas: [
      { reasoningContent: { text: "MARKER-" } },
      { reasoningContent: { text: "thought" } },
      ...(signature === null ? [] : [{ reasoningContent: signed }]),
    ],
  };
}

const CITED = {
  title: "Weather",
  sourceContent: [{ text: "MARKER-words" }],
  location: { documentChar: { documentIndex: 0, start: 0, end: 12 } },
};
const WEB = {
  title: "Rain",
  sourceContent: [{ text: "rain" }],
  location: { web: { url: "https://example.com/MARKER", domain: "example.com" } },
};
const cited = (citation: Fields): Block => ({
  block: { citationsContent: { content: [{ text: "Hello" }], citations: [citation] } },
  deltas: [{ text: "Hello" }, { citation }],
});

const BEGUN = [
  encodeEvent("messageStart", { role: "assistant" }),
  encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hello" } }),
].join("");

export const BEDROCK_CONVERSE: VendorSayings = {
  text: hello(),
  "parallel tool calls": say(
    [call("a", "look", { place: "MARKER-a" }), call("b", "look", { place: "MARKER-b" })],
    { stop: "tool_use" },
  ),
  "custom tool call": say([call("a", "write", { input: "MARKER" })], {
    stop: "tool_use",
  }),
  "tool call in a namespace": say([call("a", "MARKER__look", { place: "Oslo" })], {
    stop: "tool_use",
  }),
  "reasoning text": say([thought(null), text("Hello")]),
  "signed reasoning": say([thought(PROOF), text("Hello")]),
  "encrypted reasoning": say([
    {
      block: { reasoningContent: { redactedContent: PROOF } },
      deltas: [{ reasoningContent: { redactedContent: PROOF } }],
    },
    text("Hello"),
  ]),
  "citations of web pages": say([cited(WEB)]),
  "citations of documents": say([cited(CITED)]),
  "finish: stop sequence": hello({ stop: "stop_sequence", sequence: "MARKER" }),
  "matched stop sequence": hello({ stop: "stop_sequence", sequence: "MARKER" }),
  "finish: token limit": hello({ stop: "max_tokens" }),
  "finish: content filter": hello({ stop: "content_filtered" }),
  "finish: refusal": hello({ stop: "refusal" }),
  "vendor's own finish reason": hello({ stop: "MARKER_END" }),
  "token counts": hello(),
  "cached tokens": hello({ usage: { inputTokens: 2_000, cacheReadInputTokens: 7_001 } }),
  "cache write tokens": hello({ usage: { cacheWriteInputTokens: 1_101 } }),
  "cache write tokens for an hour": hello({
    usage: {
      cacheWriteInputTokens: 1_101,
      cacheDetails: [
        { ttl: "5m", inputTokens: 1_000 },
        { ttl: "1h", inputTokens: 101 },
      ],
    },
  }),
  "service tier": hello({ tier: "priority" }),
  "error in the middle of the stream": {
    whole: null,
    stream: BEGUN + encodeException("modelStreamErrorException", { message: "MARKER-error" }),
  },
  "incomplete stream": { whole: null, stream: BEGUN },
};
