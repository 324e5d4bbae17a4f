import { BOUNDS } from "../../base/bounds.ts";
import { asFields, type Fields } from "../json/fields.ts";

/** What a vendor said when it refused or failed, in a status or inside a 200. */
export interface VendorError {
  /** The status it means: its own, or read from the body where the status says 200. */
  readonly status: number;
  /** The vendor's words, bounded. */
  readonly message: string;
  readonly meaning: VendorErrorMeaning;
  /** Tokens, for `context_overflow`, where the vendor names them. */
  readonly contextLimit: number | null;
  readonly contextRequested: number | null;
}

export type VendorErrorMeaning =
  /** The caller's request is at fault. */
  | "bad_request"
  | "context_overflow"
  | "key_refused"
  | "out_of_credit"
  | "rate_limited"
  | "overloaded"
  | "failed";

/** The error in a body that came with status 200, or in an event of a stream; null where there is none. */
export function findVendorError(body: Fields): VendorError | null {
  const hasError = body["error"] !== undefined && body["error"] !== null && body["error"] !== false;
  const isError = body["object"] === "error" || body["type"] === "error";
  return hasError || isError ? readVendorError(200, body) : null;
}

/** Reads an error body. `status` is the HTTP status it came with. */
export function readVendorError(status: number, body: unknown): VendorError {
  // Gemini wraps its error in a list.
  const fields = asFields(Array.isArray(body) ? body[0] : body) ?? {};
  const error = asFields(fields["error"]) ?? fields;
  const message = readMessage(fields, error);
  // A redirect is a refusal of its own, whatever its body says.
  const meant = status === 200 ? readStatus(error) : status;
  const words = `${text(error["code"])} ${text(error["type"])} ${text(error["status"])}`.toLowerCase();
  const overflow = readOverflow(message, words);
  return {
    status: meant,
    message,
    meaning: overflow ? "context_overflow" : readMeaning(meant, words, message),
    contextLimit: overflow?.limit ?? null,
    contextRequested: overflow?.requested ?? null,
  };
}

/** What a status means when no readable body came with it. */
export function readBareStatus(status: number): VendorError {
  return {
    status,
    message: `HTTP ${status}`,
    meaning: readMeaning(status, "", ""),
    contextLimit: null,
    contextRequested: null,
  };
}

/** What came with status 200 and is no answer. `message` says what is wrong with it. */
export function brokenAnswer(message: string): VendorError {
  return { status: 200, message, meaning: "failed", contextLimit: null, contextRequested: null };
}

function readMessage(fields: Fields, error: Fields): string {
  const found =
    text(error["message"]) ||
    text(fields["message"]) ||
    text(fields["error"]) ||
    readDetail(fields["detail"]);
  return (found || "the upstream gave no reason").slice(0, BOUNDS.upstreamMessageChars);
}

/** FastAPI hosts and Mistral say `detail`, as text or as a list of `{msg, loc}`. */
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

/** The status that an error means which came with 200. */
function readStatus(error: Fields): number {
  for (const key of ["code", "status", "status_code"]) {
    const value = Number(error[key]);
    if (Number.isInteger(value) && value >= 400 && value < 600) return value;
  }
  const words = `${text(error["code"])} ${text(error["type"])} ${text(error["status"])}`.toLowerCase();
  return STATUS_WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

const STATUS_WORDS: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|insufficient_(balance|credit|funds)|billing|payment/, 402],
  [/rate_limit|resource_exhausted|too_many_requests/, 429],
  [/overloaded|unavailable|capacity/, 503],
  [/authentication|invalid_api_key|unauthorized|unauthenticated/, 401],
  [/permission|forbidden/, 403],
  [/not_found/, 404],
  [/invalid_request|invalid_argument|bad_request|context_length/, 400],
];

/** Codes and types by which vendors say that the account has run dry: OpenAI with 429, Anthropic with 400, xAI with 403. */
const CREDIT_CODES =
  /insufficient_(quota|balance|credit|funds)|exceeded_current_quota|billing_(hard_limit|not_active)|\b1113\b/;
/** The same in words. */
const CREDIT_WORDS =
  /exceeded your current quota|insufficient (balance|credits?|funds)|balance is (too low|insufficient)|(used all|have any|out of) (available )?credits|spending limit|billing hard limit|check your billing|failure to pay/i;
/** What a vendor repeats of the request; a caller may have put anything there, these words too. */
const QUOTED = /"[^"]*"|(?<![A-Za-z])'[^']*'(?![A-Za-z])|`[^`]*`/g;

function saysOutOfCredit(words: string, message: string): boolean {
  // Gemini says it of every limit, those of a minute too.
  if (words.includes("resource_exhausted")) return false;
  return CREDIT_CODES.test(words) || CREDIT_WORDS.test(message.replace(QUOTED, ""));
}

function readMeaning(status: number, words: string, message: string): VendorErrorMeaning {
  if (status === 402 || saysOutOfCredit(words, message)) return "out_of_credit";
  if (status === 401 || status === 403) return "key_refused";
  // Groq says 413 when a prompt is over the tokens of a minute.
  if (status === 429 || (status === 413 && words.includes("rate_limit"))) return "rate_limited";
  if (status === 503 || status === 529 || status === 504) return "overloaded";
  if (status === 400 || status === 413 || status === 422) return "bad_request";
  return "failed";
}

interface Overflow {
  readonly limit: number | null;
  readonly requested: number | null;
}

/**
 * How vendors say that a prompt is too long. The groups `limit` and `requested` are tokens; a vendor may name neither.
 */
const OVERFLOWS: readonly RegExp[] = [
  // OpenAI, DeepSeek, vLLM and most hosts.
  /maximum context length is (?<limit>\d+)(?:.*?(?:requested|resulted in|contains?)[^\d]*(?<requested>\d+))?/is,
  // Anthropic.
  /prompt is too long: (?<requested>\d+) tokens > (?<limit>\d+)/i,
  // Fireworks.
  /prompt is too long: (?<requested>\d+), model maximum context length: (?<limit>\d+)/i,
  // Mistral.
  /prompt contains (?<requested>\d+) tokens.*?(?:model with|maximum)\D*(?<limit>\d+)/is,
  // Gemini.
  /token count \(?(?<requested>\d+)\)? exceeds the maximum number of tokens allowed \(?(?<limit>\d+)/i,
  // xAI.
  /maximum prompt length is (?<limit>\d+).*?contains (?<requested>\d+)/is,
  // Moonshot.
  /exceeded model token limit: (?<limit>\d+)(?: \(requested: (?<requested>\d+)\))?/i,
  // llama.cpp.
  /request \((?<requested>\d+) tokens\) exceeds the available context size \((?<limit>\d+) tokens\)/i,
  // Cerebras.
  /current length is (?<requested>\d+) while limit is (?<limit>\d+)/i,
  // Cohere.
  /tokens in the prompt cannot exceed (?<limit>\d+) - received (?<requested>\d+)/i,
  // Text Generation Inference, Together.
  /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>\d+)\. Given: (?<requested>\d+)/i,
  // DashScope.
  /range of input length should be \[\d+, ?(?<limit>\d+)\]/i,
];

const OVERFLOW_CODES = /context_length_exceeded|exceed_context_size|context_window_exceeded/;
const OVERFLOW_WORDS =
  /(exceed|too long|larger|greater|over).{0,60}context (window|length|size)|context (window|length|size).{0,40}exceed|too long for requested model|prompt exceeds max length|string with maximum length \d{7}/i;

function readOverflow(message: string, words: string): Overflow | null {
  const plain = message.replace(/(\d),(?=\d{3})/g, "$1");
  for (const pattern of OVERFLOWS) {
    const groups = pattern.exec(plain)?.groups;
    if (groups) return { limit: number(groups["limit"]), requested: number(groups["requested"]) };
  }
  const isOverflow = OVERFLOW_CODES.test(words) || OVERFLOW_WORDS.test(plain);
  return isOverflow ? { limit: null, requested: null } : null;
}

function number(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
