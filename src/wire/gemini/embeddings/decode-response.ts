import { asFields } from "../../../base/json/fields.ts";
import type { VectorsReading } from "../../canonical/embeddings/embeddings.ts";
import { listVectors } from "../../canonical/embeddings/read-vectors.ts";
import { NO_TOKENS, readCount } from "../../conversation/usage.ts";

const VECTORS = { path: ["embeddings"], member: "values" };

/** Decodes an answer of `batchEmbedContents` to a request of `count` texts. Only newer models count tokens in it. */
export function decodeGeminiEmbeddings(body: string, count: number): VectorsReading {
  const listed = listVectors(body, VECTORS, count);
  if (listed.kind === "error") return listed;
  const promptTokens = readCount(asFields(listed.rest["usageMetadata"])?.["promptTokenCount"]);
  const usage = promptTokens ? { ...NO_TOKENS, promptTokens } : null;
  return { kind: "vectors", vectors: listed.vectors, usage, extras: {} };
}
