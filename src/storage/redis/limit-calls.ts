import { leastTokens, tightest } from "../../core/limits/meter.ts";
import type {
  LimitRejection,
  LimitRequest,
  LimitScope,
  LimitVerdict,
  RateLimitStatus,
} from "../../core/limits/rate-limiter.ts";

/** The windows of a scope: requests a minute, requests an hour, tokens a minute. */
export type WindowName = "m" | "h" | "t";
const WINDOWS = ["m", "h", "t"] as const;

/** The amounts counted for a request in one scope, so that they can be corrected. */
export interface CountedScope {
  readonly key: string;
  /** Whether its concurrent requests are limited. */
  readonly isConcurrent: boolean;
  readonly amounts: readonly CountedAmount[];
}

/** An amount that was added to a slice of a window. */
export interface CountedAmount {
  readonly window: WindowName;
  readonly slice: number;
  readonly amount: number;
}

/** A question about the limits of some scopes. Without a request, it asks for one that uses no tokens and ends immediately. */
export interface LimitQuestion {
  readonly mode: "admit" | "count" | "peek";
  readonly scopes: readonly LimitScope[];
  readonly request: LimitRequest | null;
}

/** The answer to a question. */
export interface LimitAnswer {
  readonly rejection: LimitRejection | null;
  readonly limitStatus: RateLimitStatus;
  readonly counted: readonly CountedScope[];
}

/** Ages in milliseconds, each followed by its amount. */
export type AgedAmounts = readonly number[];
/** The amounts counted in the windows of a scope. */
export type WindowAmounts = Readonly<Partial<Record<WindowName, AgedAmounts>>>;

/** A change of a scope that no request waits for. */
export type LimitChange =
  | readonly ["correct", window: WindowName, slice: number, difference: number]
  | readonly ["running", count: number, isDifference: boolean]
  | readonly ["carry", owed: WindowAmounts, all: WindowAmounts]
  | readonly ["restore", hour: AgedAmounts];

/**
 * Returns the key of a scope. Its hash tag is the account, so that the scopes of a request with a key are counted in one step, and accounts
 * are distributed over the servers of a cluster. Models and client addresses have tags of their own.
 */
export function keyOf(prefix: string, { source, id, accountId }: LimitScope): string {
  const tag = source === "gateway" || source === "anonymous" ? `${source} ${id}` : (accountId ?? id);
  return `${prefix}limit:{${tag}}:${source}:${id}`;
}

/** Returns the operation for a question. `indexOf` returns the index of a key in its call, from 1 on. */
export function encodeQuestion(
  { mode, scopes, request }: LimitQuestion,
  indexOf: (scope: LimitScope) => number,
): readonly unknown[] {
  const limits: number[] = [];
  for (const scope of scopes) limits.push(indexOf(scope), ...limitsOf(scope).map((limit) => limit ?? -1));
  if (request === null) return [mode, limits, 0, 0, 0];
  const { promptTokens, completionTokens, expectedTokens = completionTokens } = request;
  const expected = promptTokens + Math.min(completionTokens, expectedTokens);
  return [mode, limits, leastTokens(request), promptTokens + completionTokens, expected];
}

const KINDS = ["requests_per_minute", "requests_per_hour", "tokens_per_minute", "concurrent"] as const;

/** The limits of a scope in the order of `KINDS`. */
function limitsOf({ limit, requestsPerHour }: LimitScope): readonly (number | null)[] {
  return [limit.requestsPerMinute, requestsPerHour ?? null, limit.tokensPerMinute, limit.concurrent];
}

/** Decodes the answer to a question. @throws TypeError if it is not a list of numbers. */
export function decodeAnswer(answer: unknown, question: LimitQuestion, keys: readonly string[]): LimitAnswer {
  const values = new Numbers(answer);
  const [index, kind, waitMs] = [values.next(), values.next(), values.next()];
  const requests: (LimitVerdict | null)[] = [];
  const tokens: (LimitVerdict | null)[] = [];
  const counted = question.scopes.map((scope, position) => {
    const limits = limitsOf(scope);
    const amounts: CountedAmount[] = [];
    WINDOWS.forEach((window, at) => {
      const limit = limits[at] ?? null;
      if (limit === null) return;
      (window === "t" ? tokens : requests).push(readVerdict(values, limit));
      amounts.push({ window, slice: values.next(), amount: values.next() });
    });
    return { key: keys[position] as string, isConcurrent: scope.limit.concurrent !== null, amounts };
  });
  return {
    rejection: describeRejection(question, { index: index - 1, kind: kind - 1, waitMs }),
    limitStatus: { requests: tightest(requests), tokens: tightest(tokens) },
    counted,
  };
}

function readVerdict(values: Numbers, limit: number): LimitVerdict {
  const remaining = Math.max(0, limit - values.next());
  const [resetMs, retryAfterMs] = [values.next(), values.next()];
  return { allowed: remaining > 0, limit, remaining, resetMs, retryAfterMs };
}

/** `index` of the rejecting scope, below 0 for none, and `kind` of its limit in `KINDS`. */
function describeRejection(
  { scopes, request }: LimitQuestion,
  { index, kind, waitMs }: { readonly index: number; readonly kind: number; readonly waitMs: number },
): LimitRejection | null {
  const [scope, name] = [scopes[index], KINDS[kind]];
  if (scope === undefined || name === undefined) return null;
  const limit = limitsOf(scope)[kind] ?? 0;
  const isTooLarge = name === "tokens_per_minute" && request !== null && leastTokens(request) > limit;
  return { source: scope.source, kind: name, limit, retryAfterMs: waitMs, isTooLarge };
}

/** Describes scopes in which a request was counted without Redis. */
export function describeScopes(prefix: string, scopes: readonly LimitScope[]): readonly CountedScope[] {
  return scopes.map((scope) => {
    const limits = limitsOf(scope);
    return {
      key: keyOf(prefix, scope),
      isConcurrent: scope.limit.concurrent !== null,
      amounts: WINDOWS.filter((_, at) => limits[at] !== null).map((window) => ({
        window,
        slice: 0,
        amount: 0,
      })),
    };
  });
}

/** The numbers of an answer, one after the other. */
class Numbers {
  private at = 0;

  constructor(private readonly answer: unknown) {}

  next(): number {
    const value: unknown = Array.isArray(this.answer) ? this.answer[this.at] : undefined;
    this.at += 1;
    if (typeof value !== "number")
      throw new TypeError("Redis answered a limit with something other than numbers");
    return value;
  }
}
