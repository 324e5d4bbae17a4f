import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const BOUND = 64 * 1024;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: `limits: { body_bytes: ${BOUND} }` });
});
afterAll(() => gateway.stop());

const TEXT = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Grüße 🦉" }] });

/** Returns a valid request of exactly `bytes` bytes. */
function requestOf(bytes: number): string {
  const empty = JSON.stringify({
    model: "sandbox/echo",
    max_tokens: 1,
    messages: [{ role: "user", content: "" }],
  });
  return empty.replace('"content":""', `"content":"${"x".repeat(bytes - empty.length)}"`);
}

function post(body: NonNullable<RequestInit["body"]>, headers: Record<string, string> = {}) {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
    body,
  });
}

async function expectError(response: Response, status: number, type: string): Promise<string> {
  const { error } = (await response.json()) as { error: { type: string; code: number; message: string } };
  expect([response.status, error.type, error.code]).toEqual([status, type, status]);
  expect(response.headers.get("x-request-id")).toStartWith("req_");
  return error.message;
}

/** Sends a request head over a socket; `text()` is what has been received so far. */
function dial(head: string): { socket: Socket; text: () => string; closed: Promise<void> } {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (piece) => {
    text += piece;
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n${head}\r\n\r\n`,
  );
  return { socket, text: () => text, closed };
}

describe("the size of a body", () => {
  test("a body of exactly the maximum size is accepted, and one byte more is rejected with 413", async () => {
    expect((await post(requestOf(BOUND))).status).toBe(200);
    await expectError(await post(requestOf(BOUND + 1)), 413, "payload_too_large");
  });

  test("the maximum also applies to a body of unknown length", async () => {
    const chunked = (bytes: number) => post(new Blob([requestOf(bytes)]).stream());
    expect((await chunked(BOUND)).status).toBe(200);
    await expectError(await chunked(BOUND + 1), 413, "payload_too_large");
  });

  test("a too large content-length is rejected before the first byte of the body", async () => {
    const { socket, text } = dial(`Content-Length: ${BOUND + 1}`);
    await eventually("the 413", () => text().includes("payload_too_large"));
    expect(text()).toStartWith("HTTP/1.1 413 ");
    socket.destroy();
  });

  test("a chunked body is rejected as soon as it exceeds the maximum, before its end", async () => {
    const { socket, text } = dial("Transfer-Encoding: chunked");
    const size = 8 * 1024;
    const piece = Buffer.concat([
      Buffer.from(`${size.toString(16)}\r\n`),
      Buffer.alloc(size, 32),
      Buffer.from("\r\n"),
    ]);
    // One chunk more than the maximum, and no end: a server that reads on would wait forever.
    for (let sent = 0; sent <= BOUND; sent += size) socket.write(piece);
    await eventually("the 413", () => text().includes("payload_too_large"));
    expect(text()).toStartWith("HTTP/1.1 413 ");
    socket.destroy();
  });

  test("a body that the client keeps sending after the rejection does not accumulate in memory", async () => {
    const { socket, text, closed } = dial("Transfer-Encoding: chunked");
    const size = 1024 * 1024;
    const piece = Buffer.concat([
      Buffer.from(`${size.toString(16)}\r\n`),
      Buffer.alloc(size, 32),
      Buffer.from("\r\n"),
    ]);
    const before = process.memoryUsage().rss;
    for (let sent = 0; sent < 100 && !socket.destroyed; sent++) {
      const written = new Promise<void>((resolve) => socket.write(piece, () => resolve()));
      await Promise.race([written, closed]);
    }
    await eventually("the 413", () => text().includes("payload_too_large"));
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
    socket.destroy();
  });

  test("the maximum applies after decompression, and a decompression bomb is rejected without being unpacked", async () => {
    const bomb = Buffer.alloc(20_000_000, 32);
    for (const [encoding, packed] of [
      ["gzip", gzipSync(bomb, { level: 9 })],
      ["deflate", deflateSync(bomb, { level: 9 })],
      ["br", brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })],
      ["zstd", zstdCompressSync(bomb)],
    ] as const) {
      expect(packed.length).toBeLessThan(BOUND);
      const before = process.memoryUsage().rss;
      await expectError(await post(packed, { "content-encoding": encoding }), 413, "payload_too_large");
      expect(process.memoryUsage().rss - before).toBeLessThan(15_000_000);
    }
  });

  test("a compressed body is accepted if it decompresses to exactly the maximum size", async () => {
    const pack = (bytes: number) => post(gzipSync(requestOf(bytes)), { "content-encoding": "gzip" });
    expect((await pack(BOUND)).status).toBe(200);
    await expectError(await pack(BOUND + 1), 413, "payload_too_large");
  });
});

describe("the encoding of a body", () => {
  test.each([
    ["gzip", gzipSync(TEXT)],
    ["GZip", gzipSync(TEXT)],
    ["x-gzip", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["deflate", deflateRawSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["zstd", zstdCompressSync(TEXT)],
    ["identity", Buffer.from(TEXT)],
  ])("the content-encoding %s is decoded", async (encoding, body) => {
    const response = await post(body, { "content-encoding": encoding });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("You said: Grüße 🦉");
  });

  test.each(["gzip, br", "compress", "__proto__", "constructor"])(
    "the content-encoding %s is unknown and rejected with 415",
    async (encoding) => {
      const response = await post(TEXT, { "content-encoding": encoding });
      expect(await expectError(response, 415, "unsupported_media_type")).toContain("gzip, deflate, br, zstd");
    },
  );

  test.each([
    ["gzip", Buffer.from(TEXT)],
    ["gzip", gzipSync(TEXT).subarray(0, 30)],
    ["gzip", Buffer.alloc(0)],
    ["br", Buffer.from(TEXT)],
    ["br", brotliCompressSync(TEXT).subarray(0, 30)],
    ["zstd", Buffer.from(TEXT)],
    ["zstd", zstdCompressSync(TEXT).subarray(0, 30)],
  ])(
    "a body that is not valid %s, although its content-encoding says so, is rejected with 400",
    async (encoding, body) => {
      await expectError(await post(body, { "content-encoding": encoding }), 400, "invalid_request");
    },
  );
});

describe("the type of a body", () => {
  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/vnd.api+json",
  ])("the content-type %s is read as JSON", async (type) => {
    expect((await post(TEXT, { "content-type": type })).status).toBe(200);
  });

  test("a request without a content-type is read as JSON", async () => {
    const bare = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
      body: Buffer.from(TEXT),
    });
    expect(bare.status).toBe(200);
  });

  test.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "text/html, application/json",
  ])("the content-type %s is rejected with 415", async (type) => {
    const response = await post(TEXT, { "content-type": type });
    expect(await expectError(response, 415, "unsupported_media_type")).toContain("application/json");
  });
});

describe("a body that breaks off", () => {
  test.each([
    ["with a content-length", "Content-Length: 1000", '{"model":'],
    ["in chunks", "Transfer-Encoding: chunked", '9\r\n{"model":\r\n'],
    ["within a chunk", "Transfer-Encoding: chunked", 'ff\r\n{"model":'],
  ])("%s is logged as a client error, and the gateway keeps serving", async (_name, head, begun) => {
    const before = gateway.log.length;
    const { socket, closed } = dial(head);
    socket.end(begun);
    await closed;
    const line = await eventually("the request's log line", () => gateway.log[before]);
    expect([line.level, line.event, line.fields["status"]]).toEqual(["info", "request", 400]);
    expect((await post(TEXT)).status).toBe(200);
    expect(gateway.log).toHaveLength(before + 2);
  });
});
