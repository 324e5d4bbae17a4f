import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { type Clock, systemClock } from "../../src/base/time/clock.ts";
import {
  type Transport,
  TransportError,
  type UpstreamRequest,
  type UpstreamResponse,
} from "../../src/core/deployments/transport.ts";
import { type Certificates, makeCertificates } from "../support/servers/certificates.ts";
import { type RawConnection, type RawServer, startRawServer } from "../support/servers/raw-server.ts";
import { createTestClock } from "../support/test-clock.ts";

export interface TransportSubject {
  readonly name: string;
  /** Whether a connection is reused after it has rested for a turn of the event loop. */
  readonly reusesConnections: boolean;
  /** `trustsOrigins`: connections are reused without a probation of their origin. */
  create(options: { clock: Clock; ca?: string; trustsOrigins?: boolean }): Transport;
}

/** A request of a test; by default a GET without headers. */
export function requestTo(url: string, changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return { url: new URL(url), method: "GET", headers: {}, body: null, connectTimeoutMs: 5000, ...changes };
}

/** Reads the rest of a body. */
export async function readAll(response: UpstreamResponse): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (let piece = await response.read(); piece !== null; piece = await response.read()) {
    expect(piece.length).toBeGreaterThan(0);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** Reads the rest of a body as text. */
export async function readText(response: UpstreamResponse): Promise<string> {
  return Buffer.from(await readAll(response)).toString();
}

/** Returns the kind of the `TransportError` with which a promise rejects. */
export async function kindOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error("did not reject"),
    (reason) => reason,
  );
  if (!(error instanceof TransportError)) throw error;
  return error.kind;
}

/** Answers every request on a connection with `answer`. */
export function answering(answer: string): (connection: RawConnection) => Promise<void> {
  return async (connection) => {
    while ((await connection.request()) !== null) await connection.write(answer);
  };
}

/** Answers one request with `answer` and closes. */
export function answeringOnce(answer: string): (connection: RawConnection) => Promise<void> {
  return async (connection) => {
    await connection.request();
    await connection.write(answer);
    connection.end();
  };
}

export const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** The number of sequential exchanges of another transport within which something must happen. */
const SOON_EXCHANGES = 200;

/** Returns the number of open connections of a server once the event loop is idle. */
export async function countOpen({ connections }: RawServer): Promise<number> {
  await settleLoop();
  let open = connections.length;
  for (const connection of connections) void connection.closed.then(() => open--);
  await settleLoop();
  return open;
}

/** Waits as many turns of the event loop as an idle connection rests before its reuse. */
export async function restConnections(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns a local port on which no server listens. */
function findFreePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** Compresses a text in parts, each of which can be decoded on its own. */
function startPacking(encoder: ReturnType<typeof createGzip>) {
  let made: Buffer[] = [];
  encoder.on("data", (piece: Buffer) => made.push(piece));
  const take = (): Uint8Array => {
    const packed = Buffer.concat(made);
    made = [];
    return packed;
  };
  return {
    part(text: string): Promise<Uint8Array> {
      encoder.write(text);
      return new Promise((resolve) => encoder.flush(() => resolve(take())));
    },
    end(): Promise<Uint8Array> {
      encoder.end();
      return new Promise((resolve) => encoder.once("end", () => resolve(take())));
    },
  };
}

/** The contract of all implementations of the port `Transport`. */
export function testTransport(subject: TransportSubject): void {
  let transport: Transport;
  let server: RawServer;
  let certificates: Certificates;

  function serve(...args: Parameters<typeof startRawServer>): RawServer {
    server = startRawServer(...args);
    transport = subject.create({ clock: systemClock });
    return server;
  }

  /** The same, with a probation of origins. No time passes. */
  function serveDistrusted(...args: Parameters<typeof startRawServer>): void {
    server = startRawServer(...args);
    transport = subject.create({ clock: createTestClock(), trustsOrigins: false });
  }

  async function fetchText(path = "/", changes: Partial<UpstreamRequest> = {}): Promise<string> {
    const text = await readText(await transport.open(requestTo(server.origin + path, changes)).response);
    await restConnections();
    return text;
  }

  /** Waits for `work`, and rejects if it does not end within `SOON` exchanges. */
  async function expectSoon(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const settled = work.finally(() => {
      isDone = true;
    });
    const busy = startRawServer(answeringOnce(OK));
    const pacer = subject.create({ clock: systemClock });
    try {
      for (let count = 0; count < SOON_EXCHANGES && !isDone; count++)
        await readAll(await pacer.open(requestTo(busy.origin)).response);
      expect(isDone).toBe(true);
      await settled;
    } finally {
      pacer.close();
      busy.stop();
    }
  }

  beforeAll(() => {
    certificates = makeCertificates();
  });
  afterEach(() => {
    transport?.close();
    server?.stop();
  });
  afterAll(() => server?.stop());

  describe(`${subject.name}: a request`, () => {
    test("has path, query, headers and body, and asks for no compression", async () => {
      const seen: string[] = [];
      serve(async (connection) => {
        const request = await connection.request();
        seen.push(request!.line, Buffer.from(request!.body).toString(), request!.head.toLowerCase());
        await connection.write(OK);
      });
      const body = new TextEncoder().encode('{"model":"m"}');
      const headers = { "content-type": "application/json", "x-key": "a b\tc" };
      expect(await fetchText("/v1/chat?a=b%20c&d", { method: "POST", headers, body })).toBe("ok");
      expect(seen[0]).toBe("POST /v1/chat?a=b%20c&d HTTP/1.1");
      expect(seen[1]).toBe('{"model":"m"}');
      const lines = seen[2]!.split("\r\n");
      expect(lines).toContain("content-type: application/json");
      expect(lines).toContain("x-key: a b\tc");
      expect(lines).toContain("accept-encoding: identity");
      expect(lines).toContain("content-length: 13");
      expect(lines).toContain(`host: 127.0.0.1:${server.port}`);
    });

    test("keeps its own accept-encoding, and the answer is decompressed", async () => {
      const packed = Buffer.from(Bun.gzipSync("ok"));
      let head = "";
      serve(async (connection) => {
        head = (await connection.request())!.head.toLowerCase();
        const length = `content-encoding: gzip\r\ncontent-length: ${packed.length}`;
        await connection.write(`HTTP/1.1 200 OK\r\n${length}\r\n\r\n`);
        await connection.write(packed);
      });
      const request = requestTo(server.origin, { headers: { "accept-encoding": "gzip" } });
      const text = await readText(await transport.open(request).response);
      expect(head.split("\r\n")).toContain("accept-encoding: gzip");
      expect(text).toBe("ok");
    });

    test("has its own host, length and connection headers, and not the credentials of the URL", async () => {
      let head = "";
      serve(async (connection) => {
        head = (await connection.request())!.head.toLowerCase();
        await connection.write(OK);
      });
      const url = server.origin.replace("http://", "http://user:secret@");
      const headers = { host: "elsewhere", "content-length": "7", "transfer-encoding": "chunked" };
      const body = new Uint8Array(3);
      await transport.open(requestTo(url, { method: "POST", headers, body })).response;
      expect(head).toContain(`host: 127.0.0.1:${server.port}`);
      expect(head).toContain("content-length: 3");
      expect(head).not.toContain("transfer-encoding");
      expect(head).not.toContain("elsewhere");
      expect(head).not.toContain("authorization");
    });

    test.each(["a\r\nx: y", "a\nb", "a\0b"])("with a header value %j is rejected", async (value) => {
      serve(answering(OK));
      const { response } = transport.open(requestTo(server.origin, { headers: { "x-key": value } }));
      expect(await kindOf(response)).toBe("protocol");
      expect(server.connections.length).toBe(0);
    });

    test("of 5 MB arrives completely at a server that reads late", async () => {
      const body = new Uint8Array(5_000_000).map((_, i) => i * 31);
      let hash: unknown;
      serve(async (connection) => {
        connection.pause();
        await settleLoop();
        connection.resume();
        hash = Bun.hash((await connection.request())!.body);
        await connection.write(OK);
      });
      expect(await fetchText("/", { method: "POST", body })).toBe("ok");
      expect(hash).toBe(Bun.hash(body));
    });

    test.each(["127.0.0.1", "::1"])("to localhost reaches a server on %s", async (hostname) => {
      serve(answering(OK), { hostname, name: "localhost" });
      expect(await fetchText()).toBe("ok");
    });

    test("to an IPv6 address arrives", async () => {
      serve(answering(OK), { hostname: "::1" });
      expect(await fetchText()).toBe("ok");
    });
  });

  describe(`${subject.name}: an answer`, () => {
    test.each([
      ["with a content-length", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "hello"],
      [
        "in chunks",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        "hello",
      ],
      ["until the close", "HTTP/1.1 200 OK\r\n\r\nhello", "hello"],
      ["until the close, HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", "hello"],
      ["empty", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", ""],
      ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
      ["after 1xx", `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${OK}`, "ok"],
    ])("%s is read", async (_, answer, text) => {
      serve(answeringOnce(answer));
      expect(await fetchText()).toBe(text);
    });

    test("has status and headers", async () => {
      serve(answering("HTTP/1.1 429 Slow down\r\nRetry-After:  7 \r\nX-Empty:\r\ncontent-length: 0\r\n\r\n"));
      const response = await transport.open(requestTo(server.origin)).response;
      expect(response.status).toBe(429);
      expect(response.header("retry-after")).toBe("7");
      expect(response.header("x-empty")).toBe("");
      expect(response.header("x-none")).toBeNull();
    });

    test("that is a redirect is not followed", async () => {
      serve(answering("HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 2\r\n\r\nok"));
      const response = await transport.open(requestTo(server.origin)).response;
      expect(response.status).toBe(302);
      expect(await readText(response)).toBe("ok");
    });

    test("is returned as it arrives", async () => {
      serve(async (connection) => {
        await connection.request();
        await connection.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n");
        await connection.request();
      });
      const exchange = transport.open(requestTo(server.origin));
      const response = await exchange.response;
      expect(Buffer.from((await response.read())!).toString()).toBe("one");
      exchange.cancel();
    });

    test("that is not read pauses the server, and is complete when it is read", async () => {
      const totalBytes = 64_000_000;
      const piece = new Uint8Array(1_000_000).map((_, i) => i * 7);
      serve(async (connection) => {
        await connection.request();
        await connection.write(`HTTP/1.1 200 OK\r\ncontent-length: ${totalBytes}\r\n\r\n`);
        for (let sent = 0; sent < totalBytes; sent += piece.length) await connection.write(piece);
      });
      const response = await transport.open(requestTo(server.origin)).response;
      await settleLoop();
      // More than the socket buffers of both ends, which are some megabytes, and the unread pieces.
      expect(server.connections[0]!.bytesSent).toBeLessThan(24_000_000);
      let bytes = 0;
      for (let got = await response.read(); got !== null; got = await response.read()) {
        expect(got[0]).toBe(piece[bytes % piece.length]!);
        bytes += got.length;
      }
      expect(bytes).toBe(totalBytes);
    });
  });

  describe(`${subject.name}: a connection`, () => {
    test("serves several requests if connections are reused, otherwise one", async () => {
      serve(answering(OK));
      for (let i = 0; i < 5; i++) expect(await fetchText()).toBe("ok");
      expect(server.connections.length).toBe(subject.reusesConnections ? 1 : 5);
    });

    test.each([
      ["in the same packet", 0],
      ["a turn of the event loop later", 1],
      ["twenty turns of the event loop later", 20],
    ])("whose server writes a second answer %s does not return it to any caller", async (_, turns) => {
      serveDistrusted(async (connection) => {
        for (let got = await connection.request(); got !== null; got = await connection.request()) {
          const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${got.line.length}\r\n\r\n${got.line}`;
          if (turns === 0) await connection.write(answer + OK);
          else void connection.write(answer);
          for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
          if (turns > 0) void connection.write(OK);
        }
      });
      for (let i = 0; i < 64; i++) {
        const response = await transport.open(requestTo(`${server.origin}/${i}`)).response;
        expect(await readText(response)).toBe(`GET /${i} HTTP/1.1`);
      }
    });

    test.each([
      ["204", "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n"],
      ["304", "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n"],
    ])("whose %s has a body does not return it to any caller", async (_, head) => {
      serveDistrusted(async (connection) => {
        for (let got = await connection.request(); got !== null; got = await connection.request()) {
          void connection.write(head);
          await new Promise((resolve) => setImmediate(resolve));
          void connection.write(OK);
        }
      });
      for (let i = 0; i < 8; i++)
        expect(await readText(await transport.open(requestTo(server.origin)).response)).toBe("");
    });

    test.each([
      ["says connection: close", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"],
      ["is HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok"],
    ])("whose answer %s is not reused", async (_, answer) => {
      serve(answering(answer));
      expect(await fetchText()).toBe("ok");
      expect(await fetchText()).toBe("ok");
      expect(server.connections.length).toBe(2);
    });

    test("that the server closed while it was idle is replaced", async () => {
      serve(answeringOnce(OK));
      expect(await fetchText()).toBe("ok");
      await server.connections[0]!.closed;
      expect(await fetchText()).toBe("ok");
      expect(server.connections.length).toBe(2);
    });

    test("is not left open by a thousand sequential requests", async () => {
      serve(answering(OK));
      for (let i = 0; i < 1000; i++) await fetchText();
      expect(await countOpen(server)).toBeLessThan(5);
    });

    test("is not confused with others by two hundred simultaneous requests", async () => {
      serve(async (connection) => {
        for (let got = await connection.request(); got !== null; got = await connection.request()) {
          await connection.write(`HTTP/1.1 200 OK\r\ncontent-length: ${got.line.length}\r\n\r\n${got.line}`);
        }
      });
      const paths = Array.from({ length: 200 }, (_, i) => `/${i}`);
      const texts = await Promise.all(paths.map((path) => fetchText(path)));
      expect(texts).toEqual(paths.map((path) => `GET ${path} HTTP/1.1`));
    });
  });

  describe(`${subject.name}: a failure`, () => {
    test("to connect is connect_failed", async () => {
      transport = subject.create({ clock: systemClock });
      const { response } = transport.open(requestTo(`http://127.0.0.1:${findFreePort()}`));
      expect(await kindOf(response)).toBe("connect_failed");
    });

    test.each([
      ["a reset without an answer", (connection: RawConnection) => connection.reset()],
      ["a close without an answer", (connection: RawConnection) => connection.end()],
    ])("caused by %s is reset", async (_, stop) => {
      serve(async (connection) => {
        await connection.request();
        stop(connection);
      });
      expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("reset");
    });

    test("within the head is reset", async () => {
      serve(answeringOnce("HTTP/1.1 200 OK\r\ncontent-le"));
      expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("reset");
    });

    test.each([
      ["a body with a content-length", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"],
      ["a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhello"],
      ["several chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    ])("within %s is truncated", async (_, answer) => {
      serve(answeringOnce(answer));
      const response = await transport.open(requestTo(server.origin)).response;
      expect(await kindOf(readAll(response))).toBe("truncated");
      expect(await kindOf(response.read())).toBe("truncated");
    });

    test.each([
      ["another protocol", "SSH-2.0 hello\r\n\r\n"],
      ["no status", "HTTP/1.1 OK\r\ncontent-length: 0\r\n\r\n"],
      ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok!"],
      ["an invalid length", "HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok"],
    ])("caused by %s is protocol", async (_, answer) => {
      serve(answering(answer));
      expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("protocol");
    });

    test("caused by a malformed chunk is protocol", async () => {
      serve(answering("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"));
      const response = await transport.open(requestTo(server.origin)).response;
      expect(await kindOf(readAll(response))).toBe("protocol");
    });
  });

  describe(`${subject.name}: a compressed answer`, () => {
    const TEXT = "data: one\n\n".repeat(30_000);
    const head = (coding: string, more = "connection: close") =>
      `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\n${more}\r\n\r\n`;

    async function open(coding: string, body: Uint8Array): Promise<UpstreamResponse> {
      serve(async (connection) => {
        while ((await connection.request()) !== null) {
          await connection.write(head(coding, `content-length: ${body.length}`));
          await connection.write(body);
        }
      });
      return transport.open(requestTo(server.origin)).response;
    }

    test.each<[string, (text: string) => Uint8Array]>([
      ["gzip", gzipSync],
      ["x-gzip", gzipSync],
      ["GZIP", gzipSync],
      ["deflate", deflateSync],
      ["deflate", deflateRawSync],
      ["br", brotliCompressSync],
      ["zstd", zstdCompressSync],
    ])("in %s is decompressed, and its connection is reused", async (coding, pack) => {
      const response = await open(coding, pack(TEXT));
      expect(await readText(response)).toBe(TEXT);
      await restConnections();
      expect(await fetchText()).toBe(TEXT);
      expect(server.connections.length).toBe(subject.reusesConnections ? 1 : 2);
    });

    test.each<[string, () => ReturnType<typeof createGzip>]>([
      ["gzip", createGzip],
      ["deflate", createDeflate],
      ["deflate", createDeflateRaw],
      ["br", createBrotliCompress],
      ["zstd", createZstdCompress],
    ])("in %s that is flushed in pieces is read in pieces", async (coding, createEncoder) => {
      const packing = startPacking(createEncoder());
      const goOn = Promise.withResolvers<void>();
      serve(async (connection) => {
        await connection.request();
        await connection.write(head(coding));
        await connection.write(await packing.part("data: one\n\n"));
        await goOn.promise;
        await connection.write(await packing.part("data: two\n\n"));
        await connection.write(await packing.end());
        connection.end();
      });
      const response = await transport.open(requestTo(server.origin)).response;
      expect(Buffer.from((await response.read())!).toString()).toBe("data: one\n\n");
      goOn.resolve();
      expect(await readText(response)).toBe("data: two\n\n");
    });

    test("without bytes is empty", async () => {
      expect(await readText(await open("gzip", new Uint8Array()))).toBe("");
    });

    test("with surplus bytes after its end is complete without them", async () => {
      const behind = Buffer.concat([gzipSync(TEXT), Buffer.alloc(200_000)]);
      expect(await readText(await open("gzip", behind))).toBe(TEXT);
    });

    test("that is read in part is decompressed in part", async () => {
      const response = await open("gzip", gzipSync(Buffer.alloc(64 * 1024 * 1024)));
      expect((await response.read())!.length).toBeLessThanOrEqual(128 * 1024);
      await settleLoop();
      expect(response.bufferedBytes?.() ?? 0).toBeLessThanOrEqual(256 * 1024);
    });

    test("that ends early is truncated", async () => {
      const whole = gzipSync(TEXT);
      expect(await kindOf(readAll(await open("gzip", whole.subarray(0, whole.length - 9))))).toBe(
        "truncated",
      );
    });

    test.each([["gzip"], ["deflate"], ["br"], ["zstd"]])(
      "that is not %s, as its header says, is encoding",
      async (coding) => {
        const response = await open(coding, Buffer.from('{"text": "nothing here is compressed"}'));
        expect(await kindOf(readAll(response))).toBe("encoding");
      },
    );

    test.each([["compress"], ["gzip, br"], ["constructor"]])(
      "in the unknown coding %s is encoding, with its name",
      async (coding) => {
        const response = await open(coding, gzipSync(TEXT));
        expect(await kindOf(response.read())).toBe("encoding");
        await expect(response.read()).rejects.toThrow(JSON.stringify(coding));
      },
    );

    test("in zstd with a window above 8 MB is encoding", async () => {
      const params = { [constants.ZSTD_c_windowLog]: 24 };
      const packed = zstdCompressSync(Buffer.alloc(32 * 1024 * 1024, TEXT), { params });
      expect(await kindOf(readAll(await open("zstd", packed)))).toBe("encoding");
    });

    test("that is cancelled while it is read closes its connection", async () => {
      const packing = startPacking(createGzip());
      serve(async (connection) => {
        await connection.request();
        await connection.write(head("gzip"));
        await connection.write(await packing.part(TEXT));
      });
      const exchange = transport.open(requestTo(server.origin));
      const response = await exchange.response;
      await response.read();
      exchange.cancel();
      expect(await kindOf(readAll(response))).toBe("cancelled");
      await server.connections[0]!.closed;
    });
  });

  describe(`${subject.name}: cancel`, () => {
    test("before the head closes the connection", async () => {
      const asked = Promise.withResolvers<RawConnection>();
      serve(async (connection) => {
        await connection.request();
        asked.resolve(connection);
      });
      const exchange = transport.open(requestTo(server.origin));
      const connection = await asked.promise;
      exchange.cancel();
      exchange.cancel();
      expect(await kindOf(exchange.response)).toBe("cancelled");
      await expectSoon(connection.closed);
    });

    test("within the body closes the connection and rejects pending and later reads", async () => {
      serve(async (connection) => {
        await connection.request();
        await connection.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello");
      });
      const exchange = transport.open(requestTo(server.origin));
      const response = await exchange.response;
      await response.read();
      const pending = kindOf(response.read());
      exchange.cancel();
      expect(await pending).toBe("cancelled");
      expect(await kindOf(response.read())).toBe("cancelled");
      await expectSoon(server.connections[0]!.closed);
    });

    test("while connecting leaves no connection", async () => {
      serve(answering(OK));
      const exchange = transport.open(requestTo(server.origin));
      exchange.cancel();
      expect(await kindOf(exchange.response)).toBe("cancelled");
      expect(await fetchText()).toBe("ok");
      if (server.connections.length > 1) await server.connections[0]!.closed;
    });

    test("without a handler of its rejection is not reported", async () => {
      serve(answering(""));
      const reported: unknown[] = [];
      const report = (reason: unknown) => void reported.push(reason);
      process.on("unhandledRejection", report);
      transport.open(requestTo(server.origin)).cancel();
      await settleLoop();
      process.off("unhandledRejection", report);
      expect(reported).toEqual([]);
    });
  });

  describe(`${subject.name}: TLS`, () => {
    function serveTls(certificate: "local" | "elsewhere", name: string, ca: string | undefined): void {
      server = startRawServer(answering(OK), { name, tls: certificates[certificate] });
      transport = subject.create({ clock: systemClock, ...(ca !== undefined && { ca }) });
    }

    test.each(["localhost", "127.0.0.1"])("with a valid certificate for %s succeeds", async (name) => {
      serveTls("local", name, certificates.ca);
      expect(await fetchText()).toBe("ok");
      expect(await fetchText()).toBe("ok");
      expect(server.connections.length).toBe(subject.reusesConnections ? 1 : 2);
    });

    test("with an untrusted root is tls_failed", async () => {
      serveTls("local", "localhost", undefined);
      expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("tls_failed");
    });

    test.each(["localhost", "127.0.0.1"])(
      "with another host's certificate on %s is tls_failed",
      async (name) => {
        serveTls("elsewhere", name, certificates.ca);
        expect(await kindOf(transport.open(requestTo(server.origin)).response)).toBe("tls_failed");
      },
    );

    test("with a server that does not speak TLS is tls_failed", async () => {
      serve(async (connection) => {
        await connection.readable();
        await connection.write("HTTP/1.1 400 Bad Request\r\n\r\n");
      });
      const url = server.origin.replace("http:", "https:");
      expect(await kindOf(transport.open(requestTo(url)).response)).toBe("tls_failed");
    });

    test("transfers 5 MB in both directions", async () => {
      const body = new Uint8Array(5_000_000).map((_, i) => i * 31);
      server = startRawServer(
        async (connection) => {
          const request = await connection.request();
          await connection.write(`HTTP/1.1 200 OK\r\ncontent-length: ${request!.body.length}\r\n\r\n`);
          await connection.write(request!.body);
        },
        { tls: certificates.local },
      );
      transport = subject.create({ clock: systemClock, ca: certificates.ca });
      const request = requestTo(server.origin, { method: "POST", body });
      const echoed = await readAll(await transport.open(request).response);
      expect(Bun.hash(echoed)).toBe(Bun.hash(body));
    });
  });
}

/** Waits until the event loop is idle, so that everything on local sockets has arrived. */
export async function settleLoop(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
}
