import { z } from "zod";
import type { ErrorCode } from "../../base/errors.ts";
import { ErrorAnswer, MessagesErrorAnswer, ResponsesErrorAnswer } from "./errors.ts";
import {
  ChatChunk,
  ChatCompletion,
  ChatRequest,
  CountAnswer,
  CountRequest,
  EmbeddingsAnswer,
  EmbeddingsRequest,
  FimRequest,
  MessagesAnswer,
  MessagesRequest,
  ResponsesAnswer,
  ResponsesRequest,
} from "./inference-schemas.ts";
import type { Operation, RequestHeader, SuccessAnswer } from "./operation.ts";
import { ExplainBody, ExplainQuery, RouteExplanation } from "./route-schemas.ts";
import { GATEWAY_BASE, MODE_HEADER, ORGANIZATION_HEADER, SESSION_HEADER } from "./shared-parts.ts";

const ERRORS: readonly ErrorCode[] = [
  "invalid_request",
  "invalid_model",
  "context_length_exceeded",
  "authentication",
  "insufficient_credits",
  "model_not_allowed",
  "permission_denied",
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
const ANSWER_HEADERS = [
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

const CALLING_HEADERS: readonly RequestHeader[] = [ORGANIZATION_HEADER, SESSION_HEADER, MODE_HEADER];

/** The parts that inference operations share. */
const COMMON = {
  method: "POST",
  tag: "Inference",
  callers: { kind: "open_inference" },
  params: null,
  query: null,
  headers: CALLING_HEADERS,
  answerHeaders: ANSWER_HEADERS,
  errors: ERRORS,
  errorSchema: ErrorAnswer,
  takesIdempotencyKey: false,
} as const;

function answerWith(schema: z.ZodType, event: z.ZodType | null, events: string): readonly SuccessAnswer[] {
  const description = "The response; with `stream: true` a stream of server-sent events.";
  return [
    { status: 200, description, schema },
    { status: 200, description: `${description} ${events}`, schema: event, mediaType: "text/event-stream" },
  ];
}

const CHAT_ANSWERS = answerWith(
  ChatCompletion,
  ChatChunk,
  'The data of each event is a chunk; the last event is `[DONE]`. A stream that fails after its first token ends with an event `{"error": {…}}` without `choices`, and without `[DONE]`.',
);

/** The operations that call models, count tokens or explain routing. */
export const INFERENCE_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/chat/completions`,
    summary: "Create a chat completion (OpenAI Chat Completions API)",
    body: ChatRequest,
    answers: CHAT_ANSWERS,
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/responses`,
    summary: "Create a response (OpenAI Responses API). Responses are not stored",
    body: ResponsesRequest,
    answers: answerWith(
      ResponsesAnswer,
      null,
      "Events are those of OpenAI's Responses API; the last one is `response.completed`, `response.incomplete` or `response.failed`.",
    ),
    errorSchema: ResponsesErrorAnswer,
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/messages`,
    summary: "Create a message (Anthropic Messages API)",
    headers: [...CALLING_HEADERS, ...ANTHROPIC_HEADERS],
    body: MessagesRequest,
    answers: answerWith(
      MessagesAnswer,
      null,
      "Events are those of Anthropic's Messages API; the last one is `message_stop` or `error`.",
    ),
    answerHeaders: ["request-id", ...ANSWER_HEADERS],
    errorSchema: MessagesErrorAnswer,
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/messages/count_tokens`,
    summary: "Count the input tokens of a message (Anthropic Messages API), free of charge",
    headers: [ORGANIZATION_HEADER, MODE_HEADER, ...ANTHROPIC_HEADERS],
    body: CountRequest,
    answers: [{ status: 200, description: "The number of tokens.", schema: CountAnswer }],
    answerHeaders: LIMIT_HEADERS,
    errors: COUNT_ERRORS,
    errorSchema: MessagesErrorAnswer,
  },
  {
    ...COMMON,
    path: "/api/fim/completions",
    summary: "Create a fill-in-the-middle completion between a prompt and a suffix",
    callers: { kind: "inference" },
    body: FimRequest,
    answers: CHAT_ANSWERS,
    answerHeaders: [...ANSWER_HEADERS, "x-gateway-warning"],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/embeddings`,
    summary: "Create embeddings (OpenAI Embeddings API)",
    body: EmbeddingsRequest,
    answers: [
      {
        status: 200,
        description: "One vector for each input, in the order of the inputs.",
        schema: EmbeddingsAnswer,
      },
    ],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/route/explain`,
    summary: "Explain how a request would be routed, without calling a provider and free of charge",
    callers: { kind: "inference" },
    query: ExplainQuery,
    body: ExplainBody,
    answers: [
      {
        status: 200,
        description: "The current routing plan for the request.",
        schema: z.object({ data: RouteExplanation }),
      },
    ],
    answerHeaders: [],
    errors: EXPLAIN_ERRORS,
  },
];
