import { fail } from "../../base/failures/errors.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { SocketDeps } from "../context/socket-deps.ts";
import { holderOf } from "../middleware/read-body.ts";

/** When a client may try again to open a WebSocket. Seconds. */
const RETRY_S = 10;

/** The open WebSockets of a process, by key, or by address for clients without one. */
export class OpenSockets {
  private readonly byHolder = new Map<string, number>();

  /**
   * Counts one more WebSocket of a caller. Returns a function that counts it no longer.
   * @throws GatewayError `rate_limit_exceeded` if the caller has too many open, `unavailable` if all together are too many.
   */
  enter(principal: InferencePrincipal, { limits, counts }: SocketDeps): () => void {
    const holder = holderOf(principal);
    const open = this.byHolder.get(holder) ?? 0;
    const isAnonymous = principal.kind === "anonymous";
    const limit = isAnonymous ? limits.perAddress : limits.perKey;
    if (open >= limit) rejectHolder(isAnonymous, limit);
    if (counts.open >= limits.total) rejectAll(limits.total);
    this.byHolder.set(holder, open + 1);
    counts.open += 1;
    return () => {
      counts.open -= 1;
      this.leave(holder);
    };
  }

  private leave(holder: string): void {
    const left = (this.byHolder.get(holder) ?? 0) - 1;
    if (left > 0) this.byHolder.set(holder, left);
    else this.byHolder.delete(holder);
  }
}

function rejectHolder(isAnonymous: boolean, limit: number): never {
  return fail(
    "rate_limit_exceeded",
    isAnonymous
      ? `This address has ${limit} WebSockets open without a key, which is its maximum. Close one, or send an API key.`
      : `This key has ${limit} WebSockets open, which is its maximum. Close one, or send the request over HTTP.`,
    {
      retryAfterS: RETRY_S,
      metadata: { limit_source: isAnonymous ? "anonymous" : "key", limit_kind: "websockets", limit },
    },
  );
}

function rejectAll(limit: number): never {
  return fail(
    "unavailable",
    "Too many WebSockets are open. Send the request over HTTP, or try again later.",
    {
      retryAfterS: RETRY_S,
      internal: `limits.websockets (${limit}) are open`,
    },
  );
}
