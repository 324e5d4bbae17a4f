import { afterEach, describe, expect, test } from "bun:test";
import { ComposedBytes } from "../../src/base/text/composed-bytes.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Transport, UpstreamRequest } from "../../src/core/deployments/transport.ts";
import type { Http1Bounds } from "../../src/providers/http1/bounds.ts";
import { createHttp1Transport } from "../../src/providers/http1/transport.ts";
import { type RawConnection, type RawServer, startRawServer } from "../support/servers/raw-server.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import {
  answering,
  answeringOnce,
  countOpen,
  kindOf,
  OK,
  readAll,
  readText,
  requestTo,
  restConnections,
  settleLoop,
  testTransport,
} from "./transport-contract.ts";

/** Without probation, connections are reused after a turn of the event loop. */
const TRUSTING = { probationMs: 0 };

testTransport({
  name: "http1",
  reusesConnections: true,
  create: ({ clock, ca, trustsOrigins = true }) =>
    createHttp1Transport({
      clock,
      ...(trustsOrigins && { bounds: TRUSTING }),
      ...(ca !== undefined && { tls: { ca } }),
    }),
});

let clock: TestClock;
let transport: Transport;
let server: RawServer;
/** The origins that the transport has reported. */
let distrusted: string[];

function serve(handler: Parameters<typeof startRawServer>[0], bounds: Partial<Http1Bounds> = {}): void {
  server = startRawServer(handler);
  clock = createTestClock();
  distrusted = [];
  const onStrayBytes = (origin: string) => void distrusted.push(origin);
  transport = createHttp1Transport({ clock, bounds: { ...TRUSTING, ...bounds }, onStrayBytes });
}

async function fetchText(changes: Partial<UpstreamRequest> = {}): Promise<string> {
  const text = await readText(await transport.open(requestTo(server.origin, changes)).response);
  await restConnections();
  return text;
}

/** Sends `count` simultaneous requests, so that each has its own connection. */
async function openConnections(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => fetchText()));
}

afterEach(() => {
  transport?.close();
  server?.stop();
});

describe("http1: requests that begin in the same task", () => {
  test("are all sent, except one that is cancelled in that task", async () => {
    const received: (string | null)[] = [];
    serve(async (connection) => {
      for (;;) {
        const request = await connection.request();
        received.push(request?.line ?? null);
        if (request === null) return;
        await connection.write(OK);
      }
    });
    await openConnections(3);
    received.length = 0;
    const open = () => transport.open(requestTo(server.origin));
    const [first, cancelled, third] = [open(), open(), open()];
    cancelled.cancel();
    expect(await kindOf(cancelled.response)).toBe("cancelled");
    expect(await readText(await first.response)).toBe("ok");
    expect(await readText(await third.response)).toBe("ok");
    await settleLoop();
    expect(received.filter((line) => line !== null)).toHaveLength(2);
    expect(server.connections).toHaveLength(3);
  });
});

describe("http1: connecting", () => {
  /** A server that never answers the TLS handshake, like an unreachable one. */
  function openSilently(): Promise<unknown> {
    serve(() => {});
    const url = server.origin.replace("http:", "https:");
    return transport.open(requestTo(url, { connectTimeoutMs: 1000 })).response;
  }

  test("for longer than the timeout is connect_timeout and leaves no connection", async () => {
    const failure = kindOf(openSilently());
    const connection = await server.connection(0);
    await connection.readable();
    clock.advance(1000);
    expect(await failure).toBe("connect_timeout");
    await connection.closed;
  });

  test("continues until the timeout", async () => {
    let settled = false;
    openSilently().catch(() => {
      settled = true;
    });
    const connection = await server.connection(0);
    await connection.readable();
    clock.advance(999);
    await settleLoop();
    expect(settled).toBe(false);
  });

  test("leaves no timer running", async () => {
    serve(answering("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"));
    expect(await fetchText()).toBe("ok");
    expect(clock.pendingTimers).toBe(0);
  });

  test("closes the connection when it is cancelled within the handshake", async () => {
    serve(() => {});
    const exchange = transport.open(requestTo(server.origin.replace("http:", "https:")));
    const connection = await server.connection(0);
    await connection.readable();
    exchange.cancel();
    await connection.closed;
    expect(await kindOf(exchange.response)).toBe("cancelled");
    expect(clock.pendingTimers).toBe(0);
  });

  test("to a URL that is not HTTP is connect_failed", async () => {
    serve(answering(OK));
    expect(await kindOf(transport.open(requestTo("ftp://127.0.0.1/")).response)).toBe("connect_failed");
  });
});

describe("http1: idle connections", () => {
  test("are closed after the idle timeout", async () => {
    serve(answering(OK), { idleMs: 1000 });
    await openConnections(3);
    clock.advance(999);
    expect(await countOpen(server)).toBe(3);
    clock.advance(1001);
    await server.allClosed();
    expect(clock.pendingTimers).toBe(0);
  });

  test("are bounded for each origin", async () => {
    serve(answering(OK), { idlePerOrigin: 2 });
    await openConnections(5);
    expect(await countOpen(server)).toBe(2);
  });

  test("are replaced by newer ones at the total bound", async () => {
    serve(answering(OK), { idleTotal: 2 });
    await openConnections(2);
    const other = startRawServer(answering(OK));
    await readText(await transport.open(requestTo(other.origin)).response);
    expect(await countOpen(server)).toBe(1);
    await readText(await transport.open(requestTo(other.origin)).response);
    expect(other.connections.length).toBe(1);
    other.stop();
  });

  test("that receive unexpected bytes are closed", async () => {
    serve(async (connection) => {
      await connection.request();
      await connection.write(OK);
      await settleLoop();
      await connection.write("HTTP/1.1 408 Timeout\r\n\r\n");
    });
    expect(await fetchText()).toBe("ok");
    await server.connections[0]!.closed;
    expect(await fetchText()).toBe("ok");
  });

  test("are closed by close, and none is added afterwards", async () => {
    serve(answering(OK));
    await openConnections(3);
    transport.close();
    await server.allClosed();
    expect(await fetchText()).toBe("ok");
    await server.allClosed();
    expect(clock.pendingTimers).toBe(0);
  });

  test("do not result from exchanges that are running at close", async () => {
    serve(async (connection) => {
      await connection.request();
      await connection.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe");
      await gate.promise;
      await connection.write("llo");
    });
    const gate = Promise.withResolvers<void>();
    const response = await transport.open(requestTo(server.origin)).response;
    transport.close();
    gate.resolve();
    expect(await readText(response)).toBe("hello");
    await server.allClosed();
  });

  test("do not exist after close, after a thousand requests in sequence and two hundred at once", async () => {
    serve(answering(OK));
    for (let i = 0; i < 1000; i++) await fetchText();
    expect(server.connections.length).toBe(1);
    await openConnections(200);
    expect(server.connections.length).toBe(200);
    transport.close();
    await server.allClosed();
  });
});

describe("http1: bytes after an answer", () => {
  const STRAY = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nstray";

  /** Answers each request on its first connection, and sends surplus bytes when the gate opens. */
  function serveStrayOnce(bounds: Partial<Http1Bounds> = {}): { send(): Promise<void> } {
    serve(answering(OK), bounds);
    return {
      async send() {
        await server.connections[0]!.write(STRAY);
        await settleLoop();
      },
    };
  }

  test("prevent the reuse of connections to their origin until it is trusted again", async () => {
    const stray = serveStrayOnce({ strayMs: 1_000, distrustMs: 60_000 });
    await openConnections(3);
    await stray.send();
    expect(await countOpen(server)).toBe(0);
    for (let i = 0; i < 3; i++) expect(await fetchText()).toBe("ok");
    expect(server.connections.length).toBe(6);
    clock.advance(60_000);
    for (let i = 0; i < 3; i++) expect(await fetchText()).toBe("ok");
    expect(server.connections.length).toBe(7);
    expect(distrusted).toEqual([server.origin]);
  });

  test("that arrive long after it close their connection, and their origin stays trusted", async () => {
    const stray = serveStrayOnce({ strayMs: 1_000 });
    await openConnections(2);
    clock.advance(1_000);
    await stray.send();
    expect(await countOpen(server)).toBe(1);
    expect(distrusted).toEqual([]);
  });

  test("do not affect the trust in other origins", async () => {
    const stray = serveStrayOnce();
    await fetchText();
    const other = startRawServer(answering(OK));
    await readText(await transport.open(requestTo(other.origin)).response);
    await stray.send();
    await readText(await transport.open(requestTo(other.origin)).response);
    expect(other.connections.length).toBe(1);
    other.stop();
  });

  test("that arrive while the next request is being sent are not taken for its answer", async () => {
    const body = new Uint8Array(20_000_000);
    serve(async (connection) => {
      const isFirst = server.connections.length === 1;
      await connection.request();
      await connection.write(OK);
      if (!isFirst) return;
      await connection.readable();
      connection.pause();
      await connection.write(STRAY);
    });
    expect(await fetchText()).toBe("ok");
    expect(await fetchText({ method: "POST", body })).toBe("ok");
    expect(server.connections.length).toBe(2);
  });

  test("in the same packet are reported, and the answer is valid", async () => {
    serve(answering(`${OK}${STRAY}`));
    expect(await fetchText()).toBe("ok");
    expect(await fetchText()).toBe("ok");
    expect(distrusted).toEqual([server.origin]);
  });
});

describe("http1: an origin that is not trusted yet", () => {
  const PROBATION = { probationMs: 100 };

  test("has a connection reused once it was silent for the probation time", async () => {
    serve(answering(OK), PROBATION);
    await fetchText();
    clock.advance(99);
    await fetchText();
    expect(server.connections.length).toBe(2);
    clock.advance(1);
    await fetchText();
    expect(server.connections.length).toBe(2);
  });

  test("becomes trusted once one of its connections was silent for that time", async () => {
    serve(answering(OK), PROBATION);
    await fetchText();
    clock.advance(100);
    for (let i = 0; i < 5; i++) await fetchText();
    expect(server.connections.length).toBe(1);
  });

  test("must be silent again after it has sent bytes after an answer, although it was trusted before", async () => {
    serve(answering(OK), { ...PROBATION, distrustMs: 1_000 });
    await fetchText();
    clock.advance(100);
    await fetchText();
    await server.connections[0]!.write("x");
    await server.allClosed();
    clock.advance(1_000);
    await fetchText();
    await fetchText();
    expect(server.connections.length).toBe(3);
  });
});

describe("http1: a connection is not reused", () => {
  const body = new Uint8Array(20_000_000);

  test.each([
    ["bytes came behind the answer", `${OK}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`],
    ["the answer had no declared end", "HTTP/1.1 200 OK\r\n\r\nok"],
  ])("when %s", async (_, answer) => {
    serve(answeringOnce(answer));
    expect(await fetchText()).toBe("ok");
    expect(await fetchText()).toBe("ok");
    expect(server.connections.length).toBe(2);
  });

  test("when the answer was complete before the request was sent", async () => {
    serve(async (connection) => {
      await connection.readable();
      connection.pause();
      await connection.write(OK);
    });
    expect(await fetchText({ method: "POST", body })).toBe("ok");
    expect(await fetchText({ method: "POST", body })).toBe("ok");
    expect(server.connections.length).toBe(2);
  });

  test("when the answer began before the request was sent, although it ended later", async () => {
    serve(async (connection) => {
      await connection.readable();
      connection.pause();
      await connection.write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n");
      connection.resume();
      await connection.request();
      await connection.write("no");
    });
    expect(await fetchText({ method: "POST", body })).toBe("no");
    expect(await countOpen(server)).toBe(0);
  });

  test("when the exchange was cancelled", async () => {
    serve(answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"));
    for (let i = 0; i < 2; i++) {
      const exchange = transport.open(requestTo(server.origin));
      await (await exchange.response).read();
      exchange.cancel();
    }
    await server.allClosed();
    expect(server.connections.length).toBe(2);
  });
});

describe("http1: a body composed of pieces", () => {
  const source = Buffer.from(Uint8Array.from({ length: 2_000_000 }, (_, at) => at * 13));

  test.each([
    ["as many small pieces as one write takes", 100, 900],
    ["more small pieces than one write takes", 2_000, 900],
    ["large pieces", 9, 200_000],
  ])("with %s is sent completely", async (_, count, size) => {
    let hash: unknown;
    serve(async (connection) => {
      const request = await connection.request();
      hash = Bun.hash(request!.body);
      await connection.write(OK);
    });
    const pieces = Array.from({ length: count }, (_, at) => [`<${at} ✓>`, { start: at, end: at + size }]);
    const body = ComposedBytes.of(source, pieces.flat());
    expect(await fetchText({ method: "POST", body })).toBe("ok");
    expect(hash).toBe(Bun.hash(body.join()));
  });
});

describe("http1: a closed connection", () => {
  const stops: [string, (connection: RawConnection) => void][] = [
    ["closed", (connection) => connection.end()],
    ["reset", (connection) => connection.reset()],
  ];

  test.each(stops)("that was idle is replaced exactly once when %s", async (_, stop) => {
    serve(async (connection) => {
      const isFirst = server.connections.length === 1;
      await connection.request();
      if (isFirst) await connection.write(OK);
      if (isFirst) await connection.request();
      stop(connection);
    });
    expect(await fetchText()).toBe("ok");
    expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("reset");
    expect(server.connections.length).toBe(2);
  });

  test("is not replaced when a byte of the answer has arrived", async () => {
    serve(async (connection) => {
      await connection.request();
      await connection.write(OK);
      await connection.request();
      await connection.write("H");
      connection.end();
    });
    expect(await fetchText()).toBe("ok");
    expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("reset");
    expect(server.connections.length).toBe(1);
  });

  test("is not replaced when it was new", async () => {
    serve(async (connection) => {
      await connection.request();
      connection.end();
    });
    expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("reset");
    expect(server.connections.length).toBe(1);
  });

  test("that was idle is replaced, and a large body is sent again completely", async () => {
    const body = new Uint8Array(3_000_000).map((_, i) => i * 13);
    let hash: unknown;
    serve(async (connection) => {
      const isFirst = server.connections.length === 1;
      const request = await connection.request();
      hash = Bun.hash(request!.body);
      await connection.write(OK);
      if (!isFirst) return;
      await connection.readable();
      connection.reset();
    });
    expect(await fetchText()).toBe("ok");
    expect(await fetchText({ method: "POST", body })).toBe("ok");
    expect(hash).toBe(Bun.hash(body));
  });

  test("returns the received pieces before the error truncated", async () => {
    serve(answeringOnce("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"));
    const response = await transport.open(requestTo(server.origin)).response;
    await server.connections[0]!.closed;
    await settleLoop();
    expect(Buffer.from((await response.read())!).toString()).toBe("hello");
    expect(await kindOf(response.read())).toBe("truncated");
    expect(await kindOf(response.read())).toBe("truncated");
  });

  test("that was reset is truncated, even if the body has no declared length", async () => {
    serve(async (connection) => {
      await connection.request();
      await connection.write("HTTP/1.1 200 OK\r\n\r\nhello");
      await gate.promise;
      connection.reset();
    });
    const gate = Promise.withResolvers<void>();
    const response = await transport.open(requestTo(server.origin)).response;
    await response.read();
    gate.resolve();
    expect(await kindOf(response.read())).toBe("truncated");
  });
});

describe("http1: an answer", () => {
  test("that is rejected closes its connection", async () => {
    serve(answering("HTTP/1.1 200 OK\r\nx: a\nb\r\n\r\n"));
    expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("protocol");
    await server.allClosed();
  });

  test("that is rejected within its body returns the pieces before", async () => {
    serve(answering("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"));
    const response = await transport.open(requestTo(server.origin)).response;
    expect(Buffer.from((await response.read())!).toString()).toBe("hello");
    expect(await kindOf(response.read())).toBe("protocol");
    await server.allClosed();
  });

  test("whose head exceeds its bound is protocol", async () => {
    serve(answering(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(2000)}\r\n\r\n`), { headBytes: 1000 });
    expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("protocol");
  });

  test("that is cancelled after its end drops its unread pieces", async () => {
    serve(answering(OK));
    const exchange = transport.open(requestTo(server.origin));
    const response = await exchange.response;
    exchange.cancel();
    expect(await kindOf(response.read())).toBe("cancelled");
    await restConnections();
    expect(await fetchText()).toBe("ok");
    expect(server.connections.length).toBe(1);
  });

  test("allows one read at a time", async () => {
    serve(async (connection) => {
      await connection.request();
      await connection.write("HTTP/1.1 200 OK\r\n\r\n");
    });
    const exchange = transport.open(requestTo(server.origin));
    const response = await exchange.response;
    const first = kindOf(response.read());
    expect(response.read()).rejects.toThrow("read called while a read is pending");
    exchange.cancel();
    expect(await first).toBe("cancelled");
  });

  test("in many small pieces pauses its connection by their number, and loses nothing", async () => {
    serve(
      async (connection) => {
        while ((await connection.request()) !== null) {
          await connection.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
          for (let i = 0; i < 100; i++) {
            await connection.write("0123456789");
            await new Promise((resolve) => setImmediate(resolve));
          }
        }
      },
      { unreadPieces: 4 },
    );
    const response = await transport.open(requestTo(server.origin)).response;
    await settleLoop();
    expect(Buffer.from(await readAll(response)).toString()).toBe("0123456789".repeat(100));
    await restConnections();
    expect(await fetchText()).toBe("0123456789".repeat(100));
    expect(server.connections.length).toBe(1);
  });

  test("that is complete and unread does not prevent the reuse of its connection", async () => {
    const piece = "x".repeat(400_000);
    serve(answering(`HTTP/1.1 200 OK\r\ncontent-length: ${piece.length}\r\n\r\n${piece}`));
    const first = await transport.open(requestTo(server.origin)).response;
    expect(await fetchText()).toBe(piece);
    expect(await readText(first)).toBe(piece);
    expect(await fetchText()).toBe(piece);
  });
});

test("http1: cancelling many exchanges at every stage leaves no connection and no pending promise", async () => {
  server = startRawServer(answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"));
  transport = createHttp1Transport({ clock: systemClock });
  const run = async (stage: number): Promise<void> => {
    const exchange = transport.open(requestTo(server.origin));
    for (let turn = 0; turn < stage; turn++) await new Promise((resolve) => setImmediate(resolve));
    exchange.cancel();
    const outcome = exchange.response.then((response) => response.read());
    expect(await kindOf(outcome)).toBe("cancelled");
  };
  await Promise.all(Array.from({ length: 100 }, (_, i) => run(i % 10)));
  await settleLoop();
  await server.allClosed();
});
