import {
  chunkOf,
  closing,
  documentOf,
  healthy,
  opening,
  type Play,
  textOf,
  USAGE,
  type VendorCall,
} from "../support/vendors/vendor.ts";
import type { Outcome } from "./outcome.ts";
import { KEY_A } from "./two-vendors.ts";

/** One way in which the first vendor fails, and what the client gets. */
export interface Fault {
  /** Completes "a vendor that …". */
  readonly what: string;
  /** What vendor-a does; `at` names another vendor. */
  readonly play?: Play;
  /** Instead of vendor-a: one that refuses connections, or one that accepts them and sends nothing. */
  readonly at?: "down" | "mute";
  /** What vendor-b does, if it is not healthy. */
  readonly second?: Play;
  /** Time that passes while the vendor waits at its gate. Milliseconds. */
  readonly passMs?: { readonly streamed: number; readonly whole: number };
  /** Only the transport http1 detects it. */
  readonly needsHttp1?: true;
  /** A stream has its first token before the vendor waits at its gate. */
  readonly speaksFirst?: true;
  readonly streamed: ExpectedOutcomes;
  readonly whole: ExpectedOutcomes;
}

/** The expected outcome without and with a second vendor. */
interface ExpectedOutcomes {
  readonly alone: Outcome;
  readonly both: Outcome;
}

const FIRST: Outcome = { kind: "answer", by: "vendor-a", attempts: 1, text: "Alpha one two" };
const SECOND: Outcome = { kind: "answer", by: "vendor-b", attempts: 2, text: "Beta one two" };

/** The second vendor answers instead of the first. */
const failsOver = (alone: Outcome): ExpectedOutcomes => ({ alone, both: SECOND });
/** No second vendor is called. */
const final = (outcome: Outcome): ExpectedOutcomes => ({ alone: outcome, both: outcome });
const UNAFFECTED = final(FIRST);

type Metadata = Readonly<Record<string, unknown>>;

function rejection(
  status: number,
  type: string,
  metadata: Metadata,
  retryAfter: number | null = null,
  attempts = 1,
): Outcome {
  return { kind: "rejection", status, type, attempts, metadata, retryAfter };
}

const upstreamError = (upstreamStatus: number | null, raw: string, provider = "vendor-a") =>
  rejection(502, "upstream_error", { provider, upstream_status: upstreamStatus, raw });

const unavailable = (upstreamStatus: number | null, raw: string, retryAfter: number, provider = "vendor-a") =>
  rejection(503, "unavailable", { provider, upstream_status: upstreamStatus, raw }, retryAfter);

const broken = (code: number, type: string, text = "Alpha one"): Outcome => ({
  kind: "break",
  code,
  type,
  text,
});
const BROKEN_OFF = broken(502, "upstream_error");

/** The raw message does not reveal that the operator's account is out of credit. */
const OUT_OF_CREDIT = unavailable(null, "unavailable", 60);

const errorBody = (message: string, more: Metadata = {}) => ({ error: { message, ...more } });
const status =
  (code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Play =>
  (call) =>
    call.respond(code, body, headers);

/** Sends the events in a stream, and `body` otherwise. */
const eventsOr =
  (body: unknown, ...events: readonly unknown[]): Play =>
  async (call) => {
    if (!call.isStream) return call.respond(200, body);
    await call.begin();
    await call.events(...events);
    await call.end();
  };

/**
 * Sends the first text of a stream, which the client has before `then`; `body` if the answer is not streamed.
 */
const beginThen =
  (body: unknown, then: (call: VendorCall) => Promise<void> | void): Play =>
  async (call) => {
    if (!call.isStream) return call.respond(200, body);
    await beginSpeaking(call);
    await then(call);
  };

async function beginSpeaking(call: VendorCall): Promise<void> {
  await call.begin();
  await call.events(...opening("Alpha one"));
  await call.gate();
}

const lateEvents = (body: unknown, ...events: readonly unknown[]): Play =>
  beginThen(body, async (call) => {
    await call.events(...events);
    await call.end();
  });

/** The error's metadata for the client. */
const RATE_LIMITED_FACTS = { raw: "You are too fast.", upstream_code: "rate_limit_exceeded" };
const RATE_LIMITED = errorBody("You are too fast.", { type: "requests", code: "rate_limit_exceeded" });
const NO_CREDIT = errorBody("Your account balance is empty, check your billing details.", { code: 402 });
const QUOTA = errorBody("You exceeded your current quota, please check your plan and billing details.", {
  type: "insufficient_quota",
  code: "insufficient_quota",
});
const LEAKY = `It failed for ${KEY_A} of org-abc123def456.`;
const REDACTED = "It failed for [redacted] of [redacted].";
const HTML = "<!doctype html><html><body><h1>Welcome</h1></body></html>";
const NOT_JSON_EVENT = "an event of the upstream's stream is not JSON";
const NOT_JSON = "the upstream's answer is not JSON";
const limited = (retryAfter: number, attempts = 1) =>
  rejection(
    429,
    "rate_limit_exceeded",
    { ...RATE_LIMITED_FACTS, provider: "vendor-a", upstream_status: 429, limit_source: "upstream" },
    retryAfter,
    attempts,
  );

const connecting: readonly Fault[] = [
  {
    what: "refuses the connection",
    at: "down",
    streamed: failsOver(unavailable(null, "connection failed", 5, "vendor-down")),
    whole: failsOver(unavailable(null, "connection failed", 5, "vendor-down")),
  },
  {
    what: "does not complete the connection within 10 s",
    at: "mute",
    needsHttp1: true,
    passMs: { streamed: 10_000, whole: 10_000 },
    streamed: failsOver(unavailable(null, "connecting took too long", 5, "vendor-mute")),
    whole: failsOver(unavailable(null, "connecting took too long", 5, "vendor-mute")),
  },
  {
    what: "resets the connection before it answers",
    play: (call) => call.connection.reset(),
    streamed: failsOver(upstreamError(null, "connection reset")),
    whole: failsOver(upstreamError(null, "connection reset")),
  },
  {
    what: "closes the connection before it answers",
    play: (call) => call.connection.end(),
    streamed: failsOver(upstreamError(null, "connection reset")),
    whole: failsOver(upstreamError(null, "connection reset")),
  },
  {
    what: "does not speak HTTP",
    play: async (call) => {
      await call.connection.write("220 mail.example ESMTP\r\n\r\n");
      call.connection.end();
    },
    streamed: failsOver(upstreamError(null, "the answer is not HTTP, or too large")),
    whole: failsOver(upstreamError(null, "the answer is not HTTP, or too large")),
  },
];

const same = (outcome: Outcome) => ({ streamed: failsOver(outcome), whole: failsOver(outcome) });

const statuses: readonly Fault[] = [
  {
    what: "rejects the platform key with 401",
    play: status(401, errorBody(`Incorrect API key provided: ${KEY_A}.`, { code: "invalid_api_key" })),
    ...same(upstreamError(401, "the key was refused")),
  },
  {
    what: "rejects the platform key with 403",
    play: status(403, errorBody(LEAKY)),
    ...same(upstreamError(403, "the key was refused")),
  },
  { what: "answers 402", play: status(402, NO_CREDIT), ...same(OUT_OF_CREDIT) },
  { what: "answers 402 in HTML", play: status(402, HTML), ...same(OUT_OF_CREDIT) },
  {
    what: "answers 429 with Retry-After",
    play: status(429, RATE_LIMITED, { "retry-after": "7" }),
    ...same(limited(7)),
  },
  { what: "answers 429 without Retry-After", play: status(429, RATE_LIMITED), ...same(limited(1)) },
  {
    what: "answers 429 with a date in Retry-After",
    // The test clock begins in November 2023.
    play: status(429, RATE_LIMITED, { "retry-after": "Wed, 01 Jan 2025 00:00:00 GMT" }),
    ...same(limited(3_600)),
  },
  {
    what: "answers 429, and the next one with a shorter wait",
    play: status(429, RATE_LIMITED, { "retry-after": "7" }),
    second: status(429, RATE_LIMITED, { "retry-after": "3" }),
    streamed: { alone: limited(7), both: limitedAtSecond(3) },
    whole: { alone: limited(7), both: limitedAtSecond(3) },
  },
  {
    what: "answers 429, and the next one with a longer wait",
    play: status(429, RATE_LIMITED, { "retry-after": "3" }),
    second: status(429, RATE_LIMITED, { "retry-after": "7" }),
    streamed: { alone: limited(3), both: limited(3, 2) },
    whole: { alone: limited(3), both: limited(3, 2) },
  },
  {
    what: "answers 429 because its account is out of credit",
    play: status(429, QUOTA),
    ...same(OUT_OF_CREDIT),
  },
  { what: "answers 500", play: status(500, errorBody(LEAKY)), ...same(upstreamError(500, REDACTED)) },
  {
    what: "answers 503 with Retry-After",
    play: status(503, errorBody("Busy."), { "retry-after": "30" }),
    ...same(unavailable(503, "Busy.", 30)),
  },
  {
    what: "answers 503 without Retry-After",
    play: status(503, errorBody("Busy.")),
    ...same(unavailable(503, "Busy.", 5)),
  },
  {
    what: "answers 529",
    play: status(529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    ...same(unavailable(529, "Overloaded", 5)),
  },
  {
    what: "answers 502 in HTML",
    play: status(502, HTML, { "content-type": "text/html" }),
    ...same(upstreamError(502, "HTTP 502")),
  },
  {
    what: "answers 500 and breaks off in the middle of the reason",
    play: async (call) => {
      await call.begin(500);
      await call.piece('{"error": {"mess');
      call.connection.end();
    },
    ...same(upstreamError(500, "HTTP 500")),
  },
  {
    what: "redirects",
    play: status(302, "", { location: "http://127.0.0.1:1/elsewhere" }),
    ...same(upstreamError(302, "HTTP 302")),
  },
  {
    what: "redirects in JSON",
    play: status(307, errorBody("Moved."), { location: "http://127.0.0.1:1/elsewhere" }),
    ...same(upstreamError(307, "Moved.")),
  },
  {
    what: "rejects the request itself with 400",
    play: status(400, errorBody(`temperature is too high. ${LEAKY}`)),
    streamed: final(requestRejected(`temperature is too high. ${REDACTED}`)),
    whole: final(requestRejected(`temperature is too high. ${REDACTED}`)),
  },
  {
    what: "rejects the prompt as too long",
    play: status(
      400,
      errorBody("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
    ),
    streamed: final(overflow()),
    whole: final(overflow()),
  },
];

function limitedAtSecond(retryAfter: number): Outcome {
  const metadata = { ...RATE_LIMITED_FACTS, provider: "vendor-b", upstream_status: 429 };
  return rejection(429, "rate_limit_exceeded", { ...metadata, limit_source: "upstream" }, retryAfter, 2);
}

function requestRejected(raw: string): Outcome {
  return rejection(400, "invalid_request", { provider: "vendor-a", upstream_status: 400, raw });
}

function overflow(): Outcome {
  return rejection(400, "context_length_exceeded", {
    provider: "vendor-a",
    upstream_status: 400,
    raw: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    limit: 4096,
    requested: 5000,
  });
}

const SERVER_ERROR = errorBody(LEAKY, { code: 500, type: "server_error" });
const NOTHING = "the upstream answered with nothing";

const insideOk: readonly Fault[] = [
  {
    what: "reports 402 in the body of a 200",
    play: status(200, NO_CREDIT),
    ...same(OUT_OF_CREDIT),
  },
  { what: "reports 402 in its first event", play: eventsOr(NO_CREDIT, NO_CREDIT), ...same(OUT_OF_CREDIT) },
  {
    what: "reports 402 in a late event",
    play: lateEvents(NO_CREDIT, NO_CREDIT),
    streamed: final(broken(503, "unavailable")),
    whole: failsOver(OUT_OF_CREDIT),
  },
  {
    what: "reports in a late event that its account is out of credit",
    play: lateEvents(QUOTA, QUOTA),
    streamed: final(broken(503, "unavailable")),
    whole: failsOver(OUT_OF_CREDIT),
  },
  {
    what: "reports an error in the body of a 200",
    play: status(200, SERVER_ERROR),
    ...same(upstreamError(500, REDACTED)),
  },
  {
    what: "reports an error in its first event",
    play: eventsOr(SERVER_ERROR, SERVER_ERROR),
    ...same(upstreamError(500, REDACTED)),
  },
  {
    what: "reports an error in an event with that name",
    play: async (call) => {
      if (!call.isStream) return call.respond(200, SERVER_ERROR);
      await call.begin();
      await call.piece(`event: error\ndata: ${JSON.stringify(SERVER_ERROR.error)}\n\n`);
      await call.end();
    },
    ...same(upstreamError(500, REDACTED)),
  },
  {
    what: "reports an error in a late event",
    play: lateEvents(SERVER_ERROR, SERVER_ERROR, "[DONE]"),
    streamed: final(BROKEN_OFF),
    whole: failsOver(upstreamError(500, REDACTED)),
  },
  {
    what: "reports in a late event that it limits requests",
    play: lateEvents(RATE_LIMITED, RATE_LIMITED),
    streamed: final(broken(429, "rate_limit_exceeded")),
    whole: failsOver(limited(1)),
  },
  {
    what: "answers 200 with HTML",
    play: status(200, HTML, { "content-type": "text/html" }),
    ...same(upstreamError(200, NOT_JSON)),
  },
  {
    what: "answers 200 with HTML and the content type of an event stream",
    play: status(200, HTML, { "content-type": "text/event-stream" }),
    ...same(upstreamError(200, NOT_JSON)),
  },
  {
    what: "answers 200 with nothing",
    play: status(200, ""),
    streamed: failsOver(upstreamError(200, NOTHING)),
    whole: failsOver(upstreamError(200, NOT_JSON)),
  },
  {
    what: "answers 200 with an empty text",
    play: eventsOr(
      documentOf("", {}),
      chunkOf({ role: "assistant", content: "" }),
      chunkOf({}, "stop"),
      "[DONE]",
    ),
    ...same({ ...FIRST, text: "", estimated: true, attemptError: "empty_answer" } as Outcome),
  },
  {
    what: "answers 200 with only [DONE]",
    play: eventsOr({ choices: [] }, "[DONE]"),
    streamed: failsOver(upstreamError(200, NOTHING)),
    whole: failsOver(upstreamError(200, "the upstream's answer has no choices")),
  },
  {
    what: "ends with the finish reason error before any text",
    play: eventsOr(
      { ...documentOf("Alpha"), choices: [{ index: 0, message: { content: "" }, finish_reason: "error" }] },
      chunkOf({}, "error"),
      "[DONE]",
    ),
    ...same(upstreamError(200, 'the upstream ended the answer with "error"')),
  },
];

const silence: readonly Fault[] = [
  {
    what: "is silent before its head",
    play: (call) => call.gate(),
    passMs: { streamed: 120_000, whole: 900_000 },
    streamed: failsOver(unavailable(null, "no token came in time", 5)),
    whole: failsOver(unavailable(null, "the whole request took longer than is allowed", 5)),
  },
  {
    what: "is silent before its first token",
    play: async (call) => {
      await call.begin();
      if (call.isStream) await call.events(chunkOf({ role: "assistant", content: "" }));
      else await call.piece('{"id": ');
      await call.gate();
    },
    passMs: { streamed: 120_000, whole: 900_000 },
    streamed: failsOver(unavailable(null, "no token came in time", 5)),
    whole: failsOver(unavailable(null, "the whole request took longer than is allowed", 5)),
  },
  {
    what: "sends comments and no token",
    play: async (call) => {
      await call.begin();
      await call.piece(call.isStream ? ": processing\n\n: processing\n\n" : "  ");
      await call.gate();
    },
    passMs: { streamed: 120_000, whole: 900_000 },
    streamed: failsOver(unavailable(null, "no token came in time", 5)),
    whole: failsOver(unavailable(null, "the whole request took longer than is allowed", 5)),
  },
  {
    what: "falls silent after its first token",
    play: async (call) => {
      if (call.isStream) return beginSpeaking(call);
      await call.begin();
      await call.piece(JSON.stringify(documentOf("Alpha one two")).slice(0, 40));
      await call.gate();
    },
    passMs: { streamed: 60_000, whole: 900_000 },
    speaksFirst: true,
    streamed: final(broken(503, "unavailable")),
    whole: failsOver(unavailable(null, "the whole request took longer than is allowed", 5)),
  },
];

/** A document that ends with the connection. Not by a reset, which could overtake the bytes sent before it. */
async function cutDocument(call: VendorCall): Promise<void> {
  await call.begin();
  await call.piece(JSON.stringify(documentOf("Alpha one two")).slice(0, 60));
  call.connection.end();
}

const CUT = upstreamError(200, "the answer broke off");
const TOOL_CALL = {
  tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "look", arguments: '{"at"' } }],
};

const cuts: readonly Fault[] = [
  {
    what: "breaks off in the middle of the text",
    play: async (call) => {
      if (!call.isStream) return cutDocument(call);
      await beginSpeaking(call);
      call.connection.reset();
    },
    streamed: final(BROKEN_OFF),
    whole: failsOver(CUT),
  },
  {
    what: "breaks off in the middle of a tool call",
    play: async (call) => {
      if (!call.isStream) return cutDocument(call);
      await call.begin();
      await call.events(chunkOf({ role: "assistant", content: null }), chunkOf(TOOL_CALL));
      await call.gate();
      call.connection.reset();
    },
    streamed: final(broken(502, "upstream_error", '{"at"')),
    whole: failsOver(CUT),
  },
  {
    what: "breaks off in the middle of an event",
    play: async (call) => {
      if (!call.isStream) return cutDocument(call);
      await beginSpeaking(call);
      await call.piece('data: {"choices": [{"index": 0, "delta": {"content": " tw');
      call.connection.reset();
    },
    streamed: final(BROKEN_OFF),
    whole: failsOver(CUT),
  },
  {
    what: "ends cleanly in the middle of an event",
    play: async (call) => {
      if (call.isStream) await beginSpeaking(call);
      else await call.begin();
      await call.piece(`${call.isStream ? "data: " : ""}{"choices": [{"index": 0, "delta": {"content": " tw`);
      await call.end();
    },
    streamed: final(BROKEN_OFF),
    whole: failsOver(upstreamError(200, NOT_JSON)),
  },
  {
    what: "breaks off after the finish reason",
    play: beginThen(documentOf("Alpha one two"), async (call) => {
      await call.events(textOf(" two"), ...closing().slice(0, 2));
      call.connection.end();
    }),
    // fetch drops what arrived right before the break.
    needsHttp1: true,
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
  {
    what: "ends without a finish reason",
    play: lateEvents(documentOf("Alpha one two"), textOf(" two")),
    streamed: final(broken(502, "upstream_error", "Alpha one two")),
    whole: UNAFFECTED,
  },
  {
    what: "sends [DONE] without a finish reason",
    play: lateEvents(documentOf("Alpha one two"), textOf(" two"), "[DONE]"),
    streamed: final(broken(502, "upstream_error", "Alpha one two")),
    whole: UNAFFECTED,
  },
  {
    what: "ends with the finish reason error",
    play: lateEvents(
      { choices: [{ index: 0, message: { content: "Alpha one" }, finish_reason: "error" }] },
      chunkOf({}, "error"),
      "[DONE]",
    ),
    streamed: final(BROKEN_OFF),
    whole: failsOver(upstreamError(200, 'the upstream ended the answer with "error"')),
  },
];

const HALF = Buffer.from(" 👋").subarray(0, 3);
const MIB = 1024 * 1024;
const OVER_EVENT_BOUND = 33;
const OVER_ANSWER_BOUND = 65;

/** Sends `mebibytes` without ending the answer. */
async function flood(call: VendorCall, mebibytes: number): Promise<void> {
  const piece = Buffer.alloc(MIB, "x");
  for (let i = 0; i < mebibytes; i++) await call.piece(piece);
}

const malformed: readonly Fault[] = [
  {
    what: "splits a character between two chunks",
    play: async (call) => {
      const text = call.isStream
        ? [...opening("Alpha 👋"), ...closing()].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
        : JSON.stringify(documentOf("Alpha 👋"));
      const bytes = Buffer.from(text.replaceAll('data: "[DONE]"', "data: [DONE]"));
      const middle = bytes.indexOf(Buffer.from("👋")) + 2;
      await call.begin();
      await call.piece(bytes.subarray(0, middle));
      await call.piece(bytes.subarray(middle));
      await call.end();
    },
    streamed: final({ ...FIRST, text: "Alpha 👋" } as Outcome),
    whole: final({ ...FIRST, text: "Alpha 👋" } as Outcome),
  },
  {
    what: "ends in the middle of a character",
    play: async (call) => {
      if (call.isStream) await beginSpeaking(call);
      else await call.begin();
      await call.piece(
        call.isStream ? 'data: {"choices": [{"index": 0, "delta": {"content": "' : '{"choices": ["',
      );
      await call.piece(HALF);
      await call.end();
    },
    streamed: final(BROKEN_OFF),
    whole: failsOver(upstreamError(200, NOT_JSON)),
  },
  {
    what: "sends broken JSON first",
    play: eventsOr('{"choices": [{', '{"choices": [{', ...closing()),
    streamed: failsOver(upstreamError(200, NOT_JSON_EVENT)),
    whole: failsOver(upstreamError(200, NOT_JSON)),
  },
  {
    what: "sends broken JSON after its first token",
    play: lateEvents('{"choices": [{', '{"choices": [{', ...closing()),
    streamed: final(BROKEN_OFF),
    whole: failsOver(upstreamError(200, NOT_JSON)),
  },
  {
    what: "sends more than the maximum size of an answer",
    play: async (call) => {
      await call.begin();
      await call.piece(call.isStream ? "data: " : '{"id": "');
      await flood(call, call.isStream ? OVER_EVENT_BOUND : OVER_ANSWER_BOUND);
    },
    streamed: failsOver(
      upstreamError(200, `an event of the upstream's stream is larger than ${32 * MIB} bytes`),
    ),
    whole: failsOver(upstreamError(200, "the answer is not HTTP, or too large")),
  },
  {
    what: "sends an event larger than the maximum after its first token",
    play: async (call) => {
      if (!call.isStream) return call.respond(200, documentOf("Alpha one two"));
      await beginSpeaking(call);
      await call.piece("data: ");
      await flood(call, OVER_EVENT_BOUND);
    },
    streamed: final(BROKEN_OFF),
    whole: UNAFFECTED,
  },
];

/** Unusual but valid answers. */
const harmless: readonly Fault[] = [
  { what: "is healthy", play: healthy("Alpha"), streamed: UNAFFECTED, whole: UNAFFECTED },
  {
    what: "sends its finish reason without [DONE]",
    play: lateEvents(documentOf("Alpha one two"), textOf(" two"), ...closing().slice(0, 2)),
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
  {
    what: "sends its finish reason twice",
    play: lateEvents(documentOf("Alpha one two"), textOf(" two"), chunkOf({}, "stop"), ...closing("length")),
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
  {
    what: "continues its text after the finish reason",
    play: lateEvents(documentOf("Alpha one two"), chunkOf({}, "stop"), textOf(" two"), ...closing().slice(1)),
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
  {
    what: "continues its text after [DONE]",
    play: lateEvents(documentOf("Alpha one two"), textOf(" two"), ...closing(), textOf(" three")),
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
  {
    what: "sends its usage with every chunk",
    play: async (call) => {
      if (!call.isStream) return call.respond(200, documentOf("Alpha one two"));
      await call.begin();
      const events = [...opening("Alpha one"), textOf(" two"), chunkOf({}, "stop")] as object[];
      for (const [index, event] of events.entries())
        await call.events({ ...event, usage: { ...USAGE, completion_tokens: index + 2 } });
      await call.events("[DONE]");
      await call.end();
    },
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
  {
    what: "sends no usage",
    play: eventsOr(
      documentOf("Alpha one two", {}),
      ...opening("Alpha one two"),
      chunkOf({}, "stop"),
      "[DONE]",
    ),
    streamed: final({ ...FIRST, estimated: true } as Outcome),
    whole: final({ ...FIRST, estimated: true } as Outcome),
  },
  {
    what: "answers a stream request with a document",
    play: status(200, documentOf("Alpha one two")),
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
  {
    what: "sends its answer a few bytes at a time",
    play: async (call) => {
      const text = call.isStream
        ? [...opening("Alpha one"), textOf(" two"), ...closing()]
            .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\r\n\r\n`)
            .join("")
        : JSON.stringify(documentOf("Alpha one two"));
      await call.begin();
      for (let from = 0; from < text.length; from += 7) await call.piece(text.slice(from, from + 7));
      await call.end();
    },
    streamed: UNAFFECTED,
    whole: UNAFFECTED,
  },
];

/** The fault matrix, in groups. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  "before an answer": connecting,
  "by its status": statuses,
  "inside a 200": insideOk,
  "by its silence": silence,
  "by breaking off": cuts,
  "by malformed answers": malformed,
  "not at all, although its answer is unusual": harmless,
};
