import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findByteRate, findDuration } from "../../../src/wire/forwarded/audio-duration.ts";
import { makeWav } from "../../support/clients/wav.ts";

/** Returns an MP3 of frames with 128 kbit in a second, 44,100 samples, MPEG 1. `start` precedes them. */
function makeMp3(frames: number, start: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9000);
  return Buffer.concat([start, ...Array.from({ length: frames }, () => frame)]);
}

/** Returns an ID3v2 tag with `size` bytes after its head. */
function makeTag(size: number): Buffer {
  const tag = Buffer.alloc(10 + size);
  tag.write("ID3", 0, "latin1");
  tag.writeUInt8(size >> 7, 8);
  tag.writeUInt8(size & 0x7f, 9);
  return tag;
}

function box(name: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(name, 4, "latin1");
  return Buffer.concat([head, body]);
}

/** Returns an MP4 whose movie header says that it has 90 of 30 units in a second. */
function makeMp4(): Buffer {
  const header = Buffer.alloc(100);
  header.writeUInt32BE(30, 12);
  header.writeUInt32BE(90, 16);
  return Buffer.concat([
    box("ftyp", Buffer.from("M4A ")),
    box("mdat", Buffer.alloc(50)),
    box("moov", Buffer.concat([box("free", Buffer.alloc(4)), box("mvhd", header)])),
  ]);
}

function makeFlac(): Buffer {
  const file = Buffer.alloc(60);
  file.write("fLaC", 0, "latin1");
  // 44,100 samples in a second, two channels, 16 bits.
  file.writeUInt32BE((44_100 << 12) >>> 0, 18);
  file.writeUInt32BE(88_200, 22);
  return file;
}

function makeOpus(): Buffer {
  const page = (samples: bigint, body: string) => {
    const head = Buffer.alloc(28);
    head.write("OggS", 0, "latin1");
    head.writeBigInt64LE(samples, 6);
    return Buffer.concat([head, Buffer.from(body, "latin1")]);
  };
  return Buffer.concat([page(0n, "OpusHead"), page(240_000n, "audio")]);
}

describe("the duration of a recording", () => {
  test.each([
    ["a WAV file", makeWav(3), 3],
    ["a FLAC file", makeFlac(), 2],
    ["an Ogg file with Opus", makeOpus(), 5],
    ["an MP4 file", makeMp4(), 3],
  ])("is read from the header of %s", (_, file, seconds) => {
    expect(findDuration(file)).toBeCloseTo(seconds, 5);
  });

  test("of an MP3 with a constant rate follows from its size, with or without a tag", () => {
    expect(findDuration(makeMp3(100))).toBeCloseTo((100 * 417) / 16_000, 5);
    expect(findDuration(makeMp3(100, makeTag(300)))).toBeCloseTo((100 * 417) / 16_000, 5);
  });

  test("of an MP3 with a variable rate follows from the number of its frames", () => {
    const file = makeMp3(100);
    file.write("Xing", 36, "latin1");
    file.writeUInt32BE(1, 40);
    file.writeUInt32BE(1_000, 44);
    expect(findDuration(file)).toBeCloseTo((1_000 * 1_152) / 44_100, 5);
  });

  test("of a WAV that was streamed, and whose header states the largest size, follows from its size", () => {
    const file = makeWav(3);
    file.writeUInt32LE(0xffffffff, 40);
    expect(findDuration(file)).toBeCloseTo(3, 5);
  });

  test.each([
    ["an empty file", Buffer.alloc(0)],
    ["zeros", Buffer.alloc(5_000)],
    ["a text", Buffer.from("This is no audio. ".repeat(100))],
    ["a WAV without a format", Buffer.from("RIFF\0\0\0\0WAVE")],
    [
      "an MP4 whose box is smaller than its head",
      Buffer.concat([box("ftyp", Buffer.alloc(4)), Buffer.alloc(40, 1)]),
    ],
  ])("of %s is unknown", (_, file) => {
    expect(findDuration(file)).toBeNull();
  });

  test("is a positive number or unknown for any bytes after the mark of a format", () => {
    const marks = ["RIFF\0\0\0\0WAVEfmt ", "fLaC", "OggS", "\0\0\0\x18ftyp", "ID3", "\xff\xfb"];
    fc.assert(
      fc.property(fc.constantFrom(...marks), fc.uint8Array({ maxLength: 300 }), (mark, rest) => {
        const found = findDuration(Buffer.concat([Buffer.from(mark, "latin1"), rest]));
        expect(found === null || (found > 0 && Number.isFinite(found))).toBe(true);
      }),
    );
  });
});

test("the bytes of a second are read from the first bytes of WAV and MP3", () => {
  expect(findByteRate(makeWav(3).subarray(0, 100))).toBe(8_000);
  expect(findByteRate(makeMp3(2))).toBe(16_000);
  expect(findByteRate(Buffer.from("OggS"))).toBeNull();
});
