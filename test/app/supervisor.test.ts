import { beforeEach, describe, expect, test } from "bun:test";
import type { ProcessStarted, ReloadAnswer, ReloadStep } from "../../src/app/processes/messages.ts";
import { type GatewayChild, Supervisor } from "../../src/app/processes/supervisor.ts";
import type { ProcessMetrics } from "../../src/app/watch/process-group.ts";
import { nextTurn } from "../../src/base/time/next-turn.ts";
import { createMemoryLog, type LogLine } from "../support/gateway/gateway.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

const STOP_MS = 40_000;
const KEYS = { managementKey: "gw_management", inferenceKey: "gw_inference" };

/** A process that does what the test says. */
class FakeChild implements GatewayChild {
  private readonly starting = Promise.withResolvers<ProcessStarted | null>();
  private readonly ending = Promise.withResolvers<string>();
  readonly started = this.starting.promise;
  readonly exited = this.ending.promise;
  readonly signals: string[] = [];
  /** Whether its keys were confirmed as shown. */
  isConfirmed = false;
  /** Its metrics; null if it does not answer. */
  metrics: ProcessMetrics | null = null;

  constructor(
    readonly index: number,
    /** Whether SIGTERM ends it. */
    private readonly obeys: boolean,
  ) {}

  async confirmShown(): Promise<void> {
    this.isConfirmed = true;
  }

  async readMetrics() {
    return this.metrics;
  }

  /** The steps of reloads that it was asked for, and its answers to them. */
  readonly steps: ReloadStep[] = [];
  answers: (ReloadAnswer | null)[] = [];

  async reload(step: ReloadStep): Promise<ReloadAnswer | null> {
    this.steps.push(step);
    const answer = this.answers.shift();
    return answer === undefined ? { kind: "done" } : answer;
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    this.signals.push(signal);
    if (signal === "SIGKILL" || this.obeys) this.end(signal);
  }

  listen(): void {
    const keys = this.index === 1 ? KEYS : null;
    this.starting.resolve({
      kind: "started",
      url: "http://127.0.0.1:1",
      notices: [],
      exampleModel: null,
      keys,
    });
  }

  end(how: string): void {
    this.ending.resolve(how);
    this.starting.resolve(null);
  }
}

let clock: TestClock;
let log: LogLine[];
let children: FakeChild[];
let shown: ProcessStarted[];
/** Whether SIGTERM ends the processes that start. */
let obey: boolean;

beforeEach(() => {
  clock = createTestClock();
  children = [];
  shown = [];
  obey = true;
});

function supervise(count: number): Supervisor {
  const memory = createMemoryLog();
  log = memory.lines;
  return new Supervisor({
    count,
    startChild(index) {
      const child = new FakeChild(index, obey);
      children.push(child);
      return child;
    },
    stopMs: STOP_MS,
    clock,
    log: memory.log,
  });
}

/** Lets promises that are resolved run their callbacks. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

/** Starts all processes of a supervisor. */
async function startAll(supervisor: Supervisor, count: number): Promise<void> {
  const starting = supervisor.start(async (started) => void shown.push(started));
  for (let at = 0; at < count; at++) {
    await settle();
    children[at]?.listen();
  }
  await starting;
}

const child = (at: number): FakeChild => children[at] as FakeChild;

describe("the first start of several processes", () => {
  test("starts the others after the keys of the first were shown and confirmed, and shows one greeting", async () => {
    const supervisor = supervise(3);
    const starting = supervisor.start(async (started) => {
      expect(child(0).isConfirmed).toBe(false);
      shown.push(started);
    });
    await settle();
    expect(children.map(({ index }) => index)).toEqual([1]);
    child(0).listen();
    await settle();
    expect(child(0).isConfirmed).toBe(true);
    expect(children.map(({ index }) => index)).toEqual([1, 2, 3]);
    child(1).listen();
    child(2).listen();
    await starting;
    expect(shown.map(({ keys }) => keys)).toEqual([KEYS]);
  });

  test("fails if a process ends before it listens, and stops those that run", async () => {
    const supervisor = supervise(2);
    const starting = supervisor.start(async () => {});
    await settle();
    child(0).listen();
    await settle();
    child(1).end("exit code 1");
    expect(starting).rejects.toThrow("process 2 of 2 has not started: exit code 1");
    await settle();
    expect(child(0).signals).toEqual(["SIGTERM"]);
    clock.advance(600_000);
    expect(children).toHaveLength(2);
  });
});

describe("a process that has ended", () => {
  test("is started again after a wait that doubles up to 30 seconds while it ends soon", async () => {
    await startAll(supervise(1), 1);
    const waits = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
    for (const [at, wait] of waits.entries()) {
      child(at).end("SIGSEGV");
      await settle();
      clock.advance(wait - 1);
      expect(children).toHaveLength(at + 1);
      clock.advance(1);
      expect(children).toHaveLength(at + 2);
    }
    expect(log.map(({ fields }) => fields["restart_ms"])).toEqual(waits);
    expect(log[0]).toMatchObject({ level: "error", fields: { process: 1, reason: "SIGSEGV" } });
  });

  test("is started again after the shortest wait if it ran for a minute", async () => {
    await startAll(supervise(1), 1);
    for (let at = 0; at < 3; at++) {
      clock.advance(60_000);
      child(at).end("SIGKILL");
      await settle();
      clock.advance(500);
      expect(children).toHaveLength(at + 2);
    }
  });

  test("is not started again while the supervisor stops", async () => {
    const supervisor = supervise(2);
    await startAll(supervisor, 2);
    child(1).end("SIGKILL");
    await settle();
    const stopped = supervisor.stop();
    expect(await stopped).toBe(0);
    clock.advance(600_000);
    expect(children).toHaveLength(2);
  });
});

describe("a supervisor that stops", () => {
  test("sends SIGTERM to each process once and waits for all of them", async () => {
    const supervisor = supervise(2);
    await startAll(supervisor, 2);
    expect(await supervisor.stop()).toBe(0);
    expect(children.map(({ signals }) => signals)).toEqual([["SIGTERM"], ["SIGTERM"]]);
  });

  test("kills processes that take longer than the drain time and its margin", async () => {
    obey = false;
    const supervisor = supervise(2);
    await startAll(supervisor, 2);
    const stopped = supervisor.stop();
    child(0).end("exit code 0");
    await settle();
    clock.advance(STOP_MS - 1);
    expect(child(1).signals).toEqual(["SIGTERM"]);
    clock.advance(1);
    expect(child(1).signals).toEqual(["SIGTERM", "SIGKILL"]);
    expect(await stopped).toBe(1);
  });
});

describe("a rolling restart", () => {
  test("replaces one process after the other, each when the one before listens", async () => {
    const supervisor = supervise(2);
    await startAll(supervisor, 2);
    const restarted = supervisor.restartAll();
    await settle();
    expect(children.map(({ index }) => index)).toEqual([1, 2, 1]);
    expect(child(1).signals).toEqual([]);
    child(2).listen();
    await settle();
    expect(children.map(({ index }) => index)).toEqual([1, 2, 1, 2]);
    child(3).listen();
    await restarted;
    clock.advance(600_000);
    expect(children).toHaveLength(4);
  });

  test("ends if the new process does not listen, which is restarted like any other", async () => {
    const supervisor = supervise(2);
    await startAll(supervisor, 2);
    const restarted = supervisor.restartAll();
    await settle();
    child(2).end("exit code 1");
    await restarted;
    await settle();
    expect(child(1).signals).toEqual([]);
    clock.advance(500);
    expect(children.map(({ index }) => index)).toEqual([1, 2, 1, 1]);
  });
});

describe("the metrics of several processes", () => {
  test("are read from all processes but the one that asks, without one that does not answer", async () => {
    const supervisor = supervise(3);
    await startAll(supervisor, 3);
    const second = [{ name: "a", head: "# TYPE a gauge\n", samples: 'a{process="2"} 1\n' }];
    child(1).metrics = second;
    expect(await supervisor.readMetricsOfOthers(1)).toEqual([second]);
    expect(await supervisor.readMetricsOfOthers(2)).toEqual([]);
  });
});

describe("a reload of the configuration of several processes", () => {
  const CHANGES = [
    { name: "log_level", before: "info", after: "warn", isSecret: false, needsRestart: false },
  ];
  const prepared = (digest: string): ReloadAnswer => ({ kind: "prepared", digest, changes: CHANGES });
  const stepsOf = () => children.map(({ steps }) => steps.map(({ step }) => step));

  async function startWith(...answers: readonly (ReloadAnswer | null)[]): Promise<Supervisor> {
    const supervisor = supervise(answers.length);
    await startAll(supervisor, answers.length);
    for (const [at, answer] of answers.entries()) child(at).answers = [answer];
    return supervisor;
  }

  test("is committed by all when all have read the same", async () => {
    const supervisor = await startWith(prepared("a"), prepared("a"));
    const outcome = await supervisor.reload({ dryRun: false }, true);
    expect(outcome).toEqual({ kind: "reloaded", reload: { changes: CHANGES, applied: true } });
    expect(stepsOf()).toEqual([
      ["prepare", "commit"],
      ["prepare", "commit"],
    ]);
    // One of them writes the audit log.
    expect(children.map(({ steps }) => (steps[1] as { isOnSignal: boolean }).isOnSignal)).toEqual([
      true,
      false,
    ]);
  });

  test.each<[string, ReloadAnswer | null, string]>([
    ["rejects it", { kind: "rejected", rejection: { message: "x is wrong" } }, "x is wrong"],
    ["has read another one", prepared("b"), "has changed while the processes read it"],
    ["ends", null, "has not read the configuration in time"],
  ])("is aborted by all if one of them %s", async (_name, answer, message) => {
    const supervisor = await startWith(prepared("a"), answer);
    const outcome = await supervisor.reload({ dryRun: false }, false);
    expect(outcome).toMatchObject({
      kind: "rejected",
      rejection: { message: expect.stringContaining(message) },
    });
    expect(stepsOf()).toEqual([
      ["prepare", "abort"],
      ["prepare", "abort"],
    ]);
  });

  test("with dry run is committed by none", async () => {
    const supervisor = await startWith(prepared("a"), prepared("a"));
    const outcome = await supervisor.reload({ dryRun: true }, false);
    expect(outcome).toEqual({ kind: "reloaded", reload: { changes: CHANGES, applied: false } });
    expect(stepsOf().flat()).not.toContain("commit");
  });

  test("is rejected while a process starts, and while another reload runs", async () => {
    const supervisor = await startWith(prepared("a"), prepared("a"));
    const first = supervisor.reload({ dryRun: false }, false);
    expect(await supervisor.reload({ dryRun: false }, false)).toMatchObject({ kind: "rejected" });
    await first;
    child(0).end("exit code 1");
    await settle();
    expect(await supervisor.reload({ dryRun: false }, false)).toMatchObject({ kind: "rejected" });
  });
});
