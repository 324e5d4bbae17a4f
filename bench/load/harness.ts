import { join } from "node:path";
import type { Subprocess } from "bun";
import { type CpuReading, cpuBetween, readCpu } from "../machine/proc.ts";
import { adopt, end, pinned } from "../machine/processes.ts";
import type {
  AnswerSetting,
  BodyKind,
  Door,
  LoadOrder,
  LoadReply,
  LoadResult,
  UpstreamCommand,
  UpstreamCount,
  UpstreamReply,
} from "./messages.ts";

/** How long after its answers a target is measured, because work such as writing records belongs to them. Milliseconds. */
const SETTLE_MS = 150;
/** Tolerated difference in a body's length, for the model's name and stream options. A larger one means a truncated body. */
const LEAST_BODY_SHARE = 0.97;
/** The same for another format, which has other field names and does not escape quotes where it takes objects. */
const LEAST_TRANSLATED_SHARE = 0.75;
const START_MS = 10_000;
const REPLY_MARGIN_MS = 10_000;

/** One kind of request to measure: what is sent and how it is answered. */
export interface Trial {
  readonly body: BodyKind;
  /** Content events; 0 for an answer that is not a stream. */
  readonly events: number;
  readonly intervalMs: number;
  readonly connections: number;
  readonly ratePerSecond: number;
  readonly maxRequests: number;
  readonly durationMs: number;
  /** Delay of the upstream before the first byte of an answer. Absent: none. */
  readonly latencyMs?: number;
  /** How long answers may take after the last request was sent. Absent: ten seconds, and longer for paced streams. */
  readonly graceMs?: number;
}

/** What is measured: where requests go and whose processor time counts. */
export interface Subject {
  readonly door: Door;
  /** The process to measure; `null` for none. */
  readonly pid: number | null;
  /** The database server that it uses; `null` without one. */
  readonly databasePid: number | null;
}

export interface Outcome extends LoadResult {
  /** Processor time of the target over the whole run; 0 for `direct`. */
  readonly cpuUs: number;
  /** Processor time of its database server; 0 without one. */
  readonly databaseCpuUs: number;
  /** The maximum of paced streams that the upstream was sending at the same time. */
  readonly peakStreams: number;
  /** What reached the upstream. */
  readonly arrived: UpstreamCount;
}

/** A target gave a wrong answer, so that its figures would be meaningless. */
export class WrongAnswers extends Error {}

/** The upstream and the load generator, each in its own process. */
export class Harness {
  #trials = 0;

  private constructor(
    readonly upstreamPort: number,
    private readonly upstream: Peer<UpstreamCommand, UpstreamReply>,
    private readonly load: Peer<LoadOrder, LoadReply>,
  ) {}

  static async start(): Promise<Harness> {
    const upstream = new Peer<UpstreamCommand, UpstreamReply>("upstream.ts");
    const load = new Peer<LoadOrder, LoadReply>("load.ts");
    const [listening] = await Promise.all([upstream.receive(START_MS), load.receive(START_MS)]);
    if (listening.kind !== "listening") throw new Error("the upstream did not start");
    return new Harness(listening.port, upstream, load);
  }

  /** Runs a trial against a target. Rejects with `WrongAnswers` unless every answer was right. */
  async run(target: Subject, trial: Trial): Promise<Outcome> {
    const outcome = await this.observe(target, trial);
    refuseWrong(outcome, target.door);
    return outcome;
  }

  /** Runs a trial against a target and returns the outcome, whether its answers were right or wrong. */
  async observe(target: Subject, trial: Trial): Promise<Outcome> {
    const marker = `mark${(++this.#trials).toString().padStart(6, "0")}`;
    const { events, intervalMs, latencyMs = 0 } = trial;
    await this.#set({ events, intervalMs, stream: events > 0, latencyMs, marker });
    const before = readCpuOf(target.pid);
    const databaseBefore = readCpuOf(target.databasePid);
    const result = await this.#load(orderOf(target, trial, marker));
    if (target.pid !== null) await Bun.sleep(SETTLE_MS);
    const cpuUs = cpuBetween(before, readCpuOf(target.pid));
    const databaseCpuUs = cpuBetween(databaseBefore, readCpuOf(target.databasePid));
    const arrived = await this.#count();
    return { ...result, cpuUs, databaseCpuUs, arrived, peakStreams: arrived.peakStreams };
  }

  async stop(): Promise<void> {
    await Promise.all([this.upstream.stop(), this.load.stop()]);
  }

  async #set(setting: AnswerSetting): Promise<void> {
    await this.upstream.ask({ kind: "set", setting }, START_MS);
  }

  async #count(): Promise<UpstreamCount> {
    const reply = await this.upstream.ask({ kind: "count" }, START_MS);
    if (reply.kind !== "count") throw new Error("the upstream lost count");
    return reply.count;
  }

  async #load(order: LoadOrder): Promise<LoadResult> {
    const reply = await this.load.ask(order, order.durationMs + order.graceMs + REPLY_MARGIN_MS);
    if (reply.kind === "done") return reply.result;
    throw new WrongAnswers(reply.kind === "failed" ? reply.message : "the load generator is confused");
  }
}

function orderOf(target: Subject, trial: Trial, marker: string): LoadOrder {
  const streamMs = trial.events * trial.intervalMs;
  const graceMs = trial.graceMs ?? 10_000 + 2 * streamMs;
  return { ...trial, door: target.door, stream: trial.events > 0, marker, graceMs };
}

function refuseWrong(result: Outcome, { api, vendor }: Door): void {
  const { arrived } = result;
  const wrong = Object.entries(result.wrong).map(([fault, times]) => `${times} × ${fault}`);
  if (wrong.length > 0) throw new WrongAnswers(wrong.join("; "));
  if (result.requests === 0) throw new WrongAnswers("no request was answered");
  if (arrived.requests < result.requests) throw new WrongAnswers("answers that the upstream did not give");
  const leastShare = api === vendor ? LEAST_BODY_SHARE : LEAST_TRANSLATED_SHARE;
  if (arrived.bodyBytes < leastShare * arrived.requests * result.requestBytes) {
    throw new WrongAnswers("requests reached the upstream cut");
  }
}

const NO_CPU: CpuReading = { byThread: new Map(), coarseNs: 0 };

function readCpuOf(pid: number | null): CpuReading {
  return pid === null ? NO_CPU : readCpu(pid);
}

/** A helper process that is asked one question at a time. */
class Peer<Question, Reply> {
  readonly #process: Subprocess;
  readonly #received: Reply[] = [];
  #expecting: ((reply: Reply) => void) | null = null;

  constructor(private readonly file: string) {
    const command = pinned("harness", [process.execPath, join(import.meta.dir, file)]);
    const ipc = (message: Reply) => this.#take(message);
    this.#process = adopt(
      Bun.spawn(command, { ipc, serialization: "json", stdio: ["ignore", "inherit", "inherit"] }),
    );
  }

  ask(question: Question, withinMs: number): Promise<Reply> {
    this.#process.send(question);
    return this.receive(withinMs);
  }

  async receive(withinMs: number): Promise<Reply> {
    const earlier = this.#received.shift();
    if (earlier !== undefined) return earlier;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const timer = setTimeout(() => reject(new Error(`${this.file} does not reply`)), withinMs);
    this.#expecting = resolve;
    this.#process.exited.then((code) => reject(new Error(`${this.file} ended with code ${code}`)));
    return promise.finally(() => clearTimeout(timer));
  }

  stop(): Promise<void> {
    return end(this.#process);
  }

  #take(reply: Reply): void {
    const expecting = this.#expecting;
    this.#expecting = null;
    if (expecting === null) this.#received.push(reply);
    else expecting(reply);
  }
}
