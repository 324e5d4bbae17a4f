import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createUnreadAnswers } from "../../src/core/generation/memory/unread-answers.ts";
import { ClientWriter, WHOLE_ANSWER } from "../../src/core/generation/relay/answer-writer.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";

const SILENCE_MS = 60_000;
/** Writes are split at this size. Bytes. */
const PART_BYTES = 128 * 1024;

/** A connection that is full after each write for which `fills` says so, until the test lets its client read. */
class TestSink {
  received: number[] = [];
  closed: string | null = null;
  private full: PromiseWithResolvers<void> | null = null;

  constructor(private readonly fills: () => boolean) {}

  write(piece: Uint8Array): unknown {
    if (this.full !== null) throw new Error("written to although it is full");
    this.received.push(...piece);
    if (!this.fills()) return piece.length;
    this.full = Promise.withResolvers();
    return this.full.promise;
  }

  flush(): void {}

  close(error?: Error): void {
    this.closed ??= error === undefined ? "ended" : "reset";
  }

  /** Lets the client read what is in the connection. */
  async read(): Promise<void> {
    const { full } = this;
    this.full = null;
    full?.resolve();
    await turnEventLoop(1);
  }

  get isFull(): boolean {
    return this.full !== null;
  }
}

function open(fills: () => boolean) {
  const clock = createTestClock();
  const sink = new TestSink(fills);
  const writer = new ClientWriter(sink, createUnreadAnswers(clock, SILENCE_MS, 1_000_000_000), WHOLE_ANSWER);
  return { clock, sink, writer };
}

describe("an answer that is written faster than its client reads", () => {
  test("arrives in the order in which it was written, whenever the connection is full, and then ends", async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ act: fc.constant("write" as const), bytes: fc.constantFrom(1, 3, 100, PART_BYTES + 5) }),
        fc.record({ act: fc.constant("read" as const), bytes: fc.constant(0) }),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.array(fc.boolean(), { minLength: 1 }), async (all, pattern) => {
        let writes = 0;
        const { sink, writer } = open(() => pattern[writes++ % pattern.length] as boolean);
        const sent: number[] = [];
        for (const { act, bytes } of all) {
          if (act === "read") {
            await sink.read();
            continue;
          }
          const piece = Uint8Array.from({ length: bytes }, (_, at) => (sent.length + at) % 251);
          sent.push(...piece);
          writer.write(piece);
        }
        const ended = writer.end();
        while (sink.isFull) await sink.read();
        await ended;
        expect(Buffer.compare(Buffer.from(sink.received), Buffer.from(sent))).toBe(0);
        expect(sink.closed).toBe("ended");
      }),
      { numRuns: 60 },
    );
  });

  test("waits behind what was queued before: a second and a third piece do not overtake the first", async () => {
    const { sink, writer } = open(() => true);
    for (const byte of [1, 2, 3, 4]) writer.write(Uint8Array.of(byte));
    const ended = writer.end();
    expect([sink.received, sink.closed]).toEqual([[1], null]);
    for (let read = 0; read < 4; read++) await sink.read();
    await ended;
    expect([sink.received, sink.closed]).toEqual([[1, 2, 3, 4], "ended"]);
  });

  test("is dropped with its connection if the client reads nothing for too long, and nothing is written after that", async () => {
    const { clock, sink, writer } = open(() => true);
    writer.write(Uint8Array.of(1));
    writer.write(Uint8Array.of(2));
    clock.advance(SILENCE_MS - 1);
    expect(sink.closed).toBeNull();
    await sink.read();
    clock.advance(SILENCE_MS - 1);
    expect(sink.closed).toBeNull();
    clock.advance(1);
    writer.write(Uint8Array.of(3));
    await sink.read();
    expect([sink.received, sink.closed]).toEqual([[1, 2], "reset"]);
  });
});
