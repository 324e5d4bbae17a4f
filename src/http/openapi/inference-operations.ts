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

/** What a request would be refused with is in the answer, but for what leaves nothing to explain. */
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
  { name: "anthropic-version", description: "Any version is taken" },
  { name: "anthropic-beta", description: "Goes on to providers that speak Messages, and to no other" },
];

const CALLING_HEADERS: readonly RequestHeader[] = [ORGANIZATION_HEADER, SESSION_HEADER, MODE_HEADER];

/** What all that call models have in common. */
const COMMON = {
  method: "POST",
  tag: "Inference",
  callers: { kind: "freely" },
  params: null,
  query: null,
  headers: CALLING_HEADERS,
  answerHeaders: ANSWER_HEADERS,
  errors: ERRORS,
  errorSchema: ErrorAnswer,
  takesIdempotencyKey: false,
} as const;

function answerWith(schema: z.ZodType, event: z.ZodType | null, events: string): readonly SuccessAnswer[] {
  const description = "The answer; with `stream: true` as events";
  return [
    { status: 200, description, schema },
    { status: 200, description: `${description}. ${events}`, schema: event, mediaType: "text/event-stream" },
  ];
}

const CHAT_ANSWERS = answerWith(
  ChatCompletion,
  ChatChunk,
  'Each event\'s data is a chunk, the last `[DONE]`; a stream that breaks after its first token ends with `{"error": {…}}` alone, without `choices` and without `[DONE]`.',
);

/** What calls models. */
export const INFERENCE_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/chat/completions`,
    summary: "Answer a conversation, as OpenAI's chat completions",
    body: ChatRequest,
    answers: CHAT_ANSWERS,
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/responses`,
    summary: "Answer a conversation, as OpenAI's Responses; nothing is stored",
    body: ResponsesRequest,
    answers: answerWith(
      ResponsesAnswer,
      null,
      "Events are those of OpenAI's Responses API, the last `response.completed`, `response.incomplete` or `response.failed`.",
    ),
    errorSchema: ResponsesErrorAnswer,
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/messages`,
    summary: "Answer a conversation, as Anthropic's Messages",
    headers: [...CALLING_HEADERS, ...ANTHROPIC_HEADERS],
    body: MessagesRequest,
    answers: answerWith(
      MessagesAnswer,
      null,
      "Events are those of Anthropic's Messages API, the last `message_stop`, or `error`.",
    ),
    answerHeaders: ["request-id", ...ANSWER_HEADERS],
    errorSchema: MessagesErrorAnswer,
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/messages/count_tokens`,
    summary: "Count the tokens of a conversation; costs nothing",
    headers: [ORGANIZATION_HEADER, MODE_HEADER, ...ANTHROPIC_HEADERS],
    body: CountRequest,
    answers: [{ status: 200, description: "The count", schema: CountAnswer }],
    answerHeaders: LIMIT_HEADERS,
    errors: COUNT_ERRORS,
    errorSchema: MessagesErrorAnswer,
  },
  {
    ...COMMON,
    path: "/api/fim/completions",
    summary: "Fill in the code between a prompt and a suffix",
    callers: { kind: "inference" },
    body: FimRequest,
    answers: CHAT_ANSWERS,
    answerHeaders: [...ANSWER_HEADERS, "x-gateway-warning"],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/embeddings`,
    summary: "Turn texts into vectors, as OpenAI's embeddings",
    body: EmbeddingsRequest,
    answers: [
      { status: 200, description: "A vector for each input, in their order", schema: EmbeddingsAnswer },
    ],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/route/explain`,
    summary:
      "Who would answer a request, in turn, and who would not, and why; calls nobody and costs nothing",
    callers: { kind: "inference" },
    query: ExplainQuery,
    body: ExplainBody,
    answers: [
      { status: 200, description: "The plan as it is now", schema: z.object({ data: RouteExplanation }) },
    ],
    answerHeaders: [],
    errors: EXPLAIN_ERRORS,
  },
];
