import { createTurns } from "../collections/turns.ts";
import type { Clock, Timer } from "../time/clock.ts";

/** A thread that does one job after another. */
export interface JobThread<Job> {
  /** Memory that is transferred with the job cannot be used here afterwards. */
  send(job: Job): void;
  stop(): void;
}

/** Callbacks of a thread. */
export interface ThreadEvents<Answer> {
  readonly onAnswer: (answer: Answer) => void;
  /** Called when the thread has failed. */
  readonly onBroken: () => void;
}

/** Starts a thread, or throws. */
export type StartThread<Job, Answer> = (events: ThreadEvents<Answer>) => JobThread<Job>;

/** The bounds of a thread client. */
interface ThreadLimits {
  /** How long a caller waits for its answer, queueing included. Milliseconds. */
  readonly waitMs: number;
  /** Silence after which the thread is replaced. Milliseconds. */
  readonly stuckMs: number;
  /** Pause before another thread is started after a failure. Milliseconds. */
  readonly pauseMs: number;
  /** The maximum number of waiting jobs. */
  readonly maxWaiting: number;
}

/** Why a job has no answer: too many jobs wait or it took too long, or the thread has failed or was stopped. */
export type ThreadFailure = "busy" | "broken";

/** The outcome of a job. */
type ThreadResult<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: ThreadFailure };

interface WaitingJob<Job, Answer> {
  /** Null once the caller has its result, so that the job's memory is released. */
  makeJob: (() => Job | null) | null;
  readonly resolve: (result: ThreadResult<Answer>) => void;
  readonly patience: Timer;
}

interface RunningJob<Job, Answer> {
  readonly job: WaitingJob<Job, Answer>;
  readonly watchdog: Timer;
}

/** Runs jobs in a thread that starts with the first job and is replaced if it fails or hangs. */
export class ThreadClient<Job, Answer> {
  private readonly queue = createTurns<WaitingJob<Job, Answer>>();
  /** Jobs in the queue whose callers still wait. */
  private waiting = 0;
  private running: RunningJob<Job, Answer> | null = null;
  private thread: JobThread<Job> | null = null;
  private pausedUntil = 0;
  private isClosed = false;

  constructor(
    private readonly clock: Clock,
    private readonly limits: ThreadLimits,
    private readonly startThread: StartThread<Job, Answer>,
  ) {}

  /**
   * Runs a job when its turn comes; holders take turns. `makeJob` is called at that time and returns null if the job is no
   * longer wanted; its result is then `broken`.
   */
  run(holder: string, makeJob: () => Job | null): Promise<ThreadResult<Answer>> {
    if (this.isClosed) return Promise.resolve({ kind: "broken" });
    if (this.waiting >= this.limits.maxWaiting) return Promise.resolve({ kind: "busy" });
    return new Promise((resolve) => {
      const job: WaitingJob<Job, Answer> = {
        makeJob,
        resolve,
        patience: this.clock.after(this.limits.waitMs, () => this.giveUp(job)),
      };
      this.queue.add(holder, job);
      this.waiting++;
      this.startNext();
    });
  }

  /** Stops the thread and ends all jobs. */
  close(): void {
    this.isClosed = true;
    for (let job = this.queue.next(); job !== null; job = this.queue.next())
      if (job.makeJob !== null) this.finish(job, { kind: "broken" });
    this.waiting = 0;
    if (this.thread !== null) this.breakOff();
  }

  private giveUp(job: WaitingJob<Job, Answer>): void {
    if (this.running?.job !== job) this.waiting--;
    this.finish(job, { kind: "busy" });
  }

  private finish(job: WaitingJob<Job, Answer>, result: ThreadResult<Answer>): void {
    job.makeJob = null;
    job.patience.cancel();
    job.resolve(result);
  }

  private startNext(): void {
    while (this.running === null) {
      const next = this.queue.next();
      if (next === null) return;
      if (next.makeJob === null) continue;
      this.waiting--;
      this.thread ??= this.start();
      const job = this.thread === null ? null : next.makeJob();
      if (this.thread === null || job === null) {
        this.finish(next, { kind: "broken" });
        continue;
      }
      this.running = { job: next, watchdog: this.clock.after(this.limits.stuckMs, () => this.breakOff()) };
      this.thread.send(job);
    }
  }

  /** Returns null if the thread cannot be started, or during the pause after a failure. */
  private start(): JobThread<Job> | null {
    if (this.clock.now() < this.pausedUntil) return null;
    let started: JobThread<Job> | null = null;
    const isCurrent = () => this.thread === started;
    try {
      started = this.startThread({
        onAnswer: (answer) => isCurrent() && this.endRunning({ kind: "answer", answer }),
        onBroken: () => isCurrent() && this.breakOff(),
      });
    } catch {
      this.pausedUntil = this.clock.now() + this.limits.pauseMs;
    }
    return started;
  }

  private endRunning(result: ThreadResult<Answer>): void {
    const ended = this.running;
    this.running = null;
    ended?.watchdog.cancel();
    if (ended !== null) this.finish(ended.job, result);
    this.startNext();
  }

  private breakOff(): void {
    const broken = this.thread;
    this.thread = null;
    this.pausedUntil = Math.max(this.pausedUntil, this.clock.now() + this.limits.pauseMs);
    broken?.stop();
    this.endRunning({ kind: "broken" });
  }
}
