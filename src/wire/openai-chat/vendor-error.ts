import { BOUNDS } from "../../base/bounds.ts";
import { asFields } from "./usage.ts";

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

type Fields = Readonly<Record<string, unknown>>;

/** The error in a body that came with status 200, or in an event of a stream; null where there is none. */
export function findVendorError(body: Fields): VendorError | null {
  const hasError = body["error"] !== undefined && body["error"] !== null && body["error"] !== false;
  const isError = body["object"] === "error" || body["type"] === "error";
  return hasError || isError ? readVendorError(200, body) : null;
}

/** Reads an error body. `status` is the HTTP status it came with. */
export function readVendorError(status: number, body: unknown): VendorError {
  const fields = asFields(body) ?? {};
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

const CREDIT_WORDS =
  /insufficient_quota|insufficient_(balance|credit|funds)|exceeded your current quota|billing_hard_limit/;

function readMeaning(status: number, words: string, message: string): VendorErrorMeaning {
  // OpenAI says 429 when an account has run dry.
  if (status === 402 || CREDIT_WORDS.test(words) || CREDIT_WORDS.test(message.toLowerCase()))
    return "out_of_credit";
  if (status === 401 || status === 403) return "key_refused";
  if (status === 429) return "rate_limited";
  if (status === 503 || status === 529 || status === 504) return "overloaded";
  if (status === 400 || status === 413 || status === 422) return "bad_request";
  return "failed";
}

interface Overflow {
  readonly limit: number | null;
  readonly requested: number | null;
}

/** How vendors say that a prompt is too long; the groups are the limit and what was asked for, where they name them. */
const OVERFLOWS: readonly { readonly pattern: RegExp; readonly limit: number; readonly requested: number }[] =
  [
    {
      pattern: /maximum context length is (\d+)(?:.*?(?:requested|resulted in|contains?)[^\d]*(\d+))?/is,
      limit: 1,
      requested: 2,
    },
    { pattern: /prompt is too long: (\d+) tokens > (\d+)/i, limit: 2, requested: 1 },
    { pattern: /prompt contains (\d+) tokens.*?maximum.*?(\d+)/is, limit: 2, requested: 1 },
    {
      pattern: /token count \(?(\d+)\)? exceeds the maximum number of tokens allowed \(?(\d+)/i,
      limit: 2,
      requested: 1,
    },
    { pattern: /maximum prompt length is (\d+).*?contains (\d+)/is, limit: 1, requested: 2 },
  ];

function readOverflow(message: string, words: string): Overflow | null {
  const plain = message.replace(/(\d),(?=\d{3})/g, "$1");
  for (const { pattern, limit, requested } of OVERFLOWS) {
    const match = pattern.exec(plain);
    if (match !== null) return { limit: number(match[limit]), requested: number(match[requested]) };
  }
  const isOverflow =
    words.includes("context_length_exceeded") ||
    words.includes("string_above_max_length") ||
    /(exceed|too long|larger|over).{0,60}context (window|length|size)|context (window|length|size).{0,40}exceed/i.test(
      plain,
    );
  return isOverflow ? { limit: null, requested: null } : null;
}

function number(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
