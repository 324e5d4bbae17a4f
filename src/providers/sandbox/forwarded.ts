import { z } from "zod";
import { countTokens } from "./count-tokens.ts";
import { readBody } from "./read-request.ts";
import { type Reply, replyWithError, replyWithJson } from "./reply.ts";

/** The models of the endpoints whose requests the gateway forwards. */
export const SANDBOX_FORWARDED_MODELS = ["moderate", "rank"] as const;

/** The word for which a text is flagged. */
const FLAGGED = /\bviolence\b/i;

const part = z.looseObject({ text: z.string().optional() });
const moderation = z.looseObject({
  model: z.literal("moderate"),
  input: z.union([z.string(), z.array(z.union([z.string(), part])).min(1)]),
});

/** Answers a moderations request: a text is flagged if it has the word "violence" (docs/sandbox.md). */
export function planModeration(body: Uint8Array | null): Reply {
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
export function planRanking(body: Uint8Array | null): Reply {
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
