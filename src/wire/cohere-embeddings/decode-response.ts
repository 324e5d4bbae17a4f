import type { VectorsReading } from "../canonical/embeddings.ts";
import { listVectors } from "../canonical/read-vectors.ts";
import { NO_TOKENS, readCount } from "../conversation/usage.ts";
import { asFields } from "../json/fields.ts";

const PLACE = { path: ["embeddings", "float"], member: null };

/** Reads Cohere's answer to `count` texts. */
export function readCohereEmbeddings(body: string, count: number): VectorsReading {
  const listed = listVectors(body, PLACE, count);
  if (listed.kind === "error") return listed;
  const meta = asFields(listed.rest["meta"]);
  const counted = asFields(meta?.["billed_units"]) ?? asFields(meta?.["tokens"]);
  const promptTokens = readCount(counted?.["input_tokens"]);
  const usage = promptTokens ? { ...NO_TOKENS, promptTokens } : null;
  return { kind: "vectors", vectors: listed.vectors, usage, extras: {} };
}
