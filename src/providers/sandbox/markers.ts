import type { AnswerDirectives } from "./answer.ts";
import {
  answerWithErrorBody,
  answerWithHtml,
  answerWithNothing,
  cutAfter,
  cutInCall,
  DEFAULT_TOKENS,
  ERROR_STATUSES,
  endWithoutFinish,
  failForContext,
  failForQuota,
  failWithStatus,
  finishTwice,
  leaveOutUsage,
  neverAnswer,
  neverConnect,
  refuseConnection,
  resetConnection,
  type SandboxFailure,
  sendGarbage,
  splitCharacters,
  stallAfter,
  streamErrorFirst,
  streamErrorLate,
} from "./failures.ts";
import type { Pace } from "./play-reply.ts";

/** The requests of a message's markers to the sandbox. */
interface Directives extends AnswerDirectives, Pace {
  /** Null for a healthy answer. */
  readonly failure: SandboxFailure | null;
}

/** The directives of a message, or the problem of a marker. */
type ReadMarkers =
  | { readonly ok: true; readonly directives: Directives }
  | { readonly ok: false; readonly problem: string };

interface Marker {
  /** The syntax, for messages. */
  readonly form: string;
  /** Returns the directives of an argument (empty for none), or null if it is invalid. */
  read(argument: string): Partial<Directives> | null;
}

/** The longest wait between events. Milliseconds. */
const MAX_DELAY_MS = 60_000;

/** The longest answer. Words. */
const MAX_WORDS = 10_000;

/** The maximum number of tokens before a failure. */
const MAX_TOKENS = 10_000;

/** The largest piece of a split body. Bytes. */
const MAX_SPLIT_BYTES = 65_536;

/** The longest `Retry-After`. Seconds. */
const MAX_RETRY_AFTER_S = 86_400;

/** All markers. docs/sandbox.md describes their effects. */
const MARKERS = {
  tools: plain("tools", { calls: "all" }),
  tool: { form: "tool=NAME", read: (name) => (name === "" ? null : { calls: { name } }) },
  reasoning: plain("reasoning", { reasons: true }),
  long: numbered("long=WORDS", MAX_WORDS, (words) => ({ words })),
  slow: numbered("slow=MS", MAX_DELAY_MS, (delayMs) => ({ delayMs })),
  split: numbered("split=BYTES", MAX_SPLIT_BYTES, (splitBytes) => ({ splitBytes })),
  error: { form: "error=STATUS[,retry-after=SECONDS]", read: readError },
  quota: createFailureMarker("quota", failForQuota),
  context: createFailureMarker("context", failForContext),
  refused: createFailureMarker("refused", refuseConnection),
  "connect-timeout": createFailureMarker("connect-timeout", neverConnect),
  reset: createFailureMarker("reset", resetConnection),
  silent: createFailureMarker("silent", neverAnswer),
  html: { form: "html[=STATUS]", read: readHtml },
  empty: createFailureMarker("empty", answerWithNothing),
  "error-body": createFailureMarker("error-body", answerWithErrorBody(500)),
  "error-first": createFailureMarker("error-first", streamErrorFirst(500)),
  "error-late": createLateMarker("error-late", (count) => streamErrorLate(500, count)),
  "402-body": createFailureMarker("402-body", answerWithErrorBody(402)),
  "402-first": createFailureMarker("402-first", streamErrorFirst(402)),
  "402-late": createLateMarker("402-late", (count) => streamErrorLate(402, count)),
  stall: createLateMarker("stall", stallAfter),
  cut: createLateMarker("cut", cutAfter),
  "cut-tool": plain("cut-tool", { calls: "all", failure: cutInCall }),
  "no-end": createFailureMarker("no-end", endWithoutFinish),
  "double-finish": createFailureMarker("double-finish", finishTwice),
  "half-utf8": createFailureMarker("half-utf8", splitCharacters),
  "no-usage": createFailureMarker("no-usage", leaveOutUsage),
  garbage: createFailureMarker("garbage", sendGarbage),
} as const satisfies Record<string, Marker>;

/** The syntax of all markers, without brackets. */
export const MARKER_FORMS: readonly string[] = Object.values(MARKERS).map(({ form }) => form);

const NO_DIRECTIVES: Directives = {
  text: "",
  calls: null,
  reasons: false,
  words: null,
  delayMs: 0,
  splitBytes: null,
  failure: null,
};

/** Bounded in length, so that a message of opening brackets does not take quadratic time. */
const MARKER = /\[sandbox:([^[\]]{0,200})\]/g;

/** Reads the markers `[sandbox:…]` of a user message. At most one may make the answer fail. */
export function readMarkers(message: string): ReadMarkers {
  let directives = NO_DIRECTIVES;
  for (const [written, body] of message.matchAll(MARKER)) {
    const read = readMarker(body!);
    if (read === null) return { ok: false, problem: describeUnknown(written) };
    if (read.failure && directives.failure)
      return { ok: false, problem: "Only one marker may make the answer fail." };
    directives = { ...directives, ...read };
  }
  const text = message.replace(MARKER, "").trim();
  return { ok: true, directives: { ...directives, text } };
}

function readMarker(body: string): Partial<Directives> | null {
  const at = body.indexOf("=");
  const name = at < 0 ? body : body.slice(0, at);
  if (!Object.hasOwn(MARKERS, name)) return null;
  return MARKERS[name as keyof typeof MARKERS].read(at < 0 ? "" : body.slice(at + 1));
}

function describeUnknown(written: string): string {
  const known = MARKER_FORMS.map((form) => `[sandbox:${form}]`).join(", ");
  return `Unknown marker '${written.slice(0, 100)}'. The sandbox knows ${known}.`;
}

function plain(form: string, directives: Partial<Directives>): Marker {
  return { form, read: (argument) => (argument === "" ? directives : null) };
}

function createFailureMarker(form: string, failure: SandboxFailure): Marker {
  return plain(form, { failure });
}

function numbered(form: string, most: number, toDirectives: (value: number) => Partial<Directives>): Marker {
  return {
    form,
    read(argument) {
      const value = readWhole(argument, 1, most);
      return value === null ? null : toDirectives(value);
    },
  };
}

function createLateMarker(name: string, failAfter: (count: number) => SandboxFailure): Marker {
  return {
    form: `${name}[=TOKENS]`,
    read(argument) {
      const count = argument === "" ? DEFAULT_TOKENS : readWhole(argument, 0, MAX_TOKENS);
      return count === null ? null : { failure: failAfter(count) };
    },
  };
}

function readError(argument: string): Partial<Directives> | null {
  const [, status, , seconds] = /^(\d{3})(,retry-after=(\d+))?$/.exec(argument) ?? [];
  if (status === undefined || !ERROR_STATUSES.includes(Number(status))) return null;
  const retryAfterS = seconds === undefined ? null : readWhole(seconds, 0, MAX_RETRY_AFTER_S);
  if (seconds !== undefined && retryAfterS === null) return null;
  return { failure: failWithStatus(Number(status), retryAfterS) };
}

function readHtml(argument: string): Partial<Directives> | null {
  const status = argument === "" ? 200 : readWhole(argument, 200, 599);
  return status === null ? null : { failure: answerWithHtml(status) };
}

function readWhole(text: string, least: number, most: number): number | null {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : null;
}
