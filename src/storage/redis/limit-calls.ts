import { leastTokens, tightest } from "../../core/limits/meter.ts";
import type {
  LimitRejection,
  LimitRequest,
  LimitScope,
  LimitVerdict,
  RateLimitStatus,
} from "../../core/limits/rate-limiter.ts";
import type { ScriptInput } from "./client.ts";

/** What was counted for a generation in one scope, so that it can be corrected. */
export interface CountedScope {
  /** The key of the scope's running requests; null if they are not limited. */
  readonly runningKey: string | null;
  readonly windowsKey: string;
  readonly amounts: readonly CountedAmount[];
}

/** An amount that was added to a slice of a window. */
export interface CountedAmount {
  readonly window: WindowName;
  readonly slice: number;
  readonly amount: number;
}

/** The windows of a scope: requests a minute, requests an hour, tokens a minute. */
export type WindowName = "m" | "h" | "t";

/** What the script `ADMIT` answers. */
export interface AdmitAnswer {
  readonly rejection: LimitRejection | null;
  readonly limitStatus: RateLimitStatus;
  readonly counted: readonly CountedScope[];
}

/** A call of the script `ADMIT`. Without a request it counts one that uses no tokens and ends at once. */
export interface AdmitCall {
  readonly mode: "admit" | "count" | "peek";
  readonly scopes: readonly LimitScope[];
  readonly request: LimitRequest | null;
  /** The time for tests; 0 for the server's. */
  readonly time: number;
  /** How long the generation counts as running without being renewed. Milliseconds. */
  readonly leaseMs: number;
}

/**
 * Names the keys of a scope. All scopes have one hash tag, because one script counts a request in the scopes of its key, account and
 * model together.
 */
export class LimitKeys {
  constructor(private readonly prefix: string) {}

  windows({ source, id }: Pick<LimitScope, "source" | "id">): string {
    return `${this.prefix}{limits}:${source}:${id}`;
  }

  running(scope: Pick<LimitScope, "source" | "id">): string {
    return `${this.windows(scope)}:running`;
  }

  /** The key of a value that is there as long as the counts are. */
  life(): string {
    return `${this.prefix}{limits}:life`;
  }
}

/** Encodes a call of `ADMIT`. */
export function encodeAdmit(
  { mode, scopes, request, time, leaseMs }: AdmitCall,
  keys: LimitKeys,
): ScriptInput {
  const least = request === null ? 0 : leastTokens(request);
  const wanted = request === null ? 0 : request.promptTokens + request.completionTokens;
  const values: (string | number)[] = [time, mode, request?.id ?? "", leaseMs, least, wanted];
  const names: string[] = [];
  for (const scope of scopes) {
    names.push(keys.windows(scope), keys.running(scope));
    for (const limit of limitsOf(scope)) values.push(limit ?? -1);
  }
  return { keys: names, values };
}

const WINDOWS = ["m", "h", "t"] as const;
const KINDS = ["requests_per_minute", "requests_per_hour", "tokens_per_minute", "concurrent"] as const;

/** The limits of a scope in the order of `KINDS`. */
function limitsOf({ limit, requestsPerHour }: LimitScope): readonly (number | null)[] {
  return [limit.requestsPerMinute, requestsPerHour ?? null, limit.tokensPerMinute, limit.concurrent];
}

/** Decodes the answer to a call of `ADMIT`. @throws TypeError if it is not a list of numbers. */
export function decodeAdmit(answer: unknown, call: AdmitCall, keys: LimitKeys): AdmitAnswer {
  const values = new Numbers(answer);
  const [index, kind, waitMs] = [values.next(), values.next(), values.next()];
  const requests: (LimitVerdict | null)[] = [];
  const tokens: (LimitVerdict | null)[] = [];
  const counted = call.scopes.map((scope) => {
    const limits = limitsOf(scope);
    const amounts: CountedAmount[] = [];
    WINDOWS.forEach((window, at) => {
      const limit = limits[at] ?? null;
      if (limit === null) return;
      (window === "t" ? tokens : requests).push(readVerdict(values, limit));
      amounts.push({ window, slice: values.next(), amount: values.next() });
    });
    const runningKey = scope.limit.concurrent === null ? null : keys.running(scope);
    return { runningKey, windowsKey: keys.windows(scope), amounts };
  });
  return {
    rejection: describeRejection(call, { index: index - 1, kind: kind - 1, waitMs }),
    limitStatus: { requests: tightest(requests), tokens: tightest(tokens) },
    counted,
  };
}

function readVerdict(values: Numbers, limit: number): LimitVerdict {
  const remaining = Math.max(0, limit - values.next());
  const [resetMs, retryAfterMs] = [values.next(), values.next()];
  return { allowed: remaining > 0, limit, remaining, resetMs, retryAfterMs };
}

/** `index` of the scope that rejects, below 0 for none, and `kind` of its limit in `KINDS`. */
function describeRejection(
  { scopes, request }: AdmitCall,
  { index, kind, waitMs }: { readonly index: number; readonly kind: number; readonly waitMs: number },
): LimitRejection | null {
  const [scope, name] = [scopes[index], KINDS[kind]];
  if (scope === undefined || name === undefined) return null;
  const limit = limitsOf(scope)[kind] ?? 0;
  const isTooLarge = name === "tokens_per_minute" && request !== null && leastTokens(request) > limit;
  return { source: scope.source, kind: name, limit, retryAfterMs: waitMs, isTooLarge };
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
