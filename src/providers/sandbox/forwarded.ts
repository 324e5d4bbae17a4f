import { z } from "zod";
import { countTokens } from "./count-tokens.ts";
import { readBody } from "./read-request.ts";
import { replyWithError, replyWithJson, type SandboxReply } from "./reply.ts";

/** The models of the endpoints whose requests the gateway forwards. */
export const SANDBOX_FORWARDED_MODELS = ["moderate", "rank", "draw", "speak", "transcribe"] as const;

/** The word for which a text is flagged. */
const FLAGGED = /\bviolence\b/i;

const part = z.looseObject({ text: z.string().optional() });
const moderation = z.looseObject({
  model: z.literal("moderate"),
  input: z.union([z.string(), z.array(z.union([z.string(), part])).min(1)]),
});

/** Answers a moderations request: a text is flagged if it has the word "violence" (docs/sandbox.md). */
export function planModeration(body: Uint8Array | null): SandboxReply {
  const read = readBody(body, moderation);
  if (!read.ok) return replyWithError(read.status, read.error);
  const { input } = read.value;
  const inputs = typeof input === "string" ? [input] : input;
  const texts = inputs.map((one) => (typeof one === "string" ? one : (one.text ?? "")));
  const results = texts.map((text) => {
    const flagged = FLAGGED.test(text);
    return { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 1 : 0 } };
  });
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return replyWithJson(200, { id: "modr-sandbox", model: "moderate", results, usage });
}

const ranking = z.looseObject({
  model: z.literal("rank"),
  query: z.string().min(1),
  documents: z.array(z.union([z.string(), part])).min(1),
  top_n: z.int().min(1).nullish(),
});

/** Answers a rerank request: a document's relevance is the share of the query's words that it has. */
export function planRanking(body: Uint8Array | null): SandboxReply {
  const read = readBody(body, ranking);
  if (!read.ok) return replyWithError(read.status, read.error);
  const { query, documents, top_n } = read.value;
  const texts = documents.map((one) => (typeof one === "string" ? one : (one.text ?? "")));
  const asked = listWords(query);
  const results = texts
    .map((text, index) => ({ index, relevance_score: asked.intersection(listWords(text)).size / asked.size }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top_n ?? texts.length);
  const tokens = texts.reduce((sum, text) => sum + countTokens(query) + countTokens(text), 0);
  return replyWithJson(200, { id: "rank-sandbox", model: "rank", results, usage: { total_tokens: tokens } });
}

function listWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [""]);
}

/** A PNG of one transparent pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const drawing = z.looseObject({
  model: z.literal("draw"),
  prompt: z.string().min(1),
  n: z.int().min(1).max(8).nullish(),
});

/** Answers an image generation request with images of one pixel. */
export function planDrawing(body: Uint8Array | null): SandboxReply {
  const read = readBody(body, drawing);
  if (!read.ok) return replyWithError(read.status, read.error);
  const data = Array.from({ length: read.value.n ?? 1 }, () => ({ b64_json: PIXEL }));
  return replyWithJson(200, { created: 0, data });
}

/** Samples of a second of the sandbox's audio, one byte each. */
const SAMPLE_RATE = 8_000;
/** The length of the silence for a character. Seconds. */
const SECONDS_PER_CHAR = 1 / 16;
const SILENCE = 0x80;

const speaking = z.looseObject({ model: z.literal("speak"), input: z.string().min(1).max(4_096) });

/** Answers a speech request with silence of the length that the text would take, as WAV whatever format is requested. */
export function planSpeech(body: Uint8Array | null): SandboxReply {
  const read = readBody(body, speaking);
  if (!read.ok) return replyWithError(read.status, read.error);
  const samples = Math.ceil(read.value.input.length * SECONDS_PER_CHAR * SAMPLE_RATE);
  const bytes = Buffer.concat([encodeWavHead(samples), Buffer.alloc(samples, SILENCE)]);
  return {
    kind: "answer",
    status: 200,
    headers: { "content-type": "audio/wav" },
    body: [{ kind: "bytes", bytes }],
  };
}

/** Encodes the head of a WAV file with one channel and one byte per sample. */
function encodeWavHead(samples: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + samples, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(samples, 40);
  return head;
}

/** Answers a transcription request with the size of its form, which is not read. */
export function planTranscription(body: Uint8Array | null): SandboxReply {
  return replyWithJson(200, { text: `You sent a form of ${body?.length ?? 0} bytes.` });
}
