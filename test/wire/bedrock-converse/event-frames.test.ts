import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { type Frame, FrameSplitter } from "../../../src/wire/bedrock-converse/event-frames.ts";
import { encodeFrame } from "../../support/clients/event-frames.ts";

const MAX = 1_000;

function readAll(pieces: readonly string[]): { frames: Frame[]; problem: string | null } {
  const splitter = new FrameSplitter(MAX);
  const frames: Frame[] = [];
  for (const piece of pieces) {
    const { complete, problem } = splitter.push(piece);
    frames.push(...complete);
    if (problem !== null) return { frames, problem };
  }
  return { frames, problem: null };
}

function flipByte(text: string, at: number): string {
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

describe("AWS event stream frames", () => {
  test("the empty message of AWS's test vectors is read as a frame", () => {
    const bytes = Buffer.from("000000100000000005c248eb7d98c8ff", "hex").toString("latin1");
    expect(readAll([bytes])).toEqual({ frames: [{ headers: new Map(), payload: "" }], problem: null });
  });

  test("frames are the same however the stream is split", () => {
    const frame = fc.tuple(
      fc.dictionary(fc.stringMatching(/^[a-z:-]{1,12}$/), fc.string({ maxLength: 20 }), { maxKeys: 3 }),
      fc.string({ maxLength: 80, unit: "grapheme" }),
    );
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 4 }),
        fc.array(fc.nat(2_000), { maxLength: 8 }),
        (wanted, cuts) => {
          const text = wanted.map(([headers, payload]) => encodeFrame(headers, payload)).join("");
          const cutPositions = [
            ...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length]),
          ].sort((a, b) => a - b);
          const pieces = cutPositions.slice(1).map((end, at) => text.slice(cutPositions[at], end));
          const { frames, problem } = readAll(pieces);
          expect(problem).toBeNull();
          expect(
            frames.map(({ headers, payload }) => [
              Object.fromEntries(headers),
              Buffer.from(payload, "latin1").toString(),
            ]),
          ).toEqual(wanted.map(([headers, payload]) => [{ ...headers }, payload]));
        },
      ),
    );
  });

  test("headers that are not strings are ignored", () => {
    const values = [
      "\x00",
      "\x01",
      "\x02a",
      "\x03ab",
      "\x04abcd",
      "\x05abcdefgh",
      "\x06\x00\x02ab",
      "\x08abcdefgh",
      `\x09${"u".repeat(16)}`,
    ];
    const others = values.map((value) => `\x01x${value}`).join("");
    // The encoder writes the payload directly after the headers, so only the lengths separate them.
    const whole = encodeFrame({ kept: "yes" }, "");
    const headers = Buffer.from(others + whole.slice(12, -4), "latin1");
    expect(Object.fromEntries(readAll([frameOf(headers)]).frames[0]?.headers ?? [])).toEqual({ kept: "yes" });
  });

  test("a frame with any damaged byte is detected and not returned", () => {
    const text = encodeFrame({ ":event-type": "messageStop" }, '{"stopReason":"end_turn"}');
    for (let at = 0; at < text.length; at++) {
      const { frames, problem } = readAll([flipByte(text, at)]);
      expect(frames).toEqual([]);
      expect(problem).toBeString();
    }
  });

  test("a frame over the size limit is rejected by its length, before all of it has arrived", () => {
    const text = encodeFrame({}, "x".repeat(MAX));
    expect(readAll([text.slice(0, 12)]).problem).toBe(`a frame of over ${MAX} bytes`);
  });

  test("frames before a damaged one are returned", () => {
    const good = encodeFrame({}, "good");
    const { frames, problem } = readAll([good + flipByte(good, 3)]);
    expect(frames.map((frame) => frame.payload)).toEqual(["good"]);
    expect(problem).not.toBeNull();
  });

  test.each([
    ["an unknown type", "\x01x\x63"],
    ["a value that is cut off", "\x01x\x07\x00\x09ab"],
    ["a name that is cut off", "\x09x"],
  ])("a header with %s breaks the stream", (_, header) => {
    expect(readAll([frameOf(Buffer.from(header, "latin1"))]).problem).toContain("header");
  });
});

/** Encodes a frame with these headers and no payload. */
function frameOf(headers: Buffer): string {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(Buffer.concat([prelude, headers])));
  return Buffer.concat([prelude, headers, end]).toString("latin1");
}
