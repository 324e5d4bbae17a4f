import type { WholeAnswer } from "../../canonical/answer/relay.ts";
import type { VectorsReading } from "../../canonical/embeddings/embeddings.ts";
import { encodeCostDetails } from "../../canonical/model/cost-details.ts";
import type { AnswerIdentity, UsageReport } from "../../canonical/model/format.ts";
import { brokenAnswer } from "../../conversation/errors/vendor-error.ts";
import { convertVector } from "./convert-vector.ts";
import type { VectorEncoding } from "./decode-request.ts";

/**
 * Encodes a vendor's vectors as the client's answer, which then lacks only its cost. Vectors in the requested encoding are copied.
 */
export function encodeEmbeddingsAnswer(
  reading: VectorsReading,
  encoding: VectorEncoding,
  { model }: AnswerIdentity,
): WholeAnswer {
  if (reading.kind === "error") return reading;
  const { usage, extras } = reading;
  const data = encodeVectors(reading.vectors, encoding);
  if (data === null)
    return { kind: "error", error: brokenAnswer("the upstream's answer has an embedding that is none") };
  return {
    kind: "answer",
    isEmpty: false,
    usage,
    producedBytes: 0,
    finish: null,
    encode({ report, metadata }) {
      const rest = {
        ...extras,
        model,
        usage: encodeUsage(report),
        ...(metadata === null ? {} : { gateway_metadata: metadata }),
      };
      return `{"object":"list","data":[${data}],${JSON.stringify(rest).slice(1)}`;
    },
  };
}

/** Returns null if a vector cannot be read. */
function encodeVectors(vectors: readonly string[], encoding: VectorEncoding): string | null {
  try {
    return vectors
      .map(
        (vector, index) =>
          `{"object":"embedding","index":${index},"embedding":${convertVector(vector, encoding)}}`,
      )
      .join(",");
  } catch {
    return null;
  }
}

/** Encodes the `usage` object (docs/api/embeddings.md). */
function encodeUsage(report: UsageReport): Record<string, unknown> {
  const { usage, cost, isByok } = report;
  return {
    prompt_tokens: usage.promptTokens,
    total_tokens: usage.promptTokens,
    cost,
    cost_details: encodeCostDetails(report),
    is_byok: isByok,
    ...(usage.estimated ? { estimated: true } : {}),
  };
}
