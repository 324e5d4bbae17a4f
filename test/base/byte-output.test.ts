import { expect, test } from "bun:test";
import fc from "fast-check";
import { ByteOutput } from "../../src/base/text/byte-output.ts";

test("a byte output returns what was appended since the last take, however large it is", () => {
  const output = new ByteOutput();
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 100 }),
    fc.integer({ min: 1, max: 300_000 }).map((length) => new Uint8Array(length).fill(length % 251)),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(piece, fc.constantFrom("all", "range", "text")), { maxLength: 8 }),
      (pieces) => {
        const expected: Uint8Array[] = [];
        for (const [bytes, way] of pieces) {
          if (way === "all") output.append(bytes);
          else if (way === "range")
            output.appendRange(Buffer.concat([Buffer.from("ab"), bytes]), 2, 2 + bytes.length);
          else output.appendLatin1(Buffer.from(bytes).toString("latin1"));
          expected.push(bytes);
        }
        const taken = output.take();
        expect(taken.equals(Buffer.concat(expected))).toBe(true);
        output.appendLatin1("next");
        expect(taken.equals(Buffer.concat(expected))).toBe(true);
        expect(output.take(3)).toHaveLength("next".length + 3);
        output.clear();
        expect(output.take()).toHaveLength(0);
      },
    ),
    { numRuns: 60 },
  );
});
