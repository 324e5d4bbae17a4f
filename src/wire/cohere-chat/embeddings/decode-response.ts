import { asFields } from "../../../base/json/fields.ts";
import type { VectorsReading } from "../../canonical/embeddings/embeddings.ts";
import { listVectors } from "../../canonical/embeddings/read-vectors.ts";
import { NO_TOKENS, readCount } from "../../conversation/usage.ts";

const VECTORS = { path: ["embeddings", "float"], member: null };

/** Decodes Cohere's answer to a request of `count` texts. */
export function decodeCohereEmbeddings(body: string, count: number): VectorsReading {
  const listed = listVectors(body, VECTORS, count);
  if (listed.kind === "error") return listed;
  const meta = asFields(listed.rest["meta"]);
  const counted = asFields(meta?.["billed_units"]) ?? asFields(meta?.["tokens"]);
  const promptTokens = readCount(counted?.["input_tokens"]);
  const usage = promptTokens ? { ...NO_TOKENS, promptTokens } : null;
  return { kind: "vectors", vectors: listed.vectors, usage, extras: {} };
}
