import { fail } from "../../base/failures/errors.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { ByteShare } from "../../core/limits/byte-budget.ts";
import type { HttpDeps } from "../context/context.ts";
import { holderOf, rejectForMemory } from "../middleware/read-body.ts";

/** The most requests of a connection that wait for their turn: OpenAI's clients may have 32 streams on a connection. */
const MAX_WAITING = 32;

interface WaitingFrame {
  readonly frame: Buffer;
  readonly share: ByteShare;
}

/** The frames of a connection that wait while another one is answered. They count as bodies of their sender. */
export class FrameQueue {
  private readonly waiting: WaitingFrame[] = [];

  constructor(
    private readonly deps: () => Pick<HttpDeps, "bodies">,
    private readonly principal: InferencePrincipal,
  ) {}

  /** @throws GatewayError `rate_limit_exceeded`, `unavailable` if there is no room. */
  add(frame: Buffer): void {
    if (this.waiting.length >= MAX_WAITING) this.rejectExcess();
    const share = this.deps().bodies.bodyBudget.openShare(holderOf(this.principal));
    try {
      if (!share.take(frame.length)) rejectForMemory(share, this.principal, frame.length);
    } catch (error) {
      share.release();
      throw error;
    }
    this.waiting.push({ frame, share });
  }

  /** Removes and returns the first frame; null if none waits. */
  next(): Buffer | null {
    const first = this.waiting.shift();
    first?.share.release();
    return first?.frame ?? null;
  }

  /** Removes all frames, and returns how many there were. */
  clear(): number {
    const frames = this.waiting.splice(0);
    for (const { share } of frames) share.release();
    return frames.length;
  }

  private rejectExcess(): never {
    const source = this.principal.kind === "anonymous" ? "anonymous" : "key";
    return fail(
      "rate_limit_exceeded",
      `${MAX_WAITING} requests wait on this connection, which is its maximum. A connection answers one request after the other; open more for requests at the same time.`,
      {
        retryAfterS: 1,
        metadata: { limit_source: source, limit_kind: "waiting_frames", limit: MAX_WAITING },
      },
    );
  }
}
