import type { UsageRecord } from "../../core/usage/records/records.ts";
import type { Attributes } from "./json.ts";

/** Returns the operation of a client API, as the GenAI conventions name it. */
export function operationOf(api: string): string {
  return OPERATIONS[api] ?? "chat";
}

const OPERATIONS: Readonly<Record<string, string>> = {
  completions: "text_completion",
  fim: "text_completion",
  embeddings: "embeddings",
  // The conventions have no names for these.
  moderations: "moderation",
  rerank: "rerank",
  images: "image_generation",
  speech: "speech",
  transcriptions: "transcription",
};

/** The model and provider that an attempt calls. */
interface GenAiCall {
  readonly operation: string;
  readonly provider: string;
  readonly upstreamModel: string;
}

/** Returns the attributes of the GenAI conventions for a call. Their names are not stable. */
export function describeGenAiCall({ operation, provider, upstreamModel }: GenAiCall): Attributes {
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": upstreamModel,
  };
}

/** Returns the attributes of the GenAI conventions for the answer of a generation; none if it had no answer. */
export function describeGenAiAnswer(record: UsageRecord): Attributes {
  const { streamed, createdAt, firstTokenAt, finishReason } = record;
  if (firstTokenAt === null) return {};
  return {
    "gen_ai.request.stream": streamed,
    "gen_ai.response.time_to_first_chunk": streamed ? (firstTokenAt - createdAt) / 1_000 : null,
    "gen_ai.response.finish_reasons": finishReason === null ? null : [finishReason],
    "gen_ai.usage.input_tokens": record.promptTokens,
    "gen_ai.usage.output_tokens": record.completionTokens,
    "gen_ai.usage.cache_read.input_tokens": record.cachedTokens,
    "gen_ai.usage.cache_creation.input_tokens": record.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": record.reasoningTokens,
  };
}
