import type { Clock, Timer } from "../../base/time/clock.ts";
import { type GatewayIdentity, GatewayReplacedError } from "./gateway-identity.ts";
import { type GatewayRegistry, type LiveGateways, RENEWAL_MS } from "./gateway-registry.ts";

/** How often a gateway that others may not have counted yet renews. Milliseconds. */
const UNCOUNTED_MS = 500;

/** The dependencies of a membership. */
interface MembershipParts {
  readonly registry: Pick<GatewayRegistry, "renew">;
  readonly identity: GatewayIdentity;
  readonly clock: Pick<Clock, "every" | "after">;
  /** Called once, when the store has rejected the epoch of this gateway: the process must end. */
  readonly onReplaced: (error: GatewayReplacedError) => void;
}

/** The membership of a running gateway in the gateways that share its store: renews its row until it is stopped. */
export class Membership {
  readonly identity: GatewayIdentity;
  private live: LiveGateways | null = null;
  private isRenewing = false;
  private isReplaced = false;
  private isStopped = false;
  private readonly timer: Timer;
  private soon: Timer | null = null;

  constructor(private readonly parts: MembershipParts) {
    this.identity = parts.identity;
    this.timer = parts.clock.every(RENEWAL_MS, () => void this.renew());
  }

  /**
   * Returns the live gateways as of the last renewal that succeeded; null while others may not have counted this one. While the store
   * is unavailable the gateways keep their shares.
   */
  liveGateways(): LiveGateways | null {
    return this.live;
  }

  /** Renews the registration once; no-op while a renewal runs. Never rejects: the next renewal repeats a failed one. */
  async renew(): Promise<void> {
    if (this.isRenewing || this.isStopped) return;
    this.isRenewing = true;
    try {
      this.live = await this.parts.registry.renew(this.identity);
      if (this.live === null) this.renewSoon();
    } catch (error) {
      this.noticeFailure(error);
    } finally {
      this.isRenewing = false;
    }
  }

  /** Ends the membership if a failure of the store says that this gateway was replaced. */
  noticeFailure(error: unknown): void {
    if (!(error instanceof GatewayReplacedError) || this.isReplaced) return;
    this.isReplaced = true;
    this.stop();
    this.parts.onReplaced(error);
  }

  /** Ends the renewals. */
  stop(): void {
    this.isStopped = true;
    this.timer.cancel();
    this.soon?.cancel();
  }

  private renewSoon(): void {
    if (!this.isStopped) this.soon = this.parts.clock.after(UNCOUNTED_MS, () => void this.renew());
  }
}
