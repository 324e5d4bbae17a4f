import type { AnswerWishes } from "./answer.ts";
import {
  answerWithErrorBody,
  answerWithHtml,
  answerWithNothing,
  cutAfter,
  cutInCall,
  DEFAULT_TOKENS,
  ERROR_STATUSES,
  endWithoutFinish,
  type Failure,
  failForContext,
  failForQuota,
  failWithStatus,
  finishTwice,
  leaveOutUsage,
  neverAnswer,
  neverConnect,
  refuseConnection,
  resetConnection,
  sendGarbage,
  splitCharacters,
  stallAfter,
  streamErrorFirst,
  streamErrorLate,
} from "./failures.ts";
import type { Pace } from "./play-reply.ts";

/** All that a user message can ask of the sandbox. */
export interface Wishes extends AnswerWishes, Pace {
  /** Null: a healthy answer. */
  readonly failure: Failure | null;
}

/** The wishes of a message, or what is wrong with a marker in it. */
export type ReadMarkers =
  | { readonly ok: true; readonly wishes: Wishes }
  | { readonly ok: false; readonly problem: string };

interface Marker {
  /** As it is written, for people. */
  readonly form: string;
  /** What the argument, "" for none, asks for; null where it is not understood. */
  read(argument: string): Partial<Wishes> | null;
}

/** Longest wait between events. Milliseconds. */
const MAX_DELAY_MS = 60_000;

/** Longest answer that can be asked for. Words. */
const MAX_WORDS = 10_000;

/** Latest place at which something goes wrong. Tokens. */
const MAX_TOKENS = 10_000;

/** Largest piece that a body is split into. Bytes. */
const MAX_SPLIT_BYTES = 65_536;

/** Longest `Retry-After`. Seconds. */
const MAX_RETRY_AFTER_S = 86_400;

/** The closed table of markers; `docs/sandbox.md` says what each does. */
const MARKERS = {
  tools: plain("tools", { calls: "all" }),
  tool: { form: "tool=NAME", read: (name) => (name === "" ? null : { calls: { name } }) },
  reasoning: plain("reasoning", { reasons: true }),
  long: numbered("long=WORDS", 1, MAX_WORDS, (words) => ({ words })),
  slow: numbered("slow=MS", 1, MAX_DELAY_MS, (delayMs) => ({ delayMs })),
  split: numbered("split=BYTES", 1, MAX_SPLIT_BYTES, (splitBytes) => ({ splitBytes })),
  error: { form: "error=STATUS[,retry-after=SECONDS]", read: readError },
  quota: failing("quota", failForQuota),
  context: failing("context", failForContext),
  refused: failing("refused", refuseConnection),
  "connect-timeout": failing("connect-timeout", neverConnect),
  reset: failing("reset", resetConnection),
  silent: failing("silent", neverAnswer),
  html: { form: "html[=STATUS]", read: readHtml },
  empty: failing("empty", answerWithNothing),
  "error-body": failing("error-body", answerWithErrorBody(500)),
  "error-first": failing("error-first", streamErrorFirst(500)),
  "error-late": late("error-late", (count) => streamErrorLate(500, count)),
  "402-body": failing("402-body", answerWithErrorBody(402)),
  "402-first": failing("402-first", streamErrorFirst(402)),
  "402-late": late("402-late", (count) => streamErrorLate(402, count)),
  stall: late("stall", stallAfter),
  cut: late("cut", cutAfter),
  "cut-tool": plain("cut-tool", { calls: "all", failure: cutInCall }),
  "no-end": failing("no-end", endWithoutFinish),
  "double-finish": failing("double-finish", finishTwice),
  "half-utf8": failing("half-utf8", splitCharacters),
  "no-usage": failing("no-usage", leaveOutUsage),
  garbage: failing("garbage", sendGarbage),
} as const satisfies Record<string, Marker>;

/** All markers as they are written, without brackets. */
export const MARKER_FORMS: readonly string[] = Object.values(MARKERS).map(({ form }) => form);

const NO_WISHES: Wishes = {
  text: "",
  calls: null,
  reasons: false,
  words: null,
  delayMs: 0,
  splitBytes: null,
  failure: null,
};

/** Bounded, so that a message of opening brackets is not searched again and again. */
const MARKER = /\[sandbox:([^[\]]{0,200})\]/g;

/** Reads the markers `[sandbox:…]` of a user message: several, but only one that makes the answer fail. */
export function readMarkers(message: string): ReadMarkers {
  let wishes = NO_WISHES;
  for (const [written, body] of message.matchAll(MARKER)) {
    const read = readMarker(body!);
    if (read === null) return { ok: false, problem: describeUnknown(written) };
    if (read.failure && wishes.failure)
      return { ok: false, problem: "Only one marker may make the answer fail." };
    wishes = { ...wishes, ...read };
  }
  const text = message.replace(MARKER, "").trim();
  return { ok: true, wishes: { ...wishes, text } };
}

function readMarker(body: string): Partial<Wishes> | null {
  const at = body.indexOf("=");
  const name = at < 0 ? body : body.slice(0, at);
  if (!Object.hasOwn(MARKERS, name)) return null;
  return MARKERS[name as keyof typeof MARKERS].read(at < 0 ? "" : body.slice(at + 1));
}

function describeUnknown(written: string): string {
  const known = MARKER_FORMS.map((form) => `[sandbox:${form}]`).join(", ");
  return `Unknown marker '${written.slice(0, 100)}'. The sandbox knows ${known}.`;
}

function plain(form: string, wishes: Partial<Wishes>): Marker {
  return { form, read: (argument) => (argument === "" ? wishes : null) };
}

function failing(form: string, failure: Failure): Marker {
  return plain(form, { failure });
}

function numbered(
  form: string,
  least: number,
  most: number,
  wish: (value: number) => Partial<Wishes>,
): Marker {
  return {
    form,
    read(argument) {
      const value = readWhole(argument, least, most);
      return value === null ? null : wish(value);
    },
  };
}

function late(name: string, failAfter: (count: number) => Failure): Marker {
  return {
    form: `${name}[=TOKENS]`,
    read(argument) {
      const count = argument === "" ? DEFAULT_TOKENS : readWhole(argument, 0, MAX_TOKENS);
      return count === null ? null : { failure: failAfter(count) };
    },
  };
}

function readError(argument: string): Partial<Wishes> | null {
  const [, status, , seconds] = /^(\d{3})(,retry-after=(\d+))?$/.exec(argument) ?? [];
  if (status === undefined || !ERROR_STATUSES.includes(Number(status))) return null;
  const retryAfterS = seconds === undefined ? null : readWhole(seconds, 0, MAX_RETRY_AFTER_S);
  if (seconds !== undefined && retryAfterS === null) return null;
  return { failure: failWithStatus(Number(status), retryAfterS) };
}

function readHtml(argument: string): Partial<Wishes> | null {
  const status = argument === "" ? 200 : readWhole(argument, 200, 599);
  return status === null ? null : { failure: answerWithHtml(status) };
}

function readWhole(text: string, least: number, most: number): number | null {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : null;
}
