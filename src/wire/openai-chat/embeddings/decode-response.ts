import { asFields, omit } from "../../../base/json/fields.ts";
import type { VectorsReading } from "../../canonical/embeddings/embeddings.ts";
import { listVectors } from "../../canonical/embeddings/read-vectors.ts";
import {
  NO_TOKENS,
  readCount,
  readReportedCost,
  type TokenUsage,
  withPriceFacts,
} from "../../conversation/usage.ts";

const VECTORS = { path: ["data"], member: "embedding" };

/** Fields of an answer that the gateway writes itself, or that identify the vendor's request. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "data",
  "model",
  "usage",
  "error",
]);

/** Reads a vendor's answer to `count` inputs. `body` is its text. */
export function decodeEmbeddingsAnswer(body: string, count: number): VectorsReading {
  const listed = listVectors(body, VECTORS, count);
  if (listed.kind === "error") return listed;
  const { vectors, rest } = listed;
  return { kind: "vectors", vectors, usage: readUsage(rest["usage"]), extras: omit(rest, OWN_FIELDS) };
}

/** Reads the `usage` object; null if it counts no tokens. */
function readUsage(value: unknown): TokenUsage | null {
  const usage = asFields(value) ?? {};
  const promptTokens = readCount(usage["prompt_tokens"]) || readCount(usage["total_tokens"]);
  if (!promptTokens) return null;
  return withPriceFacts({ ...NO_TOKENS, promptTokens }, undefined, readReportedCost(usage));
}
