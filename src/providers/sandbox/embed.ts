import { createHash } from "node:crypto";
import { z } from "zod";
import { countTokens } from "./count-tokens.ts";
import { readBody } from "./read-request.ts";
import { replyWithError, replyWithJson, type SandboxReply } from "./reply.ts";

/** The upstream's only embedding model. */
export const SANDBOX_EMBEDDING_MODEL = "embed";

/** The default length of a vector. */
const DIMENSIONS = 256;
const MAX_DIMENSIONS = 4_096;

const tokenIds = z.array(z.int().min(0)).min(1);
const text = z.string().min(1);
const embeddingsRequest = z.looseObject({
  model: z.literal(SANDBOX_EMBEDDING_MODEL),
  input: z.union([text, z.array(text).min(1), tokenIds, z.array(tokenIds).min(1)]),
  dimensions: z.int().min(1).max(MAX_DIMENSIONS).nullish(),
  encoding_format: z.enum(["float", "base64"]).nullish(),
});

type Input = string | readonly number[];

/** Answers an embeddings request. The same text has the same vector, of norm 1 (docs/sandbox.md). */
export function planEmbeddings(body: Uint8Array | null): SandboxReply {
  const read = readBody(body, embeddingsRequest);
  if (!read.ok) return replyWithError(read.status, read.error);
  const { input, dimensions, encoding_format: encoding } = read.value;
  const inputs = listInputs(input);
  const tokens = inputs.reduce((sum, one) => sum + countInput(one), 0);
  const data = inputs.map((one, index) => {
    const vector = makeVector(one, dimensions ?? DIMENSIONS);
    return { object: "embedding", index, embedding: encoding === "base64" ? toBase64(vector) : [...vector] };
  });
  return replyWithJson(200, {
    object: "list",
    data,
    model: SANDBOX_EMBEDDING_MODEL,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function listInputs(input: z.infer<typeof embeddingsRequest>["input"]): readonly Input[] {
  if (typeof input === "string") return [input];
  return typeof input[0] === "number" ? [input as number[]] : (input as Input[]);
}

function countInput(input: Input): number {
  return typeof input === "string" ? countTokens(input) : input.length;
}

const NUMBERS_PER_HASH = 8;

/** Derives a vector of norm 1 from hashes of the input and a counter. */
function makeVector(input: Input, dimensions: number): Float32Array {
  const seed = createHash("sha256").update(JSON.stringify(input)).digest("hex");
  const numbers: number[] = [];
  for (let round = 0; numbers.length < dimensions; round++) {
    const hash = createHash("sha256").update(`${seed}:${round}`).digest();
    for (let at = 0; at < NUMBERS_PER_HASH; at++) numbers.push(hash.readInt32LE(at * 4) + 0.5);
  }
  const kept = numbers.slice(0, dimensions);
  const length = Math.hypot(...kept);
  return Float32Array.from(kept, (number) => number / length);
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString("base64");
}
