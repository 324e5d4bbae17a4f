import { crc32 } from "node:zlib";

/** Encodes a frame of the AWS event stream as Latin-1 text. Its headers are strings. */
export function encodeFrame(headers: Readonly<Record<string, string>>, payload: string): string {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)));
  const body = Buffer.from(payload, "utf8");
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const unsigned = Buffer.concat([prelude, head, body]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(unsigned));
  return Buffer.concat([unsigned, crc]).toString("latin1");
}

function encodeHeader(name: string, value: string): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    size,
    Buffer.from(value),
  ]);
}

/** Encodes an event of ConverseStream. */
export function encodeEvent(type: string, body: unknown): string {
  const headers = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" };
  return encodeFrame(headers, JSON.stringify(body));
}

/** Encodes an exception, which replaces an event. */
export function encodeException(type: string, body: unknown): string {
  const headers = {
    ":message-type": "exception",
    ":exception-type": type,
    ":content-type": "application/json",
  };
  return encodeFrame(headers, JSON.stringify(body));
}

/** Encodes events, one per line, as in the recordings: each is an object whose only key is its type. */
export function encodeLines(lines: string): string {
  return lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [type, body] = Object.entries(JSON.parse(line) as Record<string, unknown>)[0] as [
        string,
        unknown,
      ];
      return encodeEvent(type, body);
    })
    .join("");
}
