import { setDiskFullOf } from "../support/databases/full-disk.ts";
import { type GatewayProcess, makeSite, type Site } from "../support/gateway/gateway-process.ts";

/** A store that is away keeps a gateway from starting. Milliseconds. */
const START_MS = 120_000;
const RESTART_MS = 200;
/** How much of a process's output explains its end. Characters. */
const SHOWN = 600;

/** One gateway of a cluster: a data directory that stays, and the process that runs on it now. */
export class GatewayNode {
  /** What went wrong: processes that ended without being told to, and clean stops that were not clean. */
  readonly faults: string[] = [];
  private readonly site: Site;
  private readonly processes: GatewayProcess[] = [];
  private process: GatewayProcess | null = null;

  /** `command` starts the next process of it. */
  constructor(
    readonly name: string,
    yaml: string,
    command: () => readonly string[],
  ) {
    this.site = makeSite(yaml, command);
  }

  get isRunning(): boolean {
    return this.process !== null;
  }

  /** Where it listens; `null` while no process runs. */
  get url(): string | null {
    return this.process?.url ?? null;
  }

  get port(): number | null {
    return this.url === null ? null : Number(new URL(this.url).port);
  }

  /** What all processes have printed. */
  get log(): string {
    return this.processes.map((process) => process.printed()).join("\n");
  }

  /** Starts a process, again and again until one listens, as a supervisor does. Rejects after two minutes. */
  async start(): Promise<void> {
    const until = Date.now() + START_MS;
    for (;;) {
      try {
        this.watch(await this.site.start(""));
        return;
      } catch (error) {
        if (Date.now() > until) throw new Error(`${this.name}: ${error}`);
        await Bun.sleep(RESTART_MS);
      }
    }
  }

  /** Starts a process and kills it at any point of its start. */
  startAndKill(afterMs: number): Promise<void> {
    return this.site.startAndKill(afterMs);
  }

  /** Kills the process, as a machine that loses power. */
  async kill(): Promise<void> {
    await this.take()?.kill();
  }

  /**
   * Stops the process cleanly. Returns what is wrong with its end: an exit code other than 0. Its journal may have records if the
   * store is away at the time.
   */
  async stop(): Promise<string[]> {
    const process = this.take();
    if (process === null) return [`${this.name} did not run`];
    const exitCode = await process.terminate();
    return exitCode === 0 ? [] : [`${this.name} exited with ${exitCode}: ${lastLines(process)}`];
  }

  /** Stops the process cleanly while its stores are there. Returns what is wrong with its end; records in its journal are. */
  async stopAtRest(): Promise<string[]> {
    const faults = await this.stop();
    return [...faults, ...this.site.journalFiles()];
  }

  /** Stops the process from running until `resume`, as a machine that hangs. */
  suspend(): void {
    this.process?.suspend();
  }

  resume(): void {
    this.process?.resume();
  }

  /** Lets no file of the process grow, as on a full disk, until `freeDisk`. */
  fillDisk(): void {
    if (this.process !== null) setDiskFullOf(this.process.pid, true);
  }

  freeDisk(): void {
    if (this.process !== null) setDiskFullOf(this.process.pid, false);
  }

  remove(): void {
    this.site.remove();
  }

  /** A process that ends by itself is started again. */
  private watch(process: GatewayProcess): void {
    this.process = process;
    this.processes.push(process);
    process.exited.then(async (exitCode) => {
      if (this.process !== process) return;
      this.process = null;
      this.faults.push(`${this.name} exited with ${exitCode}: ${lastLines(process)}`);
      await this.start();
    });
  }

  /** The process, which from now on may end. */
  private take(): GatewayProcess | null {
    const { process } = this;
    this.process = null;
    return process;
  }
}

function lastLines(process: GatewayProcess): string {
  return process.printed().slice(-SHOWN).trim();
}
