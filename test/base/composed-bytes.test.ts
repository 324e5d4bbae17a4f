import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Bytes,
  ComposedBytes,
  copyBytes,
  enclose,
  joinIntoOne,
  ownBytesOf,
  piecesOf,
  spliceBytes,
} from "../../src/base/text/composed-bytes.ts";

/** Short and long, because they are copied in different ways. */
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const text = fc.oneof(
  fc.string({ maxLength: 60, unit: "grapheme" }),
  fc.constantFrom("", "☃", "x".repeat(90)),
);
const range = fc.tuple(fc.nat(200), fc.nat(200));

/** Expects that composed bytes are read as these bytes in every way. */
function expectSame(composed: Bytes, expected: Buffer): void {
  const target = Buffer.alloc(expected.length + 4, 0x2e);
  expect(composed.length).toBe(expected.length);
  expect(Buffer.from(joinIntoOne(composed)).equals(expected)).toBe(true);
  expect(Buffer.concat(piecesOf(composed)).equals(expected)).toBe(true);
  expect(copyBytes(composed, target, 2)).toBe(2 + expected.length);
  expect(target.equals(Buffer.concat([Buffer.from(".."), expected, Buffer.from("..")]))).toBe(true);
}

test("bytes composed of parts of a source and of texts are those of all of them joined", () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.oneof(text, range), { maxLength: 12 }), (source, parts) => {
      const pieces = parts.map((part) => {
        if (typeof part === "string") return part;
        const [a, b] = part.map((at) => Math.min(at, source.length)) as [number, number];
        return { start: Math.min(a, b), end: Math.max(a, b) };
      });
      const expected = pieces.map((piece) =>
        typeof piece === "string" ? Buffer.from(piece) : source.subarray(piece.start, piece.end),
      );
      const composed = ComposedBytes.of(source, pieces);
      expectSame(composed, Buffer.concat(expected));
      const texts = pieces.filter((piece) => typeof piece === "string");
      expect(ownBytesOf(composed)).toBe(Buffer.byteLength(texts.join("")));
    }),
  );
});

test("spliced bytes are the source with each edit made in turn, and the source does not change", () => {
  fc.assert(
    fc.property(
      bytes,
      fc.array(fc.tuple(fc.nat(40), fc.nat(40), text), { maxLength: 8 }),
      (source, edits) => {
        const before = Buffer.from(source);
        const expected: Buffer[] = [];
        let from = 0;
        const splices = edits.map(([skipped, replaced, insert]) => {
          const start = Math.min(from + skipped, source.length);
          const end = Math.min(start + replaced, source.length);
          expected.push(before.subarray(from, start), Buffer.from(insert));
          from = end;
          return { start, end, insert };
        });
        expectSame(spliceBytes(source, splices), Buffer.concat([...expected, before.subarray(from)]));
        expect(source.equals(before)).toBe(true);
      },
    ),
  );
});

test("enclosed bytes stand between those before and behind them", () => {
  fc.assert(
    fc.property(bytes, bytes, bytes, bytes, fc.nat(200), (source, begin, printed, end, cut) => {
      const at = Math.min(cut, printed.length);
      const interleaved = { printed, cuts: [at, 0, source.length] };
      const inner = new ComposedBytes(source, interleaved).join();
      expectSame(
        new ComposedBytes(source, enclose(begin, interleaved, end)),
        Buffer.concat([begin, inner, end]),
      );
    }),
  );
});
