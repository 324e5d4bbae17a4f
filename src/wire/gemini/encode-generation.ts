import { fail } from "../../base/failures/errors.ts";
import type { Fields } from "../../base/json/fields.ts";
import type { ConversationRequest, OutputFormat } from "../canonical/model/request.ts";
import { encodeReasoning } from "./encode-reasoning.ts";
import { type GeminiEncoding, warn } from "./encoding.ts";

const MAX_STOPS = 5;
/** Gemini's seeds are signed 32-bit integers. */
const SEEDS = 2 ** 31;

/** Returns `generationConfig`; empty if the client set nothing. */
export function encodeGeneration(
  request: ConversationRequest,
  encoding: GeminiEncoding,
): Record<string, unknown> {
  const { logprobs, n, seed } = request;
  const config: Fields = {
    maxOutputTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    stopSequences: encodeStops(request.stop),
    candidateCount: n === 1 ? null : n,
    seed: seed === null ? null : Math.abs(seed) % SEEDS,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    responseLogprobs: logprobs === null ? null : true,
    // Gemini rejects 0 alternatives.
    logprobs: logprobs?.top || null,
    thinkingConfig: encodeReasoning(request.reasoning, encoding),
    ...encodeOutput(request.outputFormat, encoding),
  };
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}

function encodeStops(stop: readonly string[]): readonly string[] | null {
  const stops = stop.filter((sequence) => sequence !== "");
  if (stops.length <= MAX_STOPS) return stops.length > 0 ? stops : null;
  fail("invalid_request", `stop: Gemini takes at most ${MAX_STOPS} stop sequences; send fewer.`, {
    metadata: { field: "stop" },
  });
}

/** Uses `responseJsonSchema` instead of `responseSchema`, for the reasons given at `encodeFunction`. */
function encodeOutput(format: OutputFormat | null, encoding: GeminiEncoding): Fields {
  switch (format?.kind) {
    case "json":
      return { responseMimeType: "application/json" };
    case "json-schema": {
      const { schema, loosened } = encoding.schemas.lower(
        format.schema,
        "gemini-output",
        "response_format.json_schema.schema",
      );
      encoding.warnings.push(...loosened);
      return { responseMimeType: "application/json", responseJsonSchema: schema };
    }
    case "native":
      warn(encoding, "response_format", "The provider does not have this format; the answer is plain text.");
      return {};
    default:
      return {};
  }
}
