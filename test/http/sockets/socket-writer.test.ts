import { describe, expect, test } from "bun:test";
import type { SplitEvent } from "../../../src/base/sse/split-events.ts";
import { createUnreadAnswers } from "../../../src/core/generation/memory/unread-answers.ts";
import type { HttpDeps } from "../../../src/http/context/context.ts";
import { relayFrames } from "../../../src/http/sockets/relay-frames.ts";
import { type Sending, SocketWriter } from "../../../src/http/sockets/socket-writer.ts";
import { turnEventLoop } from "../../support/event-loop.ts";
import { createTestClock } from "../../support/test-clock.ts";

const SILENCE_MS = 60_000;

/** A connection whose client reads what the test says. */
class FakeConnection implements Sending {
  readyState: Sending["readyState"] = 1;
  /** What the runtime returns for the next frame. */
  result = 1;
  unread = 0;

  sendText(_text?: string): number {
    return this.result;
  }

  getBufferedAmount(): number {
    return this.unread;
  }

  cork(send: () => void): void {
    send();
  }

  terminate(): void {
    this.readyState = 3;
  }
}

function createWriter(totalBytes = 1_000_000) {
  const clock = createTestClock();
  const unread = createUnreadAnswers(clock, SILENCE_MS, totalBytes);
  const counts = { open: 1, received: 0, sent: 0 };
  const deps = { generation: { settings: { unread } }, sockets: { counts } } as unknown as HttpDeps;
  const open = () => {
    const connection = new FakeConnection();
    const writer = new SocketWriter(connection, { deps: () => deps });
    const stalled: string[] = [];
    writer.onStalled = () => stalled.push("stalled");
    return { connection, writer, stalled };
  };
  /** Sends a frame that the client does not read. */
  const fill = ({ connection, writer }: ReturnType<typeof open>, bytes: number) => {
    connection.result = -1;
    connection.unread = bytes;
    expect(writer.send("x")).toBe(true);
  };
  return { clock, counts, open, fill };
}

describe("the writer of a WebSocket", () => {
  test("has room as long as the client keeps up", () => {
    const { counts, open } = createWriter();
    const { writer } = open();
    expect([writer.send("x"), writer.room, counts.sent]).toEqual([true, null, 1]);
  });

  test("has room again once the client has read everything", async () => {
    const { open, fill, clock } = createWriter();
    const one = open();
    fill(one, 1_000);
    const { room } = one.writer;
    expect(room).not.toBeNull();
    one.connection.unread = 0;
    one.writer.onDrain();
    await room;
    expect(one.writer.room).toBeNull();
    clock.advance(SILENCE_MS);
    expect(one.connection.readyState).toBe(1);
  });

  test("disconnects a client that reads nothing for too long", async () => {
    const { open, fill, clock } = createWriter();
    const one = open();
    fill(one, 1_000);
    clock.advance(SILENCE_MS - 1);
    expect(one.connection.readyState).toBe(1);
    clock.advance(1);
    expect([one.connection.readyState, one.stalled]).toEqual([3, ["stalled"]]);
    one.writer.onClosed();
    expect(one.writer.room).toBeNull();
  });

  test("does not disconnect a client that has read a part of a large frame", () => {
    const { open, fill, clock } = createWriter();
    const one = open();
    fill(one, 900_000);
    for (let left = 800_000; left > 0; left -= 100_000) {
      one.connection.unread = left;
      clock.advance(SILENCE_MS);
      expect(one.connection.readyState).toBe(1);
    }
    clock.advance(SILENCE_MS);
    expect(one.connection.readyState).toBe(3);
  });

  test("gives a client that reads a little its time again", () => {
    const { open, fill, clock } = createWriter();
    const one = open();
    fill(one, 1_000);
    for (const left of [800, 600, 400]) {
      clock.advance(SILENCE_MS - 1);
      one.connection.unread = left;
      one.writer.onDrain();
    }
    clock.advance(SILENCE_MS - 1);
    expect([one.connection.readyState, one.writer.room === null]).toEqual([1, false]);
  });

  test("disconnects the client that has waited longest if all together have too much unread", () => {
    const { open, fill } = createWriter(1_000_000);
    const clients = [open(), open(), open()];
    for (const client of clients) fill(client, 450_000);
    expect(clients.map(({ connection }) => connection.readyState)).toEqual([3, 1, 1]);
  });

  test("disconnects a client for which the runtime has dropped a frame", () => {
    const { open } = createWriter();
    const one = open();
    one.connection.result = 0;
    expect([one.writer.send("x"), one.connection.readyState, one.stalled]).toEqual([false, 3, ["stalled"]]);
  });

  test("sends nothing to a client that has left", () => {
    const { open, counts } = createWriter();
    const one = open();
    one.connection.readyState = 3;
    one.connection.result = 0;
    expect([one.writer.send("x"), one.stalled, counts.sent]).toEqual([false, [], 0]);
  });
});

describe("the events of an answer", () => {
  const event = (number: number) => `data: {"n":${number}}\n\n`;

  /** A stream that ends after these pieces. */
  function readerOf(...pieces: readonly string[]) {
    const left = pieces.map((piece) => Buffer.from(piece));
    return { read: async () => ({ done: left.length === 0, value: left.shift() }) };
  }

  const asTheyCome = () => ({
    end: null,
    read: ({ text, start, end }: SplitEvent) => text.slice(start, end),
  });

  test("are sent one by one, and wait for the client after each frame that it has not read", async () => {
    const { open } = createWriter();
    const { connection, writer } = open();
    const sent: string[] = [];
    connection.sendText = (text?: string) => {
      sent.push(text as string);
      connection.unread = text === '{"n":2}' ? 2_000_000 : 0;
      return connection.unread > 0 ? -1 : 1;
    };
    const reader = readerOf(event(1) + event(2) + event(3), event(4));
    const relayed = relayFrames(reader, { events: asTheyCome(), writer, onEnd() {} });
    await turnEventLoop();
    expect(sent).toEqual(['{"n":1}', '{"n":2}']);
    connection.unread = 0;
    writer.onDrain();
    expect(await relayed).toBe(true);
    expect(sent).toEqual([1, 2, 3, 4].map((number) => `{"n":${number}}`));
  });

  test("are not read any more once the client has left", async () => {
    const { open } = createWriter();
    const { connection, writer } = open();
    connection.terminate();
    connection.result = 0;
    const reader = readerOf(event(1), event(2));
    expect(await relayFrames(reader, { events: asTheyCome(), writer, onEnd() {} })).toBe(false);
    expect((await reader.read()).done).toBe(false);
  });
});
