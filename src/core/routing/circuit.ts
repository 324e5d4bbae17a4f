import { OutcomeWindow } from "./outcome-window.ts";

/** `open`: not to be asked. `half_open`: the next attempt is the probe. */
export type CircuitState = "closed" | "open" | "half_open";

/** What it takes to open a circuit. */
export interface CircuitThreshold {
  /** Failures within the window, and their share of all attempts there. */
  readonly failures: number;
  readonly share: number;
  /** Or so many failures with no success between them. */
  readonly inARow: number;
}

const OPEN_MS = 5_000;
const MAX_OPEN_MS = 30_000;
/** Part of the time a circuit is open that its name decides, so that not all are probed at once. */
const JITTER = 0.25;
/** A probe of which nothing was heard for so long does not keep others away. Milliseconds. */
const PROBE_MS = 15_000;
const SUCCESSES_TO_CLOSE = 2;
/** A failure this long ago is not in a row with the next, and a circuit that nobody tried for so long is forgotten. */
const FORGET_MS = 600_000;

/**
 * Whether one place is fit to be asked, by how recent attempts there went. Attempts are told apart by when they began:
 * those from before the circuit opened say nothing any more, however late they end.
 */
export class Circuit {
  readonly window = new OutcomeWindow();
  private isOpen = false;
  private openedAt = Number.NEGATIVE_INFINITY;
  private openUntil = 0;
  /** Times it was opened without having closed. */
  private openings = 0;
  private probeBeganAt: number | null = null;
  private probeSuccesses = 0;
  /** A probe whose first token was told: its end is not another. */
  private begunProbe: number | null = null;
  private failuresInARow = 0;
  private failedAt = 0;

  /** `name` decides the jitter. */
  constructor(
    private readonly bar: CircuitThreshold,
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

  /** An attempt begins: the probe, where one is due. */
  begin(now: number): void {
    if (this.isOpen && this.state(now) === "half_open") this.probeBeganAt = now;
  }

  /** Its first token has come: enough for a probe, not yet a success. */
  recordStart(beganAt: number): void {
    if (!this.isOpen || beganAt < this.openedAt) return;
    this.begunProbe = beganAt;
    this.countProbe();
  }

  recordSuccess(beganAt: number, now: number): void {
    if (beganAt < this.openedAt) return;
    this.window.add(true, now);
    this.failuresInARow = 0;
    if (this.begunProbe === beganAt) this.begunProbe = null;
    else if (this.isOpen) this.countProbe();
  }

  /** False where it says nothing new. */
  recordFailure(beganAt: number, now: number): boolean {
    if (beganAt < this.openedAt) return false;
    this.window.add(false, now);
    if (!this.isOpen) {
      this.failuresInARow = now - this.failedAt < FORGET_MS ? this.failuresInARow + 1 : 1;
      this.failedAt = now;
      if (this.isOverBar()) this.open(now);
      return true;
    }
    // Somebody had nobody else to ask; that does not put the probe off.
    if (now < this.openUntil) return false;
    this.open(now);
    return true;
  }

  /** It says nothing of the place; another probe may begin. */
  release(beganAt: number): void {
    if (this.probeBeganAt === beganAt) this.probeBeganAt = null;
  }

  private isOverBar(): boolean {
    const { successes, failures } = this.window;
    const { bar } = this;
    if (this.failuresInARow >= bar.inARow) return true;
    return failures >= bar.failures && failures >= bar.share * (successes + failures);
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
    this.failuresInARow = 0;
    this.window.clear();
  }
}

/** FNV-1a of a name and a number, between 0 and 1. */
function hashToUnit(name: string, count: number): number {
  let hash = 0x811c9dc5 ^ count;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
