import { asFields, type Fields } from "../../../base/json/fields.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { lacksFeature } from "./lacking-feature.ts";
import { OUT_OF_CREDIT_WORDS } from "./money-words.ts";
import { type Overflow, readOverflow } from "./read-overflow.ts";
import { readRetryAfter } from "./read-retry-after.ts";
import { readRefusedFields } from "./refused-fields.ts";

/** A vendor's error, from an error status or from a body with status 200. */
export interface VendorError {
  /** The HTTP status, read from the body where the response's own is 200. */
  readonly status: number;
  /** The vendor's message, truncated. */
  readonly message: string;
  readonly meaning: VendorErrorMeaning;
  /** The vendor's error code, such as `tool_use_failed`; null if it has none or a number. */
  readonly code: string | null;
  /** Output of the model that the vendor could not parse as a tool call, truncated; null if the vendor sends none. */
  readonly failedGeneration: string | null;
  /** Tokens, for `context_overflow`; null if the vendor does not name them. */
  readonly contextLimit: number | null;
  readonly contextRequested: number | null;
  /** All that the vendor says of a context window that is exceeded; null for other errors. */
  readonly overflow: Overflow | null;
  /** The fields that the vendor does not take, by its own names, if it rejected the request for nothing else. */
  readonly refusedFields: readonly string[];
  /** Whether the request is rejected because this host has not what it needs of the model. */
  readonly lacksFeature: boolean;
  /** Seconds to wait, if the body names them; null for errors that persist. */
  readonly retryAfterS: number | null;
}

type VendorErrorMeaning =
  /** The request is invalid. */
  | "bad_request"
  | "context_overflow"
  /** The vendor's content filter rejected the prompt. */
  | "content_filter"
  | "key_refused"
  | "out_of_credit"
  | "rate_limited"
  | "overloaded"
  | "failed";

/** Returns the error in a body with status 200 or in an event of a stream; null if there is none. */
export function findVendorError(body: Fields): VendorError | null {
  const hasError = body["error"] !== undefined && body["error"] !== null && body["error"] !== false;
  const isError = body["object"] === "error" || body["type"] === "error";
  return hasError || isError ? readVendorError(200, body) : null;
}

/** Returns the error in an event of a stream; null if there is none. An event with the name `error` always is one. */
export function findEventError(event: Fields, name: string): VendorError | null {
  return findVendorError(event) ?? (name === "error" ? readVendorError(200, event) : null);
}

/**
 * Parses an error body. `status` is the HTTP status of the response; `errorType` the error in a header, such as AWS's `x-amzn-
 * errortype`.
 */
export function readVendorError(status: number, body: unknown, errorType: string | null = null): VendorError {
  // Gemini wraps its error in a list.
  const fields = asFields(Array.isArray(body) ? body[0] : body) ?? {};
  const error = asFields(fields["error"]) ?? fields;
  const message = readMessage(fields, error);
  const words = readWords(error, errorType);
  // A redirect is an error of its own, whatever its body says.
  const meant = status === 200 ? readStatus(error, words) : status;
  // Their texts may be about anything: the account is out of credit.
  const overflow = meant === PAYMENT_REQUIRED ? null : readOverflow(message, words);
  const meaning = overflow ? "context_overflow" : readMeaning(meant, words, message);
  return {
    status: meant,
    message,
    meaning,
    code: readCode(error),
    failedGeneration: text(error["failed_generation"]).slice(0, BOUNDS.failedGenerationChars) || null,
    contextLimit: overflow?.limit ?? null,
    contextRequested: overflow === null ? null : countRequested(overflow),
    overflow,
    refusedFields:
      meaning === "bad_request" ? readRefusedFields(meant, { body: fields, error, message }) : NO_FIELDS,
    lacksFeature: meaning === "bad_request" && lacksFeature(message),
    retryAfterS: RETRYABLE.has(meaning) ? readRetryAfter(error, message) : null,
  };
}

/** Returns the prompt, or all that was requested if the prompt alone fits. */
function countRequested({ limit, prompt, total }: Overflow): number | null {
  return prompt !== null && (limit === null || prompt > limit) ? prompt : (total ?? prompt);
}

/** Meanings after which a retry may succeed. */
const RETRYABLE: ReadonlySet<VendorErrorMeaning> = new Set(["rate_limited", "overloaded", "failed"]);

/** Returns the codes, types and statuses of an error in lower case. */
function readWords(error: Fields, errorType: string | null): string {
  const details = Array.isArray(error["details"]) ? error["details"] : [];
  const inner = asFields(error["innererror"])?.["code"];
  const words = [error["code"], error["type"], error["status"], error["__type"], inner, errorType];
  for (const detail of details) words.push(asFields(detail)?.["reason"]);
  return words.map(text).join(" ").toLowerCase();
}

/** Returns the error for a status without a readable body. */
export function readBareStatus(status: number): VendorError {
  return { ...NO_DETAILS, status, message: `HTTP ${status}`, meaning: readMeaning(status, "", "") };
}

/** Returns the error for a body with status 200 that is not an answer. `message` says what is wrong. */
export function brokenAnswer(message: string): VendorError {
  return { ...NO_DETAILS, status: 200, message, meaning: "failed" };
}

const NO_FIELDS: readonly string[] = [];

/** The optional fields of an error that has none of them. */
const NO_DETAILS = {
  code: null,
  failedGeneration: null,
  contextLimit: null,
  contextRequested: null,
  overflow: null,
  refusedFields: NO_FIELDS,
  lacksFeature: false,
  retryAfterS: null,
} as const;

const PAYMENT_REQUIRED = 402;

/** Google's error code is in `status`. */
function readCode(error: Fields): string | null {
  for (const word of [error["code"], error["status"]])
    if (typeof word === "string" && CODE.test(word)) return word;
  return null;
}

const CODE = /^[A-Za-z][\w.-]{0,99}$/;

function readMessage(fields: Fields, error: Fields): string {
  const found =
    text(error["message"]) ||
    text(fields["message"]) ||
    // AWS, for a rejected key.
    text(fields["Message"]) ||
    text(fields["error"]) ||
    readDetail(fields["detail"]);
  return (found || "the upstream gave no reason").slice(0, BOUNDS.upstreamMessageChars);
}

/** FastAPI hosts and Mistral send `detail`, as text or as a list of `{msg, loc}`. */
function readDetail(detail: unknown): string {
  if (typeof detail === "string") return detail;
  if (!Array.isArray(detail)) return text(asFields(detail)?.["message"]);
  return detail
    .map((entry) => {
      const where = asFields(entry)?.["loc"];
      const what = text(asFields(entry)?.["msg"]);
      return Array.isArray(where) ? `${where.filter((part) => part !== "body").join(".")}: ${what}` : what;
    })
    .join("; ");
}

/** Returns the status of an error that came with status 200. */
function readStatus(error: Fields, words: string): number {
  for (const key of ["code", "status", "status_code"]) {
    const value = Number(error[key]);
    if (Number.isInteger(value) && value >= 400 && value < 600) return value;
  }
  return STATUS_WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

const STATUS_WORDS: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|insufficient_(balance|credit|funds)|billing|payment/, 402],
  [/rate_limit|resource_exhausted|too_many_requests|throttling|servicequota|modelnotready/, 429],
  [/overloaded|unavailable|capacity/, 503],
  [/authentication|invalid_api_key|unauthorized|unauthenticated/, 401],
  [/permission|forbidden|accessdenied|unrecognizedclient|expiredtoken/, 403],
  [/not_found|notfound/, 404],
  [/invalid_request|invalid_argument|bad_request|context_length|validationexception/, 400],
];

/** Codes and types for an exhausted balance: OpenAI with 429, Anthropic with 400, xAI with 403. */
const CREDIT_CODES =
  /insufficient_(quota|balance|credit|funds)|exceeded_current_quota|billing_(hard_limit|not_active)|arrearage|accountoverdue|\b1113\b/;
/** Gemini's prepaid accounts, reported like a rate limit. */
const PREPAID_WORDS = /prepayment credits are depleted/i;
/** Quotations of the request in a vendor's message, which may contain any words. */
const QUOTED = /"[^"]*"|(?<![A-Za-z])'[^']*'(?![A-Za-z])|`[^`]*`/g;

/** Codes of content filters: Azure, Moonshot, DashScope, Z.AI. */
const CONTENT_CODES = /content_filter|content_policy|data_?inspection_?failed|responsibleai|\b1301\b/;
/** Messages of content filters: Azure, OpenAI, Anthropic, xAI with 403, DeepSeek, Moonshot, DashScope. */
const CONTENT_WORDS =
  /content (management|filtering) policy|violat\w+ (our |the )?usage (policy|guidelines)|content violates|content exists risk|considered high risk|inappropriate content|unsafe or sensitive content/i;
/** Statuses of content filters, besides Cohere's own. */
const CONTENT_STATUSES = new Set([400, 403, 422]);
const UNSAFE_REQUEST = 498;

/** Codes of overload with any status: Moonshot and Z.AI use 429, OpenAI has used 400. */
const OVERLOAD_CODES = /engine_overloaded|is_overloaded|overloaded_error|queue_exceeded|\b1305\b/;
/** Codes of a rejected key with any status: Gemini uses 400. */
const KEY_CODES = /api_key_invalid|invalid_api_key|unrecognizedclient|expiredtoken|invalidsignature/;
/** xAI, with 400. */
const KEY_WORDS = /^incorrect(?:%20| )api(?:%20| )key(?:%20| )provided/i;

function readMeaning(status: number, words: string, message: string): VendorErrorMeaning {
  const unquoted = message.replace(QUOTED, "");
  if (status === PAYMENT_REQUIRED || isOutOfCredit(words, unquoted)) return "out_of_credit";
  if (isRejectedContent(status, words, unquoted)) return "content_filter";
  if (OVERLOAD_CODES.test(words)) return "overloaded";
  if (status === 401 || status === 403 || KEY_CODES.test(words) || KEY_WORDS.test(unquoted))
    return "key_refused";
  if (isRateLimited(status, words)) return "rate_limited";
  if (status === 503 || status === 529 || status === 504 || status === UNSAFE_REQUEST) return "overloaded";
  if (status === 400 || status === 413 || status === 422) return "bad_request";
  return "failed";
}

function isOutOfCredit(words: string, unquoted: string): boolean {
  if (PREPAID_WORDS.test(unquoted)) return true;
  // Gemini uses it for every limit, including those per minute.
  if (words.includes("resource_exhausted")) return false;
  return CREDIT_CODES.test(words) || OUT_OF_CREDIT_WORDS.test(unquoted);
}

function isRejectedContent(status: number, words: string, unquoted: string): boolean {
  // Groq has the same status for a tier that is full.
  if (status === UNSAFE_REQUEST) return !/capacity/i.test(words + unquoted);
  return CONTENT_STATUSES.has(status) && (CONTENT_CODES.test(words) || CONTENT_WORDS.test(unquoted));
}

function isRateLimited(status: number, words: string): boolean {
  // Groq uses 413 for a prompt over the tokens per minute, Bedrock 400 for an exhausted account quota.
  return (
    status === 429 ||
    (status === 413 && words.includes("rate_limit")) ||
    words.includes("servicequotaexceeded")
  );
}

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
