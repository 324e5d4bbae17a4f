import type { Log } from "../../base/failures/log.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import type { ReloadOptions } from "../../core/settings/config-reload.ts";
import type { ProcessMetrics } from "../watch/process-group.ts";
import type { ProcessStarted, ReloadAnswer, ReloadOutcome, ReloadStep } from "./messages.ts";
import { reloadProcesses } from "./reload-processes.ts";

/** A gateway process of the supervisor. */
export interface GatewayChild {
  /** Resolves when it listens; with null if it ends before. */
  readonly started: Promise<ProcessStarted | null>;
  /** Resolves with a description of its exit, such as `exit code 1`. */
  readonly exited: Promise<string>;
  /** Tells the process that the keys of its report were shown. Resolves when it has recorded that, or has ended. */
  confirmShown(): Promise<void>;
  /** Resolves with its metrics; with null if it does not answer in time. */
  readMetrics(): Promise<ProcessMetrics | null>;
  /** Asks the process for a step of a reload. Resolves to null if it ends before it answers. */
  reload(step: ReloadStep): Promise<ReloadAnswer | null>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

/** The dependencies of a supervisor. */
interface SupervisorDeps {
  /** How many processes to run. */
  readonly count: number;
  /** Starts process 1 … `count`. */
  readonly startChild: (index: number) => GatewayChild;
  /** How long a process may take to stop before it is killed. Milliseconds. */
  readonly stopMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The wait before the first restart of a process, which doubles with each restart that fails. Milliseconds. */
const FIRST_RESTART_MS = 500;
const MAX_RESTART_MS = 30_000;
/** A process that has run for this long counts as started. Milliseconds. */
const STABLE_MS = 60_000;

/** Process `index` and its restarts. */
interface Slot {
  readonly index: number;
  child: GatewayChild | null;
  /** Whether the process has reported that it listens. */
  isListening: boolean;
  /** Consecutive starts after which the process ended soon. */
  failures: number;
  restart: Timer | null;
  /** Set while a rolling restart ends the process. */
  isReplaced: boolean;
}

const REJECTED: ReloadOutcome = {
  kind: "rejected",
  rejection: {
    message: "A process is starting or stopping, or another reload runs. Reload again in a moment.",
  },
};

/** Runs several gateway processes on one port: starts them, restarts what ends, and stops them together. */
export class Supervisor {
  private readonly slots: readonly Slot[];
  private isStopping = false;
  private isRestarting = false;
  private isReloading = false;

  constructor(private readonly deps: SupervisorDeps) {
    this.slots = Array.from({ length: deps.count }, (_, at) => ({
      index: at + 1,
      child: null,
      isListening: false,
      failures: 0,
      restart: null,
      isReplaced: false,
    }));
  }

  /**
   * Starts the processes. The first starts alone, because it may create keys: `show` shows them before the others start.
   * @throws Error if a process ends before it listens. The others are stopped then.
   */
  async start(show: (first: ProcessStarted) => Promise<void>): Promise<void> {
    const [first, ...others] = this.slots as [Slot, ...Slot[]];
    try {
      await show(await this.launchFirst(first));
      await first.child?.confirmShown();
      await Promise.all(others.map((slot) => this.launchFirst(slot)));
    } catch (error) {
      await this.stop();
      throw error;
    }
    for (const slot of this.slots) this.watch(slot);
  }

  /** Stops all processes, and kills those that take too long. Resolves to the number of killed processes. */
  async stop(): Promise<number> {
    this.isStopping = true;
    const { clock, log, stopMs } = this.deps;
    const running = new Set(this.slots.flatMap(({ child }) => child ?? []));
    const exits = [...running].map((child) => child.exited.then(() => running.delete(child)));
    for (const slot of this.slots) slot.restart?.cancel();
    // A second signal would end a process immediately, and a process that is being replaced has already had its signal.
    for (const { child, isReplaced } of this.slots) if (!isReplaced) child?.kill("SIGTERM");
    let killed = 0;
    const deadline = clock.after(stopMs, () => {
      killed = running.size;
      log.error("processes that have not stopped in time are killed", { processes: killed });
      this.kill();
    });
    await Promise.all(exits);
    deadline.cancel();
    return killed;
  }

  /** Returns the metrics of all processes but one. A process that does not answer in time is left out. */
  async readMetricsOfOthers(index: number): Promise<readonly ProcessMetrics[]> {
    const others = this.slots.filter((slot) => slot.index !== index).flatMap(({ child }) => child ?? []);
    const answers = await Promise.all(others.map((child) => child.readMetrics()));
    return answers.filter((metrics) => metrics !== null);
  }

  /** Kills all processes. */
  kill(): void {
    this.isStopping = true;
    for (const { child } of this.slots) child?.kill("SIGKILL");
  }

  /** Restarts the processes one after another. Each stops and listens again before the next one stops. */
  async restartAll(): Promise<void> {
    if (this.isRestarting || this.isStopping) return;
    this.isRestarting = true;
    for (const slot of this.slots) if (!(await this.replace(slot))) break;
    this.isRestarting = false;
  }

  /**
   * Reloads the configuration of all processes, or of none. Rejects while a process starts, because that process may have read the previous
   * configuration.
   */
  async reload({ dryRun }: ReloadOptions, isOnSignal: boolean): Promise<ReloadOutcome> {
    const { clock } = this.deps;
    const listening = this.slots.flatMap(({ child, index, isListening }) =>
      child !== null && isListening ? [{ index, ask: (step: ReloadStep) => child.reload(step) }] : [],
    );
    const isBusy = this.isReloading || this.isRestarting || this.isStopping;
    if (isBusy || listening.length < this.slots.length) return REJECTED;
    this.isReloading = true;
    try {
      return await reloadProcesses({ processes: listening, dryRun, isOnSignal, clock });
    } finally {
      this.isReloading = false;
    }
  }

  /** Returns whether the new process listens. If it does not, the rolling restart ends, and the process is restarted like any other. */
  private async replace(slot: Slot): Promise<boolean> {
    const { child, index } = slot;
    if (this.isStopping) return false;
    if (child === null) return true;
    slot.isReplaced = true;
    const { clock, log, stopMs } = this.deps;
    log.info("restarting a process", { process: index });
    child.kill("SIGTERM");
    const deadline = clock.after(stopMs, () => child.kill("SIGKILL"));
    await child.exited;
    deadline.cancel();
    slot.isReplaced = false;
    if (this.isStopping) return false;
    const next = this.launch(slot);
    this.watch(slot);
    return (await next.started) !== null;
  }

  private async launchFirst(slot: Slot): Promise<ProcessStarted> {
    const child = this.launch(slot);
    const started = await child.started;
    if (started !== null) return started;
    const how = await child.exited;
    slot.child = null;
    throw new Error(`process ${slot.index} of ${this.deps.count} has not started: ${how}`);
  }

  private launch(slot: Slot): GatewayChild {
    slot.restart = null;
    const child = this.deps.startChild(slot.index);
    slot.child = child;
    slot.isListening = false;
    void child.started.then((started) => {
      if (slot.child === child) slot.isListening = started !== null;
    });
    return child;
  }

  /** Restarts the process of a slot when it ends. */
  private watch(slot: Slot): void {
    const { child } = slot;
    if (child === null) return;
    const { clock, log } = this.deps;
    const since = clock.now();
    void child.exited.then((how) => {
      slot.child = null;
      if (this.isStopping || slot.isReplaced) return;
      if (clock.now() - since >= STABLE_MS) slot.failures = 0;
      const restartMs = Math.min(MAX_RESTART_MS, FIRST_RESTART_MS * 2 ** slot.failures);
      slot.failures += 1;
      log.error("a process has ended; it is started again", {
        process: slot.index,
        reason: how,
        restart_ms: restartMs,
      });
      slot.restart = clock.after(restartMs, () => {
        this.launch(slot);
        this.watch(slot);
      });
    });
  }
}
