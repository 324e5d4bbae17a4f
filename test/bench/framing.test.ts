import { describe, expect, test } from "bun:test";
import { findHeader, MessageReader } from "../../bench/load/framing.ts";

const BY_LENGTH = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello\r\n\r\nyou";
const BY_CHUNKS =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=1\r\n0123456789\r\n0\r\nx-end: 1\r\n\r\n";
const EMPTY = "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n";
const CASES = [
  { name: "a content-length", bytes: BY_LENGTH, body: "hello\r\n\r\nyou" },
  { name: "chunks with an extension and a trailer", bytes: BY_CHUNKS, body: "hello0123456789" },
  { name: "no body", bytes: EMPTY, body: "" },
];

function readBodies(pieces: readonly Buffer[]): string[] {
  const bodies: string[] = [];
  const reader = new MessageReader({ messageEnded: () => bodies.push(reader.body.toString()) }, true);
  for (const piece of pieces) reader.push(piece);
  return bodies;
}

describe("the message reader of the benchmarks", () => {
  test.each(CASES)("reads a message with $name however it is split", ({ bytes, body }) => {
    const whole = Buffer.from(bytes);
    for (let cut = 0; cut <= whole.length; cut++) {
      expect(readBodies([whole.subarray(0, cut), whole.subarray(cut)])).toEqual([body]);
    }
  });

  test("reads consecutive messages byte by byte", () => {
    const whole = Buffer.from(CASES.map(({ bytes }) => bytes).join(""));
    expect(readBodies(Array.from(whole, (byte) => Buffer.from([byte])))).toEqual(
      CASES.map(({ body }) => body),
    );
  });

  test("rejects an invalid chunk size", () => {
    const bytes = Buffer.from("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n");
    expect(() => readBodies([bytes])).toThrow("not a chunk size");
  });

  test("finds a header in any case", () => {
    expect(findHeader("HTTP/1.1 200 OK\r\nContent-Type:  text/plain", "content-type")).toBe("text/plain");
    expect(findHeader("HTTP/1.1 200 OK\r\nx-content-type: a", "content-type")).toBeNull();
  });
});
