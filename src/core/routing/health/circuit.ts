import { OutcomeWindow } from "./outcome-window.ts";

/** `open`: no attempts. `half_open`: the next attempt is the probe. */
export type CircuitState = "closed" | "open" | "half_open";

/** The threshold at which a circuit opens. */
export interface CircuitThreshold {
  /** The minimum number of failures within the window, and their minimum share of its attempts. */
  readonly failures: number;
  readonly share: number;
  /** Consecutive failures that open the circuit in any case. */
  readonly consecutive: number;
}

const OPEN_MS = 5_000;
const MAX_OPEN_MS = 30_000;
/** The share of the open time that is jitter, derived from the name, so that circuits are not all probed at the same time. */
const JITTER = 0.25;
/** How long a probe without outcome blocks others. Milliseconds. */
const PROBE_MS = 15_000;
const SUCCESSES_TO_CLOSE = 2;
/** Failures further apart do not count as consecutive, and a circuit that was not probed for this time closes. Milliseconds. */
const FORGET_MS = 600_000;

/**
 * A circuit breaker for one provider or endpoint. Attempts are identified by when they began: outcomes of attempts that began
 * before the circuit opened are ignored.
 */
export class Circuit {
  readonly window = new OutcomeWindow();
  private isOpen = false;
  private openedAt = Number.NEGATIVE_INFINITY;
  private openUntil = 0;
  /** How often it opened since it was last closed. */
  private openings = 0;
  private probeBeganAt: number | null = null;
  private probeSuccesses = 0;
  /** The probe whose first token was recorded: its end does not count again. */
  private begunProbe: number | null = null;
  private consecutiveFailures = 0;
  private failedAt = 0;

  /** The jitter derives from `name`. */
  constructor(
    private readonly threshold: CircuitThreshold,
    private readonly name: string,
  ) {}

  state(now: number): CircuitState {
    if (!this.isOpen) return "closed";
    if (now < this.openUntil) return "open";
    if (this.probeBeganAt !== null && now - this.probeBeganAt < PROBE_MS) return "open";
    if (now - this.openUntil < FORGET_MS) return "half_open";
    this.close();
    return "closed";
  }

  /** Records that an attempt begins; it is the probe if the circuit is half open. */
  begin(now: number): void {
    if (this.isOpen && this.state(now) === "half_open") this.probeBeganAt = now;
  }

  /** Records the first token of an attempt: a success for a probe, but not yet for the window. */
  recordStart(beganAt: number): void {
    if (!this.isOpen || beganAt < this.openedAt) return;
    this.begunProbe = beganAt;
    this.countProbe();
  }

  recordSuccess(beganAt: number, now: number): void {
    if (beganAt < this.openedAt) return;
    this.window.add(true, now);
    this.consecutiveFailures = 0;
    if (this.begunProbe === beganAt) this.begunProbe = null;
    else if (this.isOpen) this.countProbe();
  }

  /** Records a failure. Returns false if it is ignored. */
  recordFailure(beganAt: number, now: number): boolean {
    if (beganAt < this.openedAt) return false;
    this.window.add(false, now);
    if (!this.isOpen) {
      this.consecutiveFailures = now - this.failedAt < FORGET_MS ? this.consecutiveFailures + 1 : 1;
      this.failedAt = now;
      if (this.isOverThreshold(now)) this.open(now);
      return true;
    }
    // A last resort failed while the circuit was open; that does not postpone the probe.
    if (now < this.openUntil) return false;
    this.open(now);
    return true;
  }

  /** Ends an attempt without an outcome that counts; another probe may begin. */
  release(beganAt: number): void {
    if (this.probeBeganAt === beganAt) this.probeBeganAt = null;
  }

  private isOverThreshold(now: number): boolean {
    const { threshold } = this;
    if (this.consecutiveFailures >= threshold.consecutive) return true;
    const failures = this.window.failures(now);
    const attempts = failures + this.window.successes(now);
    return failures >= threshold.failures && failures >= threshold.share * attempts;
  }

  private countProbe(): void {
    this.probeSuccesses += 1;
    if (this.probeSuccesses >= SUCCESSES_TO_CLOSE) this.close();
  }

  private open(now: number): void {
    const longest = Math.min(MAX_OPEN_MS, OPEN_MS * 2 ** this.openings);
    this.openings = Math.min(this.openings + 1, 10);
    this.isOpen = true;
    this.openedAt = now;
    this.openUntil = now + longest * (1 - JITTER * hashToUnit(this.name, this.openings));
    this.probeBeganAt = null;
    this.probeSuccesses = 0;
  }

  private close(): void {
    this.isOpen = false;
    this.openings = 0;
    this.probeBeganAt = null;
    this.consecutiveFailures = 0;
    this.window.clear();
  }
}

/** Returns the FNV-1a hash of a name and a number, scaled to 0 to 1. */
function hashToUnit(name: string, count: number): number {
  let hash = 0x811c9dc5 ^ count;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
