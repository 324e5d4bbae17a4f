import type { ErrorCode } from "../../src/base/failures/errors.ts";
import type { ErrorName, ScriptedFinish, VendorScript } from "../support/vendors/scripts/vendor-script.ts";
import type { Play, VendorCall } from "../support/vendors/vendor.ts";
import type { ClientFinish } from "./client-apis.ts";

/** What a client gets, in any client API and from any upstream format. */
export type FormatOutcome =
  | {
      readonly kind: "answer";
      readonly by: "first" | "second";
      readonly text: string;
      readonly finish: ClientFinish;
    }
  | {
      readonly kind: "rejection";
      readonly code: ErrorCode;
      readonly retryAfter: number | null;
    }
  /** Status 200, then the API's own error event, and no other end. */
  | {
      readonly kind: "break";
      readonly code: ErrorCode;
      readonly text: string;
      readonly calls: readonly string[];
    };

/** What a vendor does, in any format. */
type Script = (script: VendorScript) => Play;

/** One way in which a vendor fails, expressed in its own format. */
export interface FormatFault {
  /** Completes "a vendor that …". */
  readonly what: string;
  /** Absent: it refuses connections. */
  readonly play?: Script;
  /** Time that passes while it waits at its gate. Milliseconds. */
  readonly passMs?: { readonly streamed: number; readonly whole: number };
  /** A stream has its first token before the vendor waits at its gate. */
  readonly speaksFirst?: true;
  readonly streamed: ExpectedOutcomes;
  readonly whole: ExpectedOutcomes;
}

/** The expected outcome without and with a second vendor. */
interface ExpectedOutcomes {
  readonly alone: FormatOutcome;
  readonly both: FormatOutcome;
}

const answerOf = (finish: ClientFinish): FormatOutcome => ({
  kind: "answer",
  by: "first",
  text: "Alpha one two",
  finish,
});
const FIRST = answerOf("stop");
/** Forwarded if the second vendor gives no text either. */
const EMPTY: FormatOutcome = { kind: "answer", by: "first", text: "", finish: "stop" };
const SECOND: FormatOutcome = { kind: "answer", by: "second", text: "Beta one two", finish: "stop" };

/** The second vendor answers instead of the first. */
const failsOver = (alone: FormatOutcome): ExpectedOutcomes => ({ alone, both: SECOND });
/** No second vendor is called. */
const final = (outcome: FormatOutcome): ExpectedOutcomes => ({ alone: outcome, both: outcome });
const same = (outcome: FormatOutcome) => ({ streamed: failsOver(outcome), whole: failsOver(outcome) });

const rejection = (code: ErrorCode, retryAfter: number | null = null): FormatOutcome => ({
  kind: "rejection",
  code,
  retryAfter,
});
const broken = (code: ErrorCode, text = "Alpha one", calls: readonly string[] = []): FormatOutcome => ({
  kind: "break",
  code,
  text,
  calls,
});

const FAILED = rejection("upstream_error");
const OUT_OF_CREDIT = rejection("unavailable", 60);
const OVERLOADED = rejection("unavailable", 5);

const asksStream = (script: VendorScript, call: VendorCall): boolean => script.isStream(call.head, call.body);
const beginStream = (script: VendorScript, call: VendorCall): Promise<void> =>
  call.begin(200, { "content-type": script.contentType });

/** Rejects with a status. */
const rejectWith =
  (name: ErrorName, headers: Readonly<Record<string, string>> = {}) =>
  (script: VendorScript): Play => {
    const { status, body } = script.errors[name];
    return (call) => call.respond(status, body, headers);
  };

/** Sends pieces in a stream, and a document otherwise. */
const piecesOr =
  (
    document: (script: VendorScript) => unknown,
    ...pieces: readonly ((script: VendorScript) => Buffer)[]
  ): Script =>
  (script) =>
  async (call) => {
    if (!asksStream(script, call)) return call.respond(200, document(script));
    await beginStream(script, call);
    for (const piece of pieces) await call.piece(piece(script));
    await call.end();
  };

/** Sends the first text of a stream, which the client has before `then`, or a document. */
const beginThen =
  (
    document: (script: VendorScript, call: VendorCall) => Promise<void>,
    then: (script: VendorScript, call: VendorCall) => Promise<void> | void,
    begin: (script: VendorScript) => Buffer = (script) => script.begin("Alpha one"),
  ): Script =>
  (script) =>
  async (call) => {
    if (!asksStream(script, call)) return document(script, call);
    await beginStream(script, call);
    await call.piece(begin(script));
    await call.gate();
    await then(script, call);
  };

const respondWithDocument = (script: VendorScript, call: VendorCall) =>
  call.respond(200, script.document("Alpha one two", "stop"));

/** A document that ends with the connection. */
async function cutDocument(script: VendorScript, call: VendorCall): Promise<void> {
  await call.begin();
  await call.piece(JSON.stringify(script.document("Alpha one two", "stop")).slice(0, 60));
  call.connection.end();
}

/** Fails in the middle of a stream; otherwise, with an error body and status 200. */
const failsLate = (name: ErrorName) =>
  beginThen(
    (script, call) => call.respond(200, script.errors[name].body),
    async (script, call) => {
      await call.piece(script.fail(script.errors[name]));
      await call.end();
    },
  );

const finishes = (finish: ScriptedFinish): FormatFault => ({
  what: `ends its answer with ${finish}`,
  play: piecesOr(
    (script) => script.document("Alpha one two", finish),
    (script) => script.begin("Alpha one"),
    (script) => script.more(" two"),
    (script) => script.close(finish),
  ),
  streamed: final(answerOf(finish)),
  whole: final(answerOf(finish)),
});

const HTML = "<!doctype html><html><body><h1>Welcome</h1></body></html>";

const refusing: readonly FormatFault[] = [
  { what: "refuses the connection", ...same(OVERLOADED) },
  { what: "rejects the platform key", play: rejectWith("key"), ...same(FAILED) },
  { what: "reports that its account is out of credit", play: rejectWith("credit"), ...same(OUT_OF_CREDIT) },
  {
    what: "limits requests, with Retry-After",
    play: rejectWith("limited", { "retry-after": "7" }),
    ...same(rejection("rate_limit_exceeded", 7)),
  },
  {
    what: "limits requests, without Retry-After",
    play: rejectWith("limited"),
    ...same(rejection("rate_limit_exceeded", 1)),
  },
  { what: "fails with 500", play: rejectWith("failed"), ...same(FAILED) },
  { what: "is overloaded", play: rejectWith("overloaded"), ...same(OVERLOADED) },
  {
    what: "rejects the request itself",
    play: rejectWith("bad"),
    streamed: final(rejection("invalid_request")),
    whole: final(rejection("invalid_request")),
  },
  {
    what: "answers 200 with HTML",
    play: () => (call) => call.respond(200, HTML, { "content-type": "text/html" }),
    ...same(FAILED),
  },
  { what: "answers 200 with nothing", play: () => (call) => call.respond(200, ""), ...same(FAILED) },
  {
    what: "answers without any text",
    play: piecesOr(
      (script) => script.emptyDocument(),
      (script) => script.emptyStream(),
    ),
    ...same(EMPTY),
  },
  {
    what: "reports in its first event that it is overloaded",
    play: piecesOr(
      (script) => script.errors.overloaded.body,
      (script) => script.fail(script.errors.overloaded),
    ),
    ...same(OVERLOADED),
  },
  {
    what: "reports in its first event that its account is out of credit",
    play: piecesOr(
      (script) => script.errors.credit.body,
      (script) => script.fail(script.errors.credit),
    ),
    ...same(OUT_OF_CREDIT),
  },
];

const late: readonly FormatFault[] = [
  {
    what: "reports in a late event that it failed",
    play: failsLate("failed"),
    streamed: final(broken("upstream_error")),
    whole: failsOver(FAILED),
  },
  {
    what: "reports in a late event that it is overloaded",
    play: failsLate("overloaded"),
    streamed: final(broken("unavailable")),
    whole: failsOver(OVERLOADED),
  },
  {
    what: "reports in a late event that its account is out of credit",
    play: failsLate("credit"),
    streamed: final(broken("unavailable")),
    whole: failsOver(OUT_OF_CREDIT),
  },
  {
    what: "reports in a late event that it limits requests",
    play: failsLate("limited"),
    streamed: final(broken("rate_limit_exceeded")),
    whole: failsOver(rejection("rate_limit_exceeded", 1)),
  },
];

const silent: readonly FormatFault[] = [
  {
    what: "is silent before its first token",
    play: (script) => async (call) => {
      if (asksStream(script, call)) await beginStream(script, call);
      else await call.begin();
      await call.gate();
    },
    passMs: { streamed: 120_000, whole: 900_000 },
    streamed: failsOver(OVERLOADED),
    whole: failsOver(OVERLOADED),
  },
  {
    what: "falls silent after its first token",
    play: beginThen(
      async (_script, call) => {
        await call.begin();
        await call.piece('{"');
        await call.gate();
      },
      () => {},
    ),
    passMs: { streamed: 60_000, whole: 900_000 },
    speaksFirst: true,
    streamed: final(broken("unavailable")),
    whole: failsOver(OVERLOADED),
  },
];

const cut: readonly FormatFault[] = [
  {
    what: "breaks off in the middle of the text",
    play: beginThen(cutDocument, (_script, call) => call.connection.reset()),
    streamed: final(broken("upstream_error")),
    whole: failsOver(FAILED),
  },
  {
    what: "breaks off in the middle of a tool call",
    play: beginThen(
      cutDocument,
      (_script, call) => call.connection.reset(),
      (script) => script.beginCall(),
    ),
    streamed: final(broken("upstream_error", "", ["look"])),
    whole: failsOver(FAILED),
  },
  {
    what: "breaks off in the middle of an event",
    play: beginThen(cutDocument, async (script, call) => {
      await call.piece(script.more(" two").subarray(0, 20));
      await call.end();
    }),
    streamed: final(broken("upstream_error")),
    whole: failsOver(FAILED),
  },
  {
    what: "ends without a finish reason",
    play: beginThen(respondWithDocument, async (script, call) => {
      await call.piece(script.more(" two"));
      await call.piece(script.endWithoutFinish());
      await call.end();
    }),
    streamed: final(broken("upstream_error", "Alpha one two")),
    whole: final(FIRST),
  },
];

/** Unusual but valid answers. */
const harmless: readonly FormatFault[] = [
  finishes("stop"),
  finishes("length"),
  finishes("refusal"),
  {
    what: "sends its usage and its end marker without a finish reason",
    play: piecesOr(
      (script) => script.document("Alpha one two", "stop"),
      (script) => script.begin("Alpha one"),
      (script) => script.more(" two"),
      (script) => script.closeWithoutReason(),
    ),
    streamed: final(FIRST),
    whole: final(FIRST),
  },
  {
    what: "answers with a JSON document, whether or not a stream was requested",
    play: (script) => (call) => respondWithDocument(script, call),
    streamed: final(FIRST),
    whole: final(FIRST),
  },
  {
    what: "answers with a JSON document in pieces, after empty lines and with the content type of a stream",
    play: (script) => async (call) => {
      await call.begin(200, { "content-type": script.contentType });
      await call.piece("\n\n");
      const document = Buffer.from(JSON.stringify(script.document("Alpha one two", "stop"), null, 2));
      for (let from = 0; from < document.length; from += 16)
        await call.piece(document.subarray(from, from + 16));
      await call.end();
    },
    streamed: final(FIRST),
    whole: final(FIRST),
  },
  {
    what: "ends after its finish reason, without its end marker",
    play: piecesOr(
      (script) => script.document("Alpha one two", "stop"),
      (script) => script.begin("Alpha one"),
      (script) => script.more(" two"),
      (script) => script.finish(),
    ),
    streamed: final(FIRST),
    whole: final(FIRST),
  },
];

/** The faults that every format has, in groups. */
export const FORMAT_FAULTS: Readonly<Record<string, readonly FormatFault[]>> = {
  "before an answer": refusing,
  late,
  "by its silence": silent,
  "by breaking off": cut,
  "not at all": harmless,
};
