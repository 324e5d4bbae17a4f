import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ClosingQuotes } from "../../../src/wire/json/closing-quotes.ts";
import { closingQuote, fields, items, LEAF, scanCounting } from "../../../src/wire/json/scan.ts";
import { shareOf } from "../../support/long-run.ts";

/** The bytes that are read at once, and the bytes that are compared at once. */
const CHUNK_BYTES = 16_384;
const BLOCK_BYTES = 64;
const SHAPE = fields({ a: fields({ b: LEAF }), list: items(fields({ b: LEAF })) });

function open(text: string): ClosingQuotes {
  const quotes = ClosingQuotes.open(Buffer.from(text, "latin1"));
  if (quotes === null) throw new Error("this machine does not run the WebAssembly of src/wire/json");
  return quotes;
}

function takeAll(text: string): number[] {
  const quotes = open(text);
  const found: number[] = [];
  for (let quote = quotes.take(); quote >= 0; quote = quotes.take()) found.push(quote);
  return found;
}

/** The same by searching. */
function searchAll(text: string): number[] {
  const found: number[] = [];
  for (let opening = text.indexOf('"'); opening >= 0; opening = text.indexOf('"', opening)) {
    const closing = closingQuote(text, opening + 1);
    if (closing < 0) break;
    found.push(closing);
    opening = closing + 1;
  }
  return found;
}

/** What a scan returns or throws. */
function scan(text: string, bytes: Buffer | null): unknown {
  try {
    const { root, values, nodes, marks, skipsContainers } = scanCounting(text, SHAPE, 1_000, bytes);
    return { root, values, nodes, marks, skipsContainers };
  } catch (error) {
    return String(error);
  }
}

const strings = fc
  .array(fc.constantFrom('\\"', "\\\\", "\\n", "a", "é", "[{,:}]", "word ".repeat(9)), { maxLength: 60 })
  .map((pieces) => `"${pieces.join("")}"`);
/** Brings what follows to a boundary of blocks or chunks, or near it. */
const padding = fc
  .tuple(fc.constantFrom(0, BLOCK_BYTES, CHUNK_BYTES), fc.nat(BLOCK_BYTES))
  .map(([before, less]) => " ".repeat(Math.max(before - less, 0)));

describe("closing quotes", () => {
  test("are found where a search finds them, whatever the strings are and wherever they stand", () => {
    fc.assert(
      fc.property(padding, fc.array(strings, { maxLength: 12 }), (blanks, list) => {
        const text = `${blanks}[${list.join(",")}]`;
        expect(takeAll(text)).toEqual(searchAll(text));
      }),
      { numRuns: shareOf(2_000, 1 / 5) },
    );
  });

  test("are found behind a run of backslashes of any length, across the boundaries of blocks and chunks", () => {
    for (const boundary of [2 * BLOCK_BYTES, CHUNK_BYTES]) {
      for (let run = 0; run < 140; run++) {
        const text = `${" ".repeat(boundary - 70)}"${"\\".repeat(run)}" "x"`;
        expect(takeAll(text)).toEqual(searchAll(text));
      }
    }
  });

  test("are found in a text of several chunks that has as many strings as fit", () => {
    const text = '""'.repeat(CHUNK_BYTES);
    expect(takeAll(text)).toEqual(searchAll(text));
    expect(takeAll(text).length).toBe(CHUNK_BYTES);
  });

  test("are none where a string is not closed, and where there is no text", () => {
    expect(takeAll('"a')).toEqual([]);
    expect(takeAll(`"${"a".repeat(3 * CHUNK_BYTES)}`)).toEqual([]);
    expect(takeAll("")).toEqual([]);
  });

  test("belong to the text that was opened last, even if one before it was not read to its end", () => {
    const unread = open('"a\\');
    expect(unread.take()).toBe(-1);
    expect(takeAll('"b"')).toEqual([2]);
  });
});

describe("a scan with its bytes", () => {
  test("returns and throws what a scan without them does, for JSON and for text that is nearly JSON", () => {
    const value = fc.dictionary(
      fc.constantFrom("a", "b", "list", 'a "name"', "\\"),
      fc.jsonValue({ stringUnit: "grapheme", maxDepth: 3 }),
    );
    fc.assert(
      fc.property(
        value,
        fc.nat(),
        fc.constantFrom("", '"', "\\", "\\\\", "{", "]", ","),
        (given, at, insert) => {
          const whole = Buffer.from(JSON.stringify(given), "utf8").toString("latin1");
          const place = at % (whole.length + 1);
          const text = whole.slice(0, place) + insert + whole.slice(place);
          expect(scan(text, Buffer.from(text, "latin1"))).toEqual(scan(text, null));
        },
      ),
      { numRuns: shareOf(5_000, 1 / 10) },
    );
  });

  test("rejects a backslash outside of a string, which would hide a quote from it", () => {
    const text = '{"skipped":{\\"a":1},"a":{"b":2}}';
    expect(scan(text, null)).toContain("a backslash outside of a string at byte 12");
    expect(scan(text, Buffer.from(text))).toEqual(scan(text, null));
  });
});
