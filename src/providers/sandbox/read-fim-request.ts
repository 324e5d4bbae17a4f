import { createHash } from "node:crypto";
import { z } from "zod";
import { countTokens } from "./count-tokens.ts";
import { type ReadRequest, readBody, SANDBOX_MODEL, stopSequences } from "./read-request.ts";

const fimRequest = z.looseObject({
  model: z.literal(SANDBOX_MODEL),
  prompt: z.string(),
  suffix: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_tokens: z.int().min(1).nullish(),
  stop: stopSequences,
});

/** Marks the cursor in the echo. */
const CURSOR = "[…]";

/** Parses a fill-in-the-middle request as a chat with one message: prompt, cursor and suffix. */
export function readFimRequest(body: Uint8Array | null): ReadRequest {
  const read = readBody(body, fimRequest);
  if (!read.ok) return read;
  const { prompt, suffix, stream, max_tokens: maxTokens, stop } = read.value;
  const after = suffix ?? "";
  return {
    ok: true,
    request: {
      model: SANDBOX_MODEL,
      earlier: [],
      stream: stream ?? false,
      // Providers of this API always send usage.
      includeUsage: true,
      maxTokens: maxTokens ?? null,
      stop: [stop ?? []].flat().filter((sequence) => sequence !== ""),
      choices: 1,
      format: { kind: "text" },
      tools: [],
      toolChoice: "none",
      parallelCalls: true,
      userText: after === "" ? prompt : prompt + CURSOR + after,
      userSpokeLast: true,
      results: [],
      promptTokens: countTokens(prompt) + countTokens(after),
      cachedTokens: 0,
      fingerprint: createHash("sha256").update(body!).digest("hex"),
    },
  };
}
