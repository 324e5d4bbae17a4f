import { BOUNDS } from "../../base/bounds.ts";
import type { Timer } from "../../base/clock.ts";
import { isDocumentStart } from "../../wire/canonical/read-document.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../../wire/canonical/relay.ts";
import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import type { FormatName } from "../../wire/conversation/format-name.ts";
import { lacksEndpoint } from "../../wire/conversation/missing-endpoint.ts";
import { refusesReasoning } from "../../wire/conversation/reasoning-refusal.ts";
import {
  brokenAnswer,
  readBareStatus,
  readVendorError,
  type VendorError,
} from "../../wire/conversation/vendor-error.ts";
import { parseJson } from "../../wire/json/parse-json.ts";
import { type Exchange, TransportError, type UpstreamResponse } from "../deployments/transport.ts";
import { AuthorizeError } from "../deployments/upstream-address.ts";
import type { Candidate } from "../routing/plan.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import {
  classifyAuthorizeError,
  classifyCancellation,
  classifyTransportError,
  classifyVendorError,
  type FailureClassification,
  type PromptSize,
} from "./classify-failure.ts";
import type { EncodedForCandidate } from "./encode-for-candidate.ts";
import { readBody } from "./read-body.ts";

/**
 * What one candidate came to. Once a stream has begun it cannot become a failure that someone else makes good: the
 * type has no way back.
 */
export type AttemptOutcome =
  | { readonly kind: "streaming"; readonly begun: BegunStream }
  | {
      readonly kind: "answered";
      readonly answer: Extract<WholeAnswer, { kind: "answer" }>;
      readonly status: number;
    }
  | {
      readonly kind: "failed";
      readonly classification: FailureClassification;
      readonly status: number | null;
      /** The vendor did not like the reasoning that came back to it; without it the request may pass. */
      readonly refusesReasoning: boolean;
      /** The host does not have the endpoint that was asked; in another format it may have one. */
      readonly lacksEndpoint: boolean;
    }
  | { readonly kind: "client_left" };

/** Whether it is an answer that has finished cleanly and holds nothing that a person or agent would read. */
export function isEmptyAnswer(outcome: AttemptOutcome): boolean {
  if (outcome.kind === "streaming") return outcome.begun.isEmpty;
  return outcome.kind === "answered" && outcome.answer.isEmpty;
}

/** A stream that has reached its first token, or its end without failing. */
export interface BegunStream {
  /** It has finished cleanly and holds nothing that a person or agent would read. */
  readonly isEmpty: boolean;
  readonly relay: AnswerRelay;
  readonly exchange: Exchange;
  readonly response: UpstreamResponse;
  /** What the client gets first, bytes read as Latin-1. */
  readonly head: string;
  /** The upstream has nothing more. */
  readonly isOver: boolean;
}

/** What an attempt works with. */
export interface AttemptContext {
  readonly deps: Pick<GenerationDeps, "clock" | "timers">;
  readonly call: Pick<GenerationCall, "request">;
  readonly candidate: Candidate;
  readonly cancellation: Cancellation;
  /** The request as this candidate takes it. */
  readonly encoded: Pick<EncodedForCandidate, "body" | "headers" | "format">;
  readonly identity: RelayIdentity;
  readonly size: PromptSize;
  /** Whether its endpoint is known by now to be out of order; null where nobody else may try. */
  readonly isOut: (() => boolean) | null;
}

/** Tries one candidate as far as its first token, or its whole answer where none is streamed. */
export async function attempt(context: AttemptContext): Promise<AttemptOutcome> {
  const { deps, call, cancellation } = context;
  if (call.request.stream) cancellation.startPhase("first_token", deps.timers.firstTokenMs);
  else cancellation.endPhase();
  const watch = call.request.stream || context.isOut === null ? null : watchOver(context, context.isOut);
  let exchange: Exchange | null = null;
  let status: number | null = null;
  try {
    const opened = openExchange(context);
    // Waiting costs a turn of the event loop, also for what is there already.
    exchange = opened instanceof Promise ? await opened : opened;
    cancellation.guard(exchange);
    const response = await exchange.response;
    status = response.status;
    if (status < 200 || status >= 300) {
      return failed(context, exchange, response, await readRefusal(context, exchange, response));
    }
    if (!call.request.stream) return await readWhole(context, exchange, response);
    return await readToFirstToken(context, exchange, response);
  } catch (error) {
    exchange?.cancel();
    return judgeThrown(context, error, status);
  } finally {
    watch?.cancel();
  }
}

/** A whole answer may take its time, unless other requests have found meanwhile that nothing good comes from there. */
function watchOver({ deps: { clock, timers }, cancellation }: AttemptContext, isOut: () => boolean): Timer {
  let timer = clock.after(timers.firstTokenMs, function look() {
    if (isOut()) cancellation.cut("first_token");
    else timer = clock.after(WATCH_MS, look);
  });
  return { cancel: () => timer.cancel() };
}

/** How often that is looked at, once a stream would have been given up. Milliseconds. */
const WATCH_MS = 5_000;

/** A promise only where the proof of who asks must be fetched. */
function openExchange({ deps, call, candidate, cancellation, encoded }: AttemptContext) {
  const { provider, key } = candidate;
  const { body, format } = encoded;
  const url = findUrl(candidate, call.request, format);
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: call.request.stream ? streamTypeOf(format) : "application/json",
    ...encoded.headers,
    ...key.address.headersFor(format),
    ...key.headers,
  };
  const open = (proof: Readonly<Record<string, string>>): Exchange =>
    provider.transport.open({
      url,
      method: "POST",
      headers: Object.assign(headers, proof),
      body,
      connectTimeoutMs: deps.timers.connectMs,
    });
  const proof = key.address.authorize({ url, body, headers, secret: key.secret });
  return proof instanceof Promise ? untilCut(proof, cancellation).then(open) : open(proof);
}

/** Streams are server-sent events everywhere but at Bedrock. */
function streamTypeOf(format: FormatName): string {
  return format === "bedrock-converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
}

function findUrl(
  { provider, endpoint, key }: Candidate,
  { action, stream }: InferenceRequest,
  format: FormatName,
): URL {
  const url = key.address.urlFor({ format, action, model: endpoint.name, stream });
  // The servedModels leaves out what has no address.
  if (url === null) throw new Error(`${provider.record.slug} has no address for ${format}`);
  return url;
}

/** Waits as long as the generation may, and no longer. */
function untilCut<T>(promise: Promise<T>, cancellation: Cancellation): Promise<T> {
  const { promise: cut, reject } = Promise.withResolvers<never>();
  cut.catch(() => {});
  cancellation.guard({ response: cut, cancel: () => reject(new TransportError("cancelled", "cut")) });
  return Promise.race([promise, cut]);
}

/** How long the body of a refusal may take. Its status is known, and another candidate may be waiting. Milliseconds. */
const REFUSAL_MS = 3_000;

/** A status that is none of success. It stands, whatever becomes of the body. */
async function readRefusal(
  { deps, cancellation }: AttemptContext,
  exchange: Exchange,
  response: UpstreamResponse,
): Promise<VendorError> {
  const timer = deps.clock.after(REFUSAL_MS, () => exchange.cancel());
  try {
    const body = await readBody(response, BOUNDS.errorBodyBytes, "cut");
    const errorType = response.header("x-amzn-errortype");
    return readVendorError(response.status, parseJson(body.toString("utf8")), errorType);
  } catch (error) {
    if (cancellation.reason !== null) throw error;
    return readBareStatus(response.status);
  } finally {
    timer.cancel();
  }
}

async function readWhole(
  context: AttemptContext,
  exchange: Exchange,
  response: UpstreamResponse,
): Promise<AttemptOutcome> {
  const body = await readBody(response, BOUNDS.answerBytes, "refuse");
  const { call, encoded, identity } = context;
  const answer = call.request.readAnswer(encoded.format, body.toString("utf8"), identity);
  if (answer.kind === "error") return failed(context, exchange, response, answer.error);
  return { kind: "answered", answer, status: response.status };
}

async function readToFirstToken(
  context: AttemptContext,
  exchange: Exchange,
  response: UpstreamResponse,
): Promise<AttemptOutcome> {
  const { call, encoded, identity } = context;
  const start = await readStart(response);
  const relay = call.request.openRelay(encoded.format, identity, start !== null && isDocumentStart(start));
  let head = "";
  for (let text = start; ; text = await readText(response)) {
    head += text === null ? relay.end() : relay.step(text);
    if (relay.error !== null) return failed(context, exchange, response, relay.error);
    const isOver = text === null || relay.isDone;
    if (isOver || relay.sawToken) return begin(context, { relay, exchange, response, head, isOver });
    if (head.length > BOUNDS.heldBytes) return failed(context, exchange, response, SAID_NOTHING);
  }
}

function begin(context: AttemptContext, begun: Omit<BegunStream, "isEmpty">): AttemptOutcome {
  const { relay, exchange, response, isOver } = begun;
  const verdict = isOver ? relay.judge() : null;
  if (!relay.sawToken && (verdict === "unfinished" || verdict === "failed"))
    return failed(context, exchange, response, relay.error ?? SAID_NOTHING);
  return { kind: "streaming", begun: { ...begun, isEmpty: verdict === "empty" } };
}

const SAID_NOTHING = brokenAnswer("the upstream answered with nothing");

/** Bytes read as Latin-1, which is how the relay wants them. */
export function latin1(piece: Uint8Array): string {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
}

async function readText(response: UpstreamResponse): Promise<string | null> {
  const piece = await response.read();
  return piece === null ? null : latin1(piece);
}

/** The first of the body that is not blank: hosts send empty lines as signs of life. Null where there is nothing else. */
async function readStart(response: UpstreamResponse): Promise<string | null> {
  let start = "";
  while (start.length <= BOUNDS.heldBytes) {
    const text = await readText(response);
    if (text === null) return null;
    start += text;
    if (/\S/.test(text)) return start;
  }
  return null;
}

function failed(
  context: AttemptContext,
  exchange: Exchange,
  response: UpstreamResponse,
  error: VendorError,
): AttemptOutcome {
  // What was not read would hold its connection for as long as the upstream likes.
  exchange.cancel();
  const retryAfterS = parseRetryAfter(response.header("retry-after"), context.deps.clock.now());
  return {
    kind: "failed",
    classification: classifyVendorError(error, context.candidate, context.size, retryAfterS),
    status: response.status,
    refusesReasoning: refusesReasoning(error),
    lacksEndpoint: lacksEndpoint(error),
  };
}

/** `Retry-After` in seconds: a number or a date; null when it is neither. */
function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

function judgeThrown(
  { cancellation, candidate }: AttemptContext,
  error: unknown,
  status: number | null,
): AttemptOutcome {
  if (cancellation.reason === "client_left" || cancellation.reason === "client_stalled")
    return { kind: "client_left" };
  if (cancellation.reason !== null)
    return broken(classifyCancellation(cancellation.reason, candidate), status);
  if (error instanceof AuthorizeError) return broken(classifyAuthorizeError(error, candidate), status);
  if (error instanceof TransportError)
    return broken(classifyTransportError(error, candidate, status), status);
  throw error;
}

function broken(classification: FailureClassification, status: number | null): AttemptOutcome {
  return {
    kind: "failed",
    classification: classification,
    status,
    refusesReasoning: false,
    lacksEndpoint: false,
  };
}
