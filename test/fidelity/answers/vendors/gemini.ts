import type { Fields } from "../../../../src/wire/json/fields.ts";
import { dataEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const PROOF = "TUFSS0VScHJvb2Y=";
const USAGE = { promptTokenCount: 9_001, candidatesTokenCount: 501, totalTokenCount: 9_502 };

interface Rest {
  readonly finish?: string;
  readonly usage?: Fields;
  readonly candidate?: Fields;
}

/** `parts` as they are whole; `pieces` as they come, each in a chunk of its own. */
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
  "a call of a tool that takes free text": same([call("a", "write", { input: "MARKER" })]),
  "a call of a tool in a namespace": same([call("a", "MARKER__look", { place: "Oslo" })]),
  "reasoning in a summary": say(
    [{ text: "MARKER-thought", thought: true }, { text: "Hello" }],
    [{ text: "MARKER-", thought: true }, { text: "thought", thought: true }, { text: "Hello" }],
  ),
  "a thought signature on a call": same([
    { ...call("a", "look", { place: "Oslo" }), thoughtSignature: PROOF },
  ]),
  "a thought signature on a text": same([{ text: "Hello", thoughtSignature: PROOF }]),
  "a thought signature on an image": same([
    { inlineData: { mimeType: "image/png", data: "TUFSS0VSaW1hZ2U=" }, thoughtSignature: PROOF },
  ]),
  "citations of pages": same([{ text: "Hello" }], {
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
  "the end: the bound": hello({ finish: "MAX_TOKENS" }),
  "the end: a filter": hello({ finish: "SAFETY" }),
  "the vendor's own word for the end": hello({ finish: "MARKER_END" }),
  tokens: hello(),
  "tokens from the cache": hello({ usage: { cachedContentTokenCount: 7_001 } }),
  "tokens of reasoning": hello({
    usage: { candidatesTokenCount: 200, thoughtsTokenCount: 301, totalTokenCount: 9_502 },
  }),
  "tokens of audio": hello({
    usage: {
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: 41 }],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 42 }],
    },
  }),
  "an image": same([{ text: "Look:" }, { inlineData: { mimeType: "image/png", data: "TUFSS0VSaW1hZ2U=" } }]),
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
  "an error in the middle": {
    whole: null,
    stream: dataEvents([
      { candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] } }] },
      { error: { code: 503, message: "MARKER-error", status: "UNAVAILABLE" } },
    ]),
  },
  "a stream that breaks off": {
    whole: null,
    stream: dataEvents([
      { candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] } }] },
    ]),
  },
};
