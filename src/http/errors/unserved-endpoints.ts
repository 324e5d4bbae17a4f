import type { ErrorRenderer } from "../context/context.ts";
import { renderGeminiError, renderMessageError, renderOllamaError } from "./client-api-errors.ts";
import { renderError } from "./render-error.ts";

/** A well-known endpoint of another API that the gateway does not serve. */
interface UnservedEndpoint {
  /** Paths of the endpoint, below any prefix. */
  readonly path: RegExp;
  /** A path that clients send, for tests. */
  readonly example: string;
  /** What clients should use instead. */
  readonly hint: string;
  /** The error format for its clients. Absent: the format of OpenAI's clients. */
  readonly renderError?: ErrorRenderer;
}

const CHAT = "POST /v1/chat/completions";

/** Matches a path that contains one of these segments, with or without further segments. */
const below = (segments: string): RegExp => new RegExp(`/(?:${segments})(?:/|$)`, "i");
/** Matches a whole path. */
const whole = (path: string): RegExp => new RegExp(`^(?:${path})/?$`, "i");

const OPENAI: readonly UnservedEndpoint[] = [
  {
    path: below("assistants|threads"),
    example: "/v1/threads/thread_1/messages",
    hint: `Assistants and threads are not served. Keep the conversation in the client, and send it to POST /v1/responses or ${CHAT}.`,
  },
  {
    path: below("batches"),
    example: "/v1/messages/batches",
    hint: "Batches are not served. Send each request separately to the endpoint of its API.",
  },
  {
    path: below("vector_stores"),
    example: "/v1/vector_stores/vs_1/search",
    hint: "Vector stores are not served. Create vectors with POST /v1/embeddings, and store them in your own database.",
  },
  {
    path: below("files|uploads|containers"),
    example: "/v1/files/file-1/content",
    hint: `Files are not stored. Include the file in the request, as base64 or as a URL: a file part of ${CHAT}, or input_file of POST /v1/responses.`,
  },
  {
    path: below("fine_tuning|fine-tunes|fine_tunes"),
    example: "/v1/fine_tuning/jobs",
    hint: "Fine-tuning is not served. Train the model at its provider; the operator then lists it under providers.*.models in the configuration.",
  },
  {
    path: below("realtime"),
    example: "/v1/realtime/sessions",
    hint: `The Realtime API is not served. Send text or recordings (input_audio) to ${CHAT}, with stream: true.`,
  },
  {
    path: below("evals"),
    example: "/v1/evals/eval_1/runs",
    hint: `Evals are not served. Send each sample to ${CHAT}.`,
  },
  {
    path: below("images/(?:edits|variations)"),
    example: "/v1/images/edits",
    hint: `Images are not edited here. Send the image and the instruction to a model with image output at ${CHAT}.`,
  },
  {
    path: below("audio/translations"),
    example: "/v1/audio/translations",
    hint: `Recordings are not translated here. Send the recording (input_audio) and the instruction to a model with audio input at ${CHAT}.`,
  },
  {
    path: below("videos"),
    example: "/v1/videos",
    hint: "Videos are not generated here. GET /v1/models lists the models and what they return.",
  },
  {
    path: whole("(?:/[\\w-]+)*/edits"),
    example: "/v1/edits",
    hint: `The Edits API is not served. Send the text and the instruction to ${CHAT}.`,
  },
  {
    path: below("organization"),
    example: "/v1/organization/usage/completions",
    hint: "OpenAI's administration API is not served. GET /v1/key, /v1/credits and /v1/activity describe the caller's key, and /docs/reference lists the management API.",
  },
];

const ANTHROPIC_AND_OTHERS: readonly UnservedEndpoint[] = [
  {
    path: below("complete"),
    example: "/v1/complete",
    hint: "Anthropic's text completions are not served. Use POST /v1/messages, or POST /v1/completions for a plain prompt.",
  },
  {
    path: below("v1/agents"),
    example: "/v1/agents/completions",
    hint: `Providers' agents are not served. Choose a model, and send the conversation to ${CHAT}.`,
  },
  {
    path: below("ocr"),
    example: "/v1/ocr",
    hint: `There is no separate endpoint for text recognition. Send the document to a model with image or file input at ${CHAT}.`,
  },
  {
    path: /\/models\/[^/]+:(?:\w*embedContents?|predict)$/i,
    example: "/v1beta/models/gemini-embedding-001:batchEmbedContents",
    hint: "Gemini's API is not served. Create vectors with an OpenAI client at POST /v1/embeddings.",
    renderError: renderGeminiError,
  },
  {
    path: /\/models\/[^/]+:countTokens$/i,
    example: "/v1beta/models/gemini-2.5-pro:countTokens",
    hint: "Gemini's API is not served. Count tokens with POST /v1/messages/count_tokens, which accepts every model.",
    renderError: renderGeminiError,
  },
  {
    path: /\/models\/[^/]+:\w+$/i,
    example: "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
    hint: `Gemini's API is not served. Use a client of OpenAI's or Anthropic's API: ${CHAT}, POST /v1/responses and POST /v1/messages accept Gemini models too.`,
    renderError: renderGeminiError,
  },
  {
    path: /\/model\/[^/]+\/(?:converse|invoke)[\w-]*$/i,
    example: "/model/anthropic.claude/converse-stream",
    hint: `Bedrock's API is not served. Use a client of OpenAI's or Anthropic's API: ${CHAT} and POST /v1/messages accept its models too.`,
    renderError: renderMessageError,
  },
  {
    path: whole("(?:/[\\w-]+)*/v2/chat"),
    example: "/v2/chat",
    hint: `Cohere's API is not served. Use a client of OpenAI's API: ${CHAT} accepts Cohere's models too.`,
    renderError: renderMessageError,
  },
  {
    path: whole("(?:/[\\w-]+)*/v[12]/embed"),
    example: "/v2/embed",
    hint: "Cohere's API is not served. Use a client of OpenAI's API: POST /v1/embeddings accepts Cohere's models too.",
    renderError: renderMessageError,
  },
];

const OLLAMA: readonly UnservedEndpoint[] = [
  {
    path: whole("/api/chat"),
    example: "/api/chat",
    hint: `Ollama's API is not served. Use ${CHAT}: the base URL of an OpenAI client ends in /v1.`,
    renderError: renderOllamaError,
  },
  {
    path: whole("/api/generate"),
    example: "/api/generate",
    hint: "Ollama's API is not served. Use POST /v1/completions: the base URL of an OpenAI client ends in /v1.",
    renderError: renderOllamaError,
  },
  {
    path: whole("/api/embed(?:dings)?"),
    example: "/api/embed",
    hint: "Ollama's API is not served. Use POST /v1/embeddings: the base URL of an OpenAI client ends in /v1.",
    renderError: renderOllamaError,
  },
  {
    path: whole("/api/(?:tags|ps|show|version)"),
    example: "/api/tags",
    hint: "Ollama's API is not served. GET /v1/models lists the models.",
    renderError: renderOllamaError,
  },
  {
    path: whole("/api/(?:pull|push|create|copy|delete)"),
    example: "/api/pull",
    hint: "Models are not installed through the gateway. Its operator lists those of an Ollama server under providers.*.models in the configuration.",
    renderError: renderOllamaError,
  },
];

const OTHER_GATEWAYS: readonly UnservedEndpoint[] = [
  {
    path: whole("/(?:health|ping|live|livez|ready)(?:/\\w+)?"),
    example: "/health/readiness",
    hint: "GET /healthz says whether the process is running, and GET /readyz whether it can answer requests.",
  },
  {
    path: whole("(?:/api/gateway|/api)?(?:/v1)?/auth/key"),
    example: "/api/v1/auth/key",
    hint: "GET /v1/key describes the caller's key.",
  },
  {
    path: /^\/(?:key|user|team|budget|spend)\/\w+$|^\/(?:v1\/)?model\/info$/i,
    example: "/key/generate",
    hint: "Keys, users and usage are managed at /api/admin with a management key; GET /docs/reference describes it. GET /v1/models lists the models.",
  },
  {
    path: whole("/(?:ui|dashboard|admin|login)"),
    example: "/ui",
    hint: "The console is at /console.",
  },
  {
    path: whole("/(?:swagger|redoc|api-docs)(?:/.*)?|/openapi\\.ya?ml|/swagger\\.json"),
    example: "/swagger",
    hint: "GET /docs/reference is the API reference, and GET /openapi.json the OpenAPI document.",
  },
];

/** Well-known endpoints that are not served. The first one that matches a path applies; routes take precedence over all. */
export const UNSERVED_ENDPOINTS: readonly UnservedEndpoint[] = [
  ...OPENAI,
  ...ANTHROPIC_AND_OTHERS,
  ...OLLAMA,
  ...OTHER_GATEWAYS,
];

/** The longest path that is compared. Characters. */
const MAX_CHARS = 500;

/** Returns the well-known endpoint that a path belongs to; null for other paths. */
export function findUnserved(pathname: string): UnservedEndpoint | null {
  if (pathname.length > MAX_CHARS) return null;
  return UNSERVED_ENDPOINTS.find(({ path }) => path.test(pathname)) ?? null;
}

/** Returns the error format of the clients that send this path. */
export function rendererOfUnserved(pathname: string): ErrorRenderer {
  return findUnserved(pathname)?.renderError ?? renderError;
}
