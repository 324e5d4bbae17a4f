import { parseJson } from "../../../base/json/parse-json.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { readLatin1, readUtf8 } from "../../../base/text/decode-bytes.ts";
import type { Timer } from "../../../base/time/clock.ts";
import { endOfTurn } from "../../../base/time/turn-end.ts";
import { isDocumentStart } from "../../../wire/canonical/answer/read-document.ts";
import type { AnswerHead, RelayIdentity, WholeAnswer } from "../../../wire/canonical/answer/relay.ts";
import { RelayReader } from "../../../wire/canonical/answer/relay-reader.ts";
import type { OpenedRelay, UpstreamAnswers } from "../../../wire/client-apis/request/inference-request.ts";
import { lacksEndpoint } from "../../../wire/conversation/errors/missing-endpoint.ts";
import { type Overflow, roomForAnswer } from "../../../wire/conversation/errors/read-overflow.ts";
import { rejectsReasoning } from "../../../wire/conversation/errors/rejected-reasoning.ts";
import {
  brokenAnswer,
  readBareStatus,
  readVendorError,
  type VendorError,
} from "../../../wire/conversation/errors/vendor-error.ts";
import { estimateTokens } from "../../../wire/conversation/usage.ts";
import { type Exchange, TransportError, type UpstreamResponse } from "../../deployments/transport.ts";
import { AuthorizeError } from "../../deployments/upstream-address.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Cancellation } from "../call/cancellation.ts";
import {
  classifyAuthorizeError,
  classifyCancellation,
  classifyTransportError,
} from "../failures/classify-failure.ts";
import { classifyVendorError, type PromptSize } from "../failures/classify-vendor-error.ts";
import type { FailureClassification } from "../failures/failure-classification.ts";
import type { EncodedForCandidate } from "./encode-for-candidate.ts";
import { readBody } from "./read-body.ts";

/** The outcome of one attempt. A stream that has begun never becomes `failed`: no other candidate can continue it. */
export type AttemptOutcome =
  | { readonly kind: "streaming"; readonly begun: BegunStream }
  | {
      readonly kind: "answered";
      readonly answer: Extract<WholeAnswer<string | Buffer>, { kind: "answer" }>;
      readonly status: number;
    }
  | {
      readonly kind: "failed";
      readonly classification: FailureClassification;
      readonly status: number | null;
      /** The vendor's error code; null if it sent none. */
      readonly code: string | null;
      /** The vendor rejected the reasoning of earlier turns; without it the request may succeed. */
      readonly refusesReasoning: boolean;
      /** The host lacks the endpoint of this format. It may have that of another format. */
      readonly lacksEndpoint: boolean;
      /** The tokens left for the answer if the prompt fits the context window and the requested answer does not; otherwise null. */
      readonly answerRoom: number | null;
      /** The fields that the vendor does not accept, by the vendor's names. Empty if the request was rejected for another reason. */
      readonly refusedFields: readonly string[];
    }
  /** `hasBegun`: the vendor had begun an unstreamed answer, and may charge for it. */
  | { readonly kind: "client_left"; readonly hasBegun: boolean };

/** Returns whether an answer has finished cleanly without content for a person or agent. */
export function isEmptyAnswer(outcome: AttemptOutcome): boolean {
  if (outcome.kind === "streaming") return outcome.begun.isEmpty;
  return outcome.kind === "answered" && outcome.answer.isEmpty;
}

/** A stream that has reached its first token, or its end without a failure. */
export interface BegunStream extends OpenedRelay {
  /** It has finished cleanly without content for a person or agent. */
  readonly isEmpty: boolean;
  /** Reads the response for the relay. */
  readonly reader: RelayReader;
  readonly exchange: Exchange;
  readonly response: UpstreamResponse;
  /** The first part of the client's answer. */
  readonly head: Buffer;
  /** The upstream has sent everything. */
  readonly isOver: boolean;
}

/** What an attempt needs. */
export interface AttemptContext {
  readonly deps: Pick<GenerationDeps, "clock"> & {
    readonly settings: Pick<GenerationDeps["settings"], "timers">;
  };
  readonly call: Pick<GenerationCall, "request" | "stopwatch">;
  readonly candidate: Candidate;
  readonly cancellation: Cancellation;
  /** The request, encoded for this candidate. */
  readonly encoded: Pick<EncodedForCandidate, "body" | "headers" | "format" | "maxTokens" | "answers">;
  readonly identity: RelayIdentity;
  readonly size: PromptSize;
  /** Returns whether other requests have opened the circuit of the candidate's endpoint by now. Null if no other candidate may follow. */
  readonly isFailing: (() => boolean) | null;
  /** How long an unstreamed answer may be silent, in milliseconds. Null if no other candidate may follow. */
  readonly silentMs: number | null;
}

/** A call of the upstream whose response head has arrived. */
interface Reply {
  readonly exchange: Exchange;
  readonly response: UpstreamResponse;
}

/** Sends a request to one candidate. Resolves at the first token of a stream, or with the whole answer otherwise. */
export async function attempt(context: AttemptContext): Promise<AttemptOutcome> {
  const { deps, call, encoded, cancellation } = context;
  const { stopwatch } = call;
  const { stream } = call.request;
  if (stream) cancellation.startPhase("first_token", deps.settings.timers.firstTokenMs);
  else if (context.silentMs !== null) cancellation.startPhase("first_token", context.silentMs);
  else cancellation.endPhase();
  const watch = stream || context.isFailing === null ? null : watchEndpoint(context, context.isFailing);
  let exchange: Exchange | null = null;
  let status: number | null = null;
  /** When the wait for the upstream began; null while there is none. */
  let waitingFrom: number | null = null;
  /** Whether an answer that is not streamed has begun. */
  let hasBegun = false;
  try {
    const { url, headers, authorizing } = authorize(context);
    // Some keys need an access token, which must be fetched first.
    const credentials =
      authorizing instanceof Promise
        ? await stopwatch.wait(untilCancelled(authorizing, cancellation))
        : authorizing;
    exchange = openExchange(context, { url, headers, credentials });
    cancellation.guard(exchange);
    waitingFrom = stopwatch.beginWait();
    const response = await exchange.response;
    status = response.status;
    const isGood = status >= 200 && status < 300;
    hasBegun = isGood && !stream;
    if (hasBegun) cancellation.touch();
    // Head and body of an answer are one wait.
    const body = hasBegun
      ? (takeText(encoded.answers, response) ?? (await readRest(context, response)))
      : null;
    stopwatch.endWait(waitingFrom);
    waitingFrom = null;
    if (body !== null) {
      await endOfTurn();
      return readWhole(context, exchange, response, body);
    }
    const reply: Reply = { exchange, response };
    if (!isGood) return failed(context, reply, await readError(context, reply));
    return await readToFirstToken(context, reply);
  } catch (error) {
    if (waitingFrom !== null) stopwatch.endWait(waitingFrom);
    exchange?.cancel();
    return classifyThrown(context, error, { status, hasBegun });
  } finally {
    watch?.cancel();
  }
}

/** Cancels an unstreamed attempt if, after the first-token time, other requests have opened the endpoint's circuit. */
function watchEndpoint(
  {
    deps: {
      clock,
      settings: { timers },
    },
    cancellation,
  }: AttemptContext,
  isFailing: () => boolean,
): Timer {
  let timer = clock.after(timers.firstTokenMs, function check() {
    if (isFailing()) cancellation.cancel("first_token");
    else timer = clock.after(WATCH_MS, check);
  });
  return { cancel: () => timer.cancel() };
}

/** How often the circuit is checked after the first-token time. Milliseconds. */
const WATCH_MS = 5_000;

/** A request to an upstream with its credentials. */
interface AuthorizedRequest {
  readonly url: URL;
  readonly headers: Headers;
  readonly credentials: Headers;
}

type Headers = Readonly<Record<string, string>>;

/** Returns the URL, headers and credentials of a request. */
function authorize({ call, candidate, encoded }: AttemptContext) {
  const { key, served } = candidate;
  const { body, format, headers: added } = encoded;
  const line = served.lineFor(key, call.request, format);
  const { url } = line;
  const headers = added === undefined ? line.headers : line.headersWith(added);
  return { url, headers, authorizing: key.address.authorize({ url, body, headers, secret: key.secret }) };
}

function openExchange(
  { deps, candidate, encoded }: AttemptContext,
  { url, headers, credentials }: AuthorizedRequest,
): Exchange {
  return candidate.provider.transport.open({
    url,
    method: "POST",
    headers: { ...headers, ...credentials },
    body: encoded.body,
    connectTimeoutMs: deps.settings.timers.connectMs,
  });
}

/** Resolves or rejects with `value`; rejects with a `TransportError` if the generation is cancelled before. */
async function untilCancelled<T>(value: Promise<T>, cancellation: Cancellation): Promise<T> {
  const { promise: cancelled, reject } = Promise.withResolvers<never>();
  cancelled.catch(() => {});
  cancellation.guard({
    response: cancelled,
    cancel: () => reject(new TransportError("cancelled", "the generation was cancelled")),
  });
  return Promise.race([value, cancelled]);
}

/** How long the body of an error may take: its status is known, and another candidate may follow. Milliseconds. */
const ERROR_BODY_MS = 3_000;

/** Reads an error. Its status counts even if the body cannot be read. */
async function readError(
  { deps, call, cancellation }: AttemptContext,
  { exchange, response }: Reply,
): Promise<VendorError> {
  const timer = deps.clock.after(ERROR_BODY_MS, () => exchange.cancel());
  try {
    const body = await call.stopwatch.wait(readBody(response, BOUNDS.errorBodyBytes, "truncate"));
    const errorType = response.header("x-amzn-errortype");
    return readVendorError(response.status, parseJson(readUtf8(body)), errorType);
  } catch (error) {
    if (cancellation.reason !== null) throw error;
    return readBareStatus(response.status);
  } finally {
    timer.cancel();
  }
}

/** Returns the body of an answer as text, if it is there already and needed as text; else null. */
function takeText({ readsBytes }: UpstreamAnswers, response: UpstreamResponse): string | null {
  return readsBytes ? null : (response.takeText?.(BOUNDS.answerBytes) ?? null);
}

/** Reads the rest of the body of an answer. */
function readRest({ cancellation }: AttemptContext, response: UpstreamResponse): Promise<Uint8Array> {
  // Every received byte counts as activity: some vendors send white space until the answer is ready.
  return readBody(response, BOUNDS.answerBytes, "reject", () => cancellation.touch());
}

function readWhole(
  context: AttemptContext,
  exchange: Exchange,
  response: UpstreamResponse,
  body: string | Uint8Array,
): AttemptOutcome {
  const {
    encoded: { answers },
    identity,
  } = context;
  const answer = answers.readsBytes
    ? answers.readAnswer(Buffer.from(body), identity, headOf(response, false))
    : answers.readAnswer(typeof body === "string" ? body : readUtf8(body), identity);
  if (answer.kind === "error") return failed(context, { exchange, response }, answer.error);
  return { kind: "answered", answer, status: response.status };
}

function headOf(response: UpstreamResponse, isDocument: boolean): AnswerHead {
  return { contentType: response.header("content-type"), isDocument };
}

async function readToFirstToken(context: AttemptContext, reply: Reply): Promise<AttemptOutcome> {
  const { exchange, response } = reply;
  const { call, encoded, identity } = context;
  const { stopwatch } = call;
  const start = await stopwatch.wait(readStart(response));
  const opened = encoded.answers.openRelay(identity, headOf(response, start !== null && isDocument(start)));
  const { relay } = opened;
  const reader = new RelayReader(relay);
  let head: Buffer = NOTHING;
  for (let piece = start; ; piece = await stopwatch.wait(response.read())) {
    const out = piece === null ? reader.end() : reader.read(piece);
    head = head.length === 0 ? out : Buffer.concat([head, out]);
    if (relay.error !== null) return failed(context, reply, relay.error);
    const isOver = piece === null || relay.isDone;
    if (isOver || relay.sawToken)
      return begin(context, { ...opened, reader, exchange, response, head, isOver });
    if (head.length > BOUNDS.heldBytes) return failed(context, reply, NO_CONTENT);
  }
}

function begin(context: AttemptContext, begun: Omit<BegunStream, "isEmpty">): AttemptOutcome {
  const { relay, isOver } = begun;
  const ending = isOver ? relay.classifyEnd() : null;
  if (!relay.sawToken && (ending === "unfinished" || ending === "failed"))
    return failed(context, begun, relay.error ?? NO_CONTENT);
  return { kind: "streaming", begun: { ...begun, isEmpty: ending === "empty" } };
}

const NO_CONTENT = brokenAnswer("the upstream answered with nothing");

const NOTHING = Buffer.alloc(0);

/** Reads up to the first text that is not blank: hosts send empty lines as keep-alives. Null if there is none. */
async function readStart(response: UpstreamResponse): Promise<Uint8Array | null> {
  let start: Uint8Array = NOTHING;
  while (start.length <= BOUNDS.heldBytes) {
    const piece = await response.read();
    if (piece === null) return null;
    start = start.length === 0 ? piece : Buffer.concat([start, piece]);
    if (findText(piece) >= 0) return start;
  }
  return null;
}

/** Returns the offset of the first byte that is not white space; -1 if there is none. */
function findText(bytes: Uint8Array): number {
  return bytes.findIndex((byte) => byte !== 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0xa0);
}

function isDocument(start: Uint8Array): boolean {
  const at = findText(start);
  return isDocumentStart(readLatin1(start, at, at + 1));
}

function failed(context: AttemptContext, { exchange, response }: Reply, error: VendorError): AttemptOutcome {
  const { deps, candidate, size } = context;
  // An unread body would occupy its connection until the upstream closes it.
  exchange.cancel();
  // The header takes precedence over the body.
  const retryAfterS = parseRetryAfter(response.header("retry-after"), deps.clock.now()) ?? error.retryAfterS;
  return {
    kind: "failed",
    classification: classifyVendorError({ ...error, retryAfterS }, candidate, size),
    status: response.status,
    code: error.code,
    refusesReasoning: rejectsReasoning(error),
    lacksEndpoint: lacksEndpoint(error),
    answerRoom: error.overflow === null ? null : findRoom(context, error.overflow),
    refusedFields: error.refusedFields,
  };
}

function findRoom({ call, encoded }: AttemptContext, overflow: Overflow): number | null {
  const { maxTokens, prompt } = call.request;
  return roomForAnswer(overflow, encoded.maxTokens ?? maxTokens, estimateTokens(prompt.textBytes));
}

/** Parses `Retry-After`, a number of seconds or a date. Returns seconds; null if it is neither. */
function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

function classifyThrown(
  { cancellation, candidate }: AttemptContext,
  error: unknown,
  { status, hasBegun }: { readonly status: number | null; readonly hasBegun: boolean },
): AttemptOutcome {
  if (cancellation.reason === "client_left" || cancellation.reason === "client_stalled")
    return { kind: "client_left", hasBegun };
  if (cancellation.reason !== null)
    return createFailedOutcome(classifyCancellation(cancellation.reason, candidate), status);
  if (error instanceof AuthorizeError)
    return createFailedOutcome(classifyAuthorizeError(error, candidate), status);
  if (error instanceof TransportError)
    return createFailedOutcome(classifyTransportError(error, candidate, status), status);
  throw error;
}

function createFailedOutcome(classification: FailureClassification, status: number | null): AttemptOutcome {
  return {
    kind: "failed",
    classification,
    status,
    code: null,
    refusesReasoning: false,
    lacksEndpoint: false,
    answerRoom: null,
    refusedFields: [],
  };
}
