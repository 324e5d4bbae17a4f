import type { SandboxAnswer } from "./answer.ts";
import { encodeChunks, encodeDocument, encodeToken, type Stamp, type StreamChunk } from "./encode-answer.ts";
import type { SandboxRequest } from "./read-request.ts";
import {
  DONE,
  describeBadRequest,
  type Piece,
  replyWithError,
  replyWithJson,
  replyWithStream,
  type SandboxError,
  type SandboxReply,
  writeEvent,
  writePiece,
} from "./reply.ts";

/** The answer that would be given without a failure. */
interface HealthyAnswer {
  readonly request: SandboxRequest;
  readonly answer: SandboxAnswer;
  readonly stamp: Stamp;
}

/** Turns a healthy answer into a reply that fails in a certain way. */
export type SandboxFailure = (healthy: HealthyAnswer) => SandboxReply;

/** The context window that the context failure names. Tokens. */
const CONTEXT_WINDOW = 8192;

/** A typical vendor error for each status that a marker can name. */
const VENDOR_ERRORS: Readonly<Record<number, SandboxError>> = {
  400: describeBadRequest(
    "Unsupported value: 'temperature' does not support 0.3 with this model.",
    "temperature",
  ),
  401: {
    message: "Incorrect API key provided: sk-sand****box.",
    type: "invalid_request_error",
    param: null,
    code: "invalid_api_key",
  },
  402: { message: "Insufficient credits. Add more to go on.", type: "billing_error", param: null, code: 402 },
  403: {
    message: "Country, region, or territory not supported",
    type: "request_forbidden",
    param: null,
    code: "unsupported_country_region_territory",
  },
  404: {
    message: "The model `echo` does not exist or you do not have access to it.",
    type: "invalid_request_error",
    param: null,
    code: "model_not_found",
  },
  429: {
    message:
      "Rate limit reached for echo in organization org-sandbox on requests per min (RPM): Limit 3, Used 3.",
    type: "requests",
    param: null,
    code: "rate_limit_exceeded",
  },
  500: {
    message: "The server had an error while processing your request. Sorry about that!",
    type: "server_error",
    param: null,
    code: null,
  },
  502: { message: "Bad gateway", type: "server_error", param: null, code: null },
  503: {
    message: "The engine is currently overloaded, please try again later.",
    type: "server_error",
    param: null,
    code: "service_unavailable",
  },
  529: { message: "Overloaded", type: "overloaded_error", param: null, code: null },
};

/** The statuses that `failWithStatus` accepts. */
export const ERROR_STATUSES: readonly number[] = Object.keys(VENDOR_ERRORS).map(Number);

/** Returns an error with its status as the code, as vendors send it with status 200. */
function describeInBody(status: number): { error: SandboxError } {
  return { error: { ...VENDOR_ERRORS[status]!, code: status } };
}

/** Replies with the healthy answer. */
export const giveAnswer: SandboxFailure = (healthy) =>
  healthy.request.stream
    ? replyWithStream(writeChunks(listChunks(healthy), [DONE]))
    : replyWithJson(200, encodeDocument(healthy.answer, healthy.stamp));

/** Fails with one of `ERROR_STATUSES`. `retryAfterS` is in seconds; null for no header. */
export function failWithStatus(status: number, retryAfterS: number | null): SandboxFailure {
  const headers: Record<string, string> = retryAfterS === null ? {} : { "retry-after": String(retryAfterS) };
  return () => replyWithError(status, VENDOR_ERRORS[status]!, headers);
}

/** Fails with OpenAI's error for an account without credit. */
export const failForQuota: SandboxFailure = () =>
  replyWithError(429, {
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
    param: null,
    code: "insufficient_quota",
  });

export const failForContext: SandboxFailure = ({ request }) => {
  const requested = CONTEXT_WINDOW + request.promptTokens;
  return replyWithError(400, {
    message:
      `This model's maximum context length is ${CONTEXT_WINDOW} tokens. However, your messages resulted in ` +
      `${requested} tokens. Please reduce the length of the messages.`,
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  });
};

export const refuseConnection: SandboxFailure = () => ({
  kind: "failure",
  error: "connect_failed",
  message: "connection refused",
});

export const resetConnection: SandboxFailure = () => ({
  kind: "failure",
  error: "reset",
  message: "the connection was reset before the answer began",
});

export const neverConnect: SandboxFailure = () => ({ kind: "connect-timeout" });

export const neverAnswer: SandboxFailure = () => ({ kind: "silence" });

/** Replies with an HTML page, like a load balancer in front of a vendor. */
export function answerWithHtml(status: number): SandboxFailure {
  const page = "<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>";
  const headers = { "content-type": "text/html; charset=utf-8" };
  return () => ({ kind: "answer", status, headers, body: [writePiece(page)] });
}

export const answerWithNothing: SandboxFailure = (healthy) =>
  healthy.request.stream
    ? replyWithStream([])
    : { kind: "answer", status: 200, headers: { "content-type": "application/json" }, body: [] };

/** Replies with status 200 and an error as a document, even if a stream was requested. */
export function answerWithErrorBody(status: number): SandboxFailure {
  return () => replyWithJson(200, describeInBody(status));
}

/** Replies with status 200 and an error as the first event. */
export function streamErrorFirst(status: number): SandboxFailure {
  const event = describeInBody(status);
  return ({ request }) => (request.stream ? replyWithStream([writeEvent(event)]) : replyWithJson(200, event));
}

/** Sends an error event after `count` tokens, and ends cleanly. */
export function streamErrorLate(status: number, count: number): SandboxFailure {
  const event = describeInBody(status);
  return (healthy) =>
    healthy.request.stream ? breakOff(healthy, count, [writeEvent(event)]) : replyWithJson(200, event);
}

/** Sends nothing more after `count` tokens. */
export function stallAfter(count: number): SandboxFailure {
  return (healthy) => breakOff(healthy, count, [{ kind: "hang" }]);
}

/** Breaks the connection after `count` tokens. */
export function cutAfter(count: number): SandboxFailure {
  return (healthy) => breakOff(healthy, count, [{ kind: "break" }]);
}

/** Breaks the connection after the first piece of a call's arguments. */
export const cutInCall: SandboxFailure = (healthy) => {
  if (!healthy.request.stream) return breakOff(healthy, 0, [{ kind: "break" }]);
  const chunks = takeThrough(listChunks(healthy), (chunk) => chunk.part === "arguments");
  return replyWithStream(writeChunks(chunks, [{ kind: "break" }]));
};

/** Ends cleanly without `finish_reason`, usage and end marker. */
export const endWithoutFinish: SandboxFailure = (healthy) => {
  if (healthy.request.stream) return breakOff(healthy, Number.POSITIVE_INFINITY, []);
  const document = encodeDocument(healthy.answer, healthy.stamp);
  const choices = (document["choices"] as object[]).map((choice) => ({ ...choice, finish_reason: null }));
  return replyWithJson(200, { ...document, choices });
};

/** Sends `finish_reason` twice. A document, which has only one, is healthy. */
export const finishTwice: SandboxFailure = (healthy) => {
  if (!healthy.request.stream) return giveAnswer(healthy);
  return replyWithStream(writeChunks(repeatFinish(listChunks(healthy)), [DONE]));
};

/** Splits a four-byte character between two pieces, and ends cleanly in the middle of another one. */
export const splitCharacters: SandboxFailure = (healthy) => {
  if (healthy.request.stream) {
    const [first, second] = splitInCharacter(writeEvent(encodeToken(" 🦉", healthy.stamp).json));
    return breakOff(healthy, DEFAULT_TOKENS, [first, second, first]);
  }
  const [first, second] = splitInCharacter(writePiece(JSON.stringify(encodeOwls(healthy))));
  const [middle] = splitInCharacter(second);
  const { headers } = replyWithJson(200, null) as Extract<SandboxReply, { kind: "answer" }>;
  return { kind: "answer", status: 200, headers, body: [first, middle] };
};

/** Replies without `usage`. */
export const leaveOutUsage: SandboxFailure = (healthy) => {
  if (!healthy.request.stream) {
    const { usage, ...document } = encodeDocument(healthy.answer, healthy.stamp);
    return replyWithJson(200, document);
  }
  const request = { ...healthy.request, includeUsage: false };
  return giveAnswer({ ...healthy, request });
};

/** Sends an event of invalid JSON among healthy ones. A document ends cleanly in its middle. */
export const sendGarbage: SandboxFailure = (healthy) => {
  if (!healthy.request.stream) return breakOff(healthy, 0, []);
  return replyWithStream(garble(listChunks(healthy)));
};

/** The default number of tokens before a late failure. */
export const DEFAULT_TOKENS = 3;

const BROKEN_EVENT = writePiece('data: {"id":"chatcmpl-broken","choices":[{"index":0,"delta":{"con\n\n');

function listChunks({ answer, stamp, request }: HealthyAnswer): Iterable<StreamChunk> {
  return encodeChunks(answer, stamp, request.includeUsage);
}

function* writeChunks(chunks: Iterable<StreamChunk>, then: readonly Piece[]): Generator<Piece> {
  for (const chunk of chunks) yield writeEvent(chunk.json);
  yield* then;
}

/** Replies with at most `count` tokens of a stream, or half of a document, followed by `then`. */
function breakOff(healthy: HealthyAnswer, count: number, then: readonly Piece[]): SandboxReply {
  if (healthy.request.stream) {
    return replyWithStream(writeChunks(takeTokens(listChunks(healthy), count), then));
  }
  const json = JSON.stringify(encodeDocument(healthy.answer, healthy.stamp));
  const half = writePiece(json.slice(0, json.length / 2));
  return {
    ...(replyWithJson(200, null) as Extract<SandboxReply, { kind: "answer" }>),
    body: [half, ...then],
  };
}

function* takeTokens(chunks: Iterable<StreamChunk>, count: number): Generator<StreamChunk> {
  let tokens = 0;
  for (const chunk of chunks) {
    if (chunk.part === "finish") return;
    if (chunk.part === "token" || chunk.part === "arguments") tokens++;
    if (tokens > count) return;
    yield chunk;
  }
}

function* takeThrough(
  chunks: Iterable<StreamChunk>,
  isLast: (chunk: StreamChunk) => boolean,
): Generator<StreamChunk> {
  for (const chunk of chunks) {
    if (chunk.part === "finish") return;
    yield chunk;
    if (isLast(chunk)) return;
  }
}

function* repeatFinish(chunks: Iterable<StreamChunk>): Generator<StreamChunk> {
  for (const chunk of chunks) {
    yield chunk;
    if (chunk.part === "finish") yield chunk;
  }
}

function* garble(chunks: Iterable<StreamChunk>): Generator<Piece> {
  let tokens = 0;
  for (const chunk of chunks) {
    yield writeEvent(chunk.json);
    if (chunk.part !== "role" && ++tokens === 1) yield BROKEN_EVENT;
  }
  yield DONE;
}

function encodeOwls({ answer, stamp }: HealthyAnswer): Record<string, unknown> {
  const choice = { reasoning: "", text: "🦉🦉", calls: [], finish: "stop" } as const;
  return encodeDocument({ ...answer, choices: [choice] }, stamp);
}

/** Splits a piece in the middle of its first four-byte character. */
function splitInCharacter(piece: Piece): [Piece, Piece] {
  const bytes = (piece as Extract<Piece, { kind: "bytes" }>).bytes;
  const at = bytes.indexOf(0xf0) + 2;
  return [
    { kind: "bytes", bytes: bytes.subarray(0, at) },
    { kind: "bytes", bytes: bytes.subarray(at) },
  ];
}
