import { afterAll, describe, expect, test } from "bun:test";
import type { ThreadEvents } from "../../src/base/threads/thread-client.ts";
import type { CountingAnswer, CountingJob } from "../../src/tokenizer/counting-thread.ts";
import { readText } from "../../src/tokenizer/read-text.ts";
import { createTokenCounter } from "../../src/tokenizer/token-counter.ts";
import { listTextSamples } from "../support/clients/text-samples.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";

const json = (text: string) => Buffer.from(JSON.stringify(text));

describe("the counting thread", () => {
  // The clock stands still, so that counts do not time out on a slow machine.
  const counter = createTokenCounter(createTestClock());
  afterAll(() => counter.close());

  test.each([
    ["", 0],
    ["hello world", 2],
    ['Grüße\n"quoted"\t', 8],
    ["<|endoftext|>", 7],
    ["ab".repeat(3_000), 1_500],
  ])("counts %j", async (text, tokens) => {
    const [count] = (await counter.count([json(text)])) as readonly number[];
    // Counting in pieces may split a token.
    expect(Math.abs((count as number) - tokens)).toBeLessThanOrEqual(1 + tokens / 100);
  });

  test("counts each text separately", async () => {
    expect(await counter.count([json("hello world"), json(""), json("hello")])).toEqual([2, 0, 1]);
  });

  test("does not block the event loop while ten large texts are counted", async () => {
    const code = Object.fromEntries(listTextSamples())["typescript"] as string;
    const texts = Array.from({ length: 10 }, () => json(code));
    await counter.count([json("warm")]);
    let isCounting = true;
    const counting = Promise.all(texts.map((text) => counter.count([text]))).finally(() => {
      isCounting = false;
    });
    // If this thread counted, the loop would turn about once for each text.
    const enoughTurns = 10 * texts.length;
    let turns = 0;
    for (; isCounting && turns < enoughTurns; turns++) await turnEventLoop(1);
    expect(turns).toBe(enoughTurns);
    const counts = await counting;
    expect(new Set(counts.map((count) => count?.[0])).size).toBe(1);
  });
});

describe("a JSON string", () => {
  test.each([
    ['"plain"', "plain"],
    ['"a\\nb"', "a\nb"],
    ["cut\\nin the midst\\u00", "cut\nin the midst"],
    ['"said \\"', "said "],
    ["half \\", "half "],
    ['n "no escape', 'n "no escape'],
  ])("%s is decoded, even if it is incomplete", (raw, text) => {
    expect(readText(Buffer.from(raw))).toBe(text);
  });
});

/** Creates a counter whose threads are controlled by the test. */
function createFakeThreads() {
  const started: { events: ThreadEvents<CountingAnswer>; jobs: CountingJob[]; isStopped: boolean }[] = [];
  const clock = createTestClock();
  const counter = createTokenCounter(clock, (events) => {
    const thread = { events, jobs: [] as CountingJob[], isStopped: false };
    started.push(thread);
    return {
      send: (job) => void thread.jobs.push(job),
      stop: () => {
        thread.isStopped = true;
      },
    };
  });
  return { clock, counter, started };
}

const TEXT = [json("hello")];

describe("a counting thread that", () => {
  test("is not needed is not started", async () => {
    const { counter, started } = createFakeThreads();
    await turnEventLoop();
    expect(started).toHaveLength(0);
    counter.close();
  });

  test("hangs delays its callers by two seconds and is replaced", async () => {
    const { clock, counter, started } = createFakeThreads();
    const counts = [counter.count(TEXT), counter.count(TEXT)];
    clock.advance(2_000);
    expect(await Promise.all(counts)).toEqual([null, null]);
    clock.advance(30_000);
    expect(started[0]?.isStopped).toBe(true);
    clock.advance(10_000);
    const later = counter.count(TEXT);
    started[1]?.events.onAnswer({ counts: [1] });
    expect(await later).toEqual([1]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("fails gives no count, and is replaced after a pause", async () => {
    const { clock, counter, started } = createFakeThreads();
    const counts = [counter.count(TEXT), counter.count(TEXT)];
    started[0]?.events.onBroken();
    expect(await Promise.all(counts)).toEqual([null, null]);
    expect(await counter.count(TEXT)).toBeNull();
    expect(started).toHaveLength(1);
    clock.advance(10_000);
    const later = counter.count(TEXT);
    started[1]?.events.onAnswer({ counts: [1] });
    expect(await later).toEqual([1]);
  });

  test("answers late does not answer the next job with it", async () => {
    const { clock, counter, started } = createFakeThreads();
    const first = counter.count(TEXT);
    clock.advance(2_000);
    const second = counter.count(TEXT);
    started[0]?.events.onAnswer({ counts: [7] });
    started[0]?.events.onAnswer({ counts: [8] });
    expect([await first, await second]).toEqual([null, [8]]);
  });

  test("is busy gets one job at a time, and a bounded number waits", async () => {
    const { counter, started } = createFakeThreads();
    const counts = Array.from({ length: 70 }, () => counter.count(TEXT));
    expect(started[0]?.jobs).toHaveLength(1);
    counter.close();
    expect(await Promise.all(counts)).toEqual(Array(70).fill(null));
    expect(await counter.count(TEXT)).toBeNull();
    expect(started).toHaveLength(1);
  });

  test("cannot be started gives no count", async () => {
    const counter = createTokenCounter(createTestClock(), () => {
      throw new Error("no threads here");
    });
    expect(await counter.count(TEXT)).toBeNull();
  });
});
