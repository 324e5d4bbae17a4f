import { z } from "zod";
import type { ErrorCode } from "../../base/failures/errors.ts";
import { CLIENT_APIS } from "../../wire/client-apis/client-apis.ts";
import type { ClientApi } from "../../wire/client-apis/request/inference-request.ts";
import { RouteExplanation } from "../api/route-explanation.ts";
import { ErrorBody, MessagesErrorBody, ResponsesErrorBody } from "./errors.ts";
import {
  ImagesRequest,
  ImagesResponse,
  ModerationsRequest,
  ModerationsResponse,
  RerankRequest,
  RerankResponse,
  SpeechRequest,
  TranscriptionRequest,
  TranscriptionResponse,
} from "./forwarded-schemas.ts";
import {
  ChatChunk,
  ChatCompletion,
  ChatRequest,
  CompactRequest,
  CompactResponse,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  CountRequest,
  CountResponse,
  EmbeddingsRequest,
  EmbeddingsResponse,
  FimRequest,
  MessagesRequest,
  MessagesResponse,
  ResponsesRequest,
  ResponsesResponse,
} from "./inference-schemas.ts";
import { type Operation, ok, type RequestHeader, type SuccessResponse } from "./operation.ts";
import { ExplainBody, ExplainQuery } from "./route-schemas.ts";
import { GATEWAY_BASE, MODE_HEADER, ORGANIZATION_HEADER, SESSION_HEADER, TAGS } from "./shared-parts.ts";

const ERRORS: readonly ErrorCode[] = [
  "invalid_request",
  "invalid_model",
  "context_length_exceeded",
  "authentication",
  "insufficient_credits",
  "model_not_allowed",
  "permission_denied",
  "content_blocked",
  "client_timeout",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limit_exceeded",
  "internal",
  "upstream_error",
  "unavailable",
];

/** Other rejections are part of the explanation, not errors. */
const EXPLAIN_ERRORS = ERRORS.filter(
  (code) =>
    code !== "insufficient_credits" && code !== "upstream_error" && code !== "context_length_exceeded",
);
const COUNT_ERRORS = ERRORS.filter((code) => code !== "insufficient_credits" && code !== "upstream_error");

const LIMIT_HEADERS = ["limit", "remaining", "reset"].flatMap((what) =>
  ["requests", "tokens"].map((unit) => `x-ratelimit-${what}-${unit}`),
);
const RESPONSE_HEADERS = [
  "x-gateway-generation-id",
  "x-gateway-attempts",
  "x-gateway-route",
  "x-gateway-model",
  "x-gateway-provider",
  ...LIMIT_HEADERS,
];

const ANTHROPIC_HEADERS: readonly RequestHeader[] = [
  { name: "anthropic-version", description: "Any version is accepted." },
  {
    name: "anthropic-beta",
    description: "Forwarded to providers that offer the Messages API; ignored for others.",
  },
];

const CALLING_HEADERS: readonly RequestHeader[] = [ORGANIZATION_HEADER, SESSION_HEADER, TAGS, MODE_HEADER];

/** The parts that inference operations share. */
const COMMON = {
  method: "POST",
  tag: "Inference",
  params: null,
  query: null,
  headers: CALLING_HEADERS,
  responseHeaders: RESPONSE_HEADERS,
  errors: ERRORS,
  errorSchema: ErrorBody,
  takesIdempotencyKey: false,
} as const;

/** Returns what the declaration of a client API states about its first operation. */
function readDeclaration(api: ClientApi): Pick<Operation, "path" | "callers" | "bodyType"> {
  const { access, operations, takesForm } = CLIENT_APIS[api];
  const [{ path, fixedPath }] = operations;
  return {
    path: fixedPath ?? GATEWAY_BASE + path,
    callers: { kind: access },
    ...(takesForm === true ? { bodyType: "multipart/form-data" } : {}),
  };
}

function streamableResponses(
  schema: z.ZodType,
  event: z.ZodType | null,
  events: string,
): readonly SuccessResponse[] {
  const description = "The response; with `stream: true` a stream of server-sent events.";
  return [ok(description, schema), ok(`${description} ${events}`, event, "text/event-stream")];
}

const CHAT_RESPONSES = streamableResponses(
  ChatCompletion,
  ChatChunk,
  'The data of each event is a chunk; the last event is `[DONE]`. A stream that fails after its first token ends with an event `{"error": {…}}` without `choices`, and without `[DONE]`.',
);

/** The operations that call models, count tokens or explain routing. */
export const INFERENCE_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    ...readDeclaration("chat.completions"),
    summary: "Create a chat completion (OpenAI Chat Completions API)",
    body: ChatRequest,
    responses: CHAT_RESPONSES,
  },
  {
    ...COMMON,
    ...readDeclaration("responses"),
    summary: "Create a response (OpenAI Responses API)",
    body: ResponsesRequest,
    responses: streamableResponses(
      ResponsesResponse,
      null,
      "Events are those of OpenAI's Responses API; the last one is `response.completed`, `response.incomplete` or `response.failed`, and `data: [DONE]` follows it. A GET with an upgrade opens a WebSocket at the same path, over which each `response.create` is such a request.",
    ),
    errorSchema: ResponsesErrorBody,
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/responses/compact`,
    summary: "Compact a conversation (OpenAI Responses API)",
    callers: { kind: "inference" },
    body: CompactRequest,
    responses: [ok("The compacted conversation.", CompactResponse)],
    errorSchema: ResponsesErrorBody,
  },
  {
    ...COMMON,
    ...readDeclaration("messages"),
    summary: "Create a message (Anthropic Messages API)",
    headers: [...CALLING_HEADERS, ...ANTHROPIC_HEADERS],
    body: MessagesRequest,
    responses: streamableResponses(
      MessagesResponse,
      null,
      "Events are those of Anthropic's Messages API; the last one is `message_stop` or `error`.",
    ),
    responseHeaders: ["request-id", ...RESPONSE_HEADERS],
    errorSchema: MessagesErrorBody,
  },
  {
    ...COMMON,
    ...readDeclaration("messages"),
    path: `${GATEWAY_BASE}/messages/count_tokens`,
    summary: "Count the input tokens of a message (Anthropic Messages API), free of charge",
    headers: [ORGANIZATION_HEADER, MODE_HEADER, ...ANTHROPIC_HEADERS],
    body: CountRequest,
    responses: [ok("The number of tokens.", CountResponse)],
    responseHeaders: LIMIT_HEADERS,
    errors: COUNT_ERRORS,
    errorSchema: MessagesErrorBody,
  },
  {
    ...COMMON,
    ...readDeclaration("completions"),
    summary: "Complete a text (OpenAI's legacy Completions API)",
    body: CompletionRequest,
    responses: streamableResponses(
      CompletionResponse,
      CompletionChunk,
      "The last event is `data: [DONE]`, or an error.",
    ),
  },
  {
    ...COMMON,
    ...readDeclaration("fim"),
    summary: "Create a fill-in-the-middle completion between a prompt and a suffix",
    body: FimRequest,
    responses: CHAT_RESPONSES,
    responseHeaders: [...RESPONSE_HEADERS, "x-gateway-warning"],
  },
  {
    ...COMMON,
    ...readDeclaration("embeddings"),
    summary: "Create embeddings (OpenAI Embeddings API)",
    body: EmbeddingsRequest,
    responses: [ok("One vector for each input, in the order of the inputs.", EmbeddingsResponse)],
  },
  {
    ...COMMON,
    ...readDeclaration("moderations"),
    summary: "Check texts and images for harmful content (OpenAI Moderations API)",
    body: ModerationsRequest,
    responses: [ok("One result for each input.", ModerationsResponse)],
  },
  {
    ...COMMON,
    ...readDeclaration("rerank"),
    summary: "Rank documents by their relevance to a query (Cohere Rerank API)",
    body: RerankRequest,
    responses: [ok("The documents by relevance.", RerankResponse)],
  },
  {
    ...COMMON,
    ...readDeclaration("images"),
    summary: "Generate images (OpenAI Images API)",
    body: ImagesRequest,
    responses: streamableResponses(
      ImagesResponse,
      null,
      "Events are those of OpenAI's Images API; the last one is `image_generation.completed`.",
    ),
  },
  {
    ...COMMON,
    ...readDeclaration("speech"),
    summary: "Speak a text (OpenAI Speech API)",
    body: SpeechRequest,
    responses: [
      ok('Audio of the requested format; with `stream_format: "sse"` server-sent events.', null, "audio/*"),
    ],
  },
  {
    ...COMMON,
    ...readDeclaration("transcriptions"),
    summary: "Transcribe a recording (OpenAI Transcriptions API)",
    body: TranscriptionRequest,
    responses: streamableResponses(
      TranscriptionResponse,
      null,
      "Events are those of OpenAI's Transcriptions API; the last one is `transcript.text.done`.",
    ),
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/route/explain`,
    summary: "Explain how a request would be routed, without calling a provider and free of charge",
    callers: { kind: "inference" },
    query: ExplainQuery,
    body: ExplainBody,
    responses: [ok("The current routing plan for the request.", z.object({ data: RouteExplanation }))],
    responseHeaders: [],
    errors: EXPLAIN_ERRORS,
  },
];
