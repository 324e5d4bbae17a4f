import type { Fields } from "../../../../src/base/json/fields.ts";
import { dataEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const PROOF = "TUFSS0VScHJvb2Y=";
const USAGE = { promptTokenCount: 9_001, candidatesTokenCount: 501, totalTokenCount: 9_502 };

interface Rest {
  readonly finish?: string;
  readonly usage?: Fields;
  readonly candidate?: Fields;
}

/** `parts` are those of the whole answer; `pieces` are those of the stream, one in each chunk. */
function say(parts: readonly Fields[], pieces: readonly Fields[], rest: Rest = {}): Vendor {
  const { finish = "STOP", usage = {}, candidate = {} } = rest;
  const counted = { ...USAGE, ...usage };
  const ending = { finishReason: finish, index: 0, ...candidate };
  const last = pieces.length - 1;
  return {
    whole: {
      candidates: [{ content: { role: "model", parts }, ...ending }],
      usageMetadata: counted,
      modelVersion: "gemini-target",
    },
    stream: dataEvents(
      pieces.map((piece, at) => ({
        candidates: [
          { content: { role: "model", parts: [piece] }, index: 0, ...(at === last ? ending : {}) },
        ],
        usageMetadata: at === last ? counted : { promptTokenCount: 9_001, totalTokenCount: 9_001 },
        modelVersion: "gemini-target",
      })),
    ),
  };
}

const same = (parts: readonly Fields[], rest: Rest = {}) => say(parts, parts, rest);
const hello = (rest: Rest = {}) =>
  say([{ text: "Hello MARKER ✓" }], [{ text: "Hello " }, { text: "MARKER" }, { text: " ✓" }], rest);
const call = (id: string, name: string, args: Fields) => ({
  functionCall: { id: `call_${id}`, name, args },
});

export const GEMINI: VendorSayings = {
  text: hello(),
  "parallel tool calls": same([
    call("a", "look", { place: "MARKER-a" }),
    call("b", "look", { place: "MARKER-b" }),
  ]),
  "custom tool call": same([call("a", "write", { input: "MARKER" })]),
  "tool call in a namespace": same([call("a", "MARKER__look", { place: "Oslo" })]),
  "reasoning summary": say(
    [{ text: "MARKER-thought", thought: true }, { text: "Hello" }],
    [{ text: "MARKER-", thought: true }, { text: "thought", thought: true }, { text: "Hello" }],
  ),
  "thought signature on a call": same([{ ...call("a", "look", { place: "Oslo" }), thoughtSignature: PROOF }]),
  "thought signature on a text": same([{ text: "Hello", thoughtSignature: PROOF }]),
  "thought signature on an image": same([
    { inlineData: { mimeType: "image/png", data: "TUFSS0VSaW1hZ2U=" }, thoughtSignature: PROOF },
  ]),
  "citations of web pages": same([{ text: "Hello" }], {
    candidate: {
      groundingMetadata: {
        groundingChunks: [{ web: { uri: "https://example.com/MARKER", title: "Rain" } }],
        groundingSupports: [
          { segment: { startIndex: 0, endIndex: 5, text: "Hello" }, groundingChunkIndices: [0] },
        ],
      },
    },
  }),
  "log probabilities": same([{ text: "MARKER" }], {
    candidate: {
      logprobsResult: {
        chosenCandidates: [{ token: "MARKER", logProbability: -0.25 }],
        topCandidates: [{ candidates: [{ token: "MARKER", logProbability: -0.25 }] }],
      },
    },
  }),
  "finish: token limit": hello({ finish: "MAX_TOKENS" }),
  "finish: content filter": hello({ finish: "SAFETY" }),
  "vendor's own finish reason": hello({ finish: "MARKER_END" }),
  "token counts": hello(),
  "cached tokens": hello({ usage: { cachedContentTokenCount: 7_001 } }),
  "reasoning tokens": hello({
    usage: { candidatesTokenCount: 200, thoughtsTokenCount: 301, totalTokenCount: 9_502 },
  }),
  "audio tokens": hello({
    usage: {
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: 41 }],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 42 }],
    },
  }),
  "generated image": same([
    { text: "Look:" },
    { inlineData: { mimeType: "image/png", data: "TUFSS0VSaW1hZ2U=" } },
  ]),
  "several choices": {
    whole: {
      candidates: [
        { index: 0, content: { role: "model", parts: [{ text: "MARKER-first" }] }, finishReason: "STOP" },
        {
          index: 1,
          content: { role: "model", parts: [{ text: "MARKER-second" }] },
          finishReason: "MAX_TOKENS",
        },
      ],
      usageMetadata: USAGE,
    },
    stream: dataEvents([
      {
        candidates: [
          { index: 0, content: { role: "model", parts: [{ text: "MARKER-first" }] } },
          { index: 1, content: { role: "model", parts: [{ text: "MARKER-" }] } },
        ],
      },
      {
        candidates: [
          { index: 1, content: { role: "model", parts: [{ text: "second" }] }, finishReason: "MAX_TOKENS" },
          { index: 0, finishReason: "STOP" },
        ],
        usageMetadata: USAGE,
      },
    ]),
  },
  "error in the middle of the stream": {
    whole: null,
    stream: dataEvents([
      { candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] } }] },
      { error: { code: 503, message: "MARKER-error", status: "UNAVAILABLE" } },
    ]),
  },
  "incomplete stream": {
    whole: null,
    stream: dataEvents([
      { candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] } }] },
    ]),
  },
};
