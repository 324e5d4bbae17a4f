import { describe, expect, test } from "bun:test";
import { findInText, type Match } from "../../../src/core/extensions/guardrails/find-in-text.ts";
import {
  compilePattern,
  createPatternFinder,
  type Pattern,
} from "../../../src/core/extensions/guardrails/find-patterns.ts";
import { createPiiFinder, PII_TYPES } from "../../../src/core/extensions/guardrails/find-pii.ts";
import {
  createPatternSearches,
  MAX_HELD_CHARS,
} from "../../../src/core/extensions/guardrails/search-patterns.ts";
import { createPiiSearches } from "../../../src/core/extensions/guardrails/search-pii.ts";
import type { StreamSearch } from "../../../src/core/extensions/guardrails/search-stream.ts";
import { createSeededRandom, type SeededRandom } from "../../support/seeded-random.ts";

const noPause = async () => {};

function compile(source: string): Pattern {
  return compilePattern(source) as Pattern;
}

interface Searched {
  readonly text: string;
  readonly matches: readonly Match[];
  /** What was returned for each piece, and at the end. */
  readonly returned: readonly string[];
}

/** Searches a text in pieces and joins what is returned. */
function search(searching: StreamSearch, pieces: readonly string[]): Searched {
  const matches: Match[] = [];
  const returned: string[] = [];
  let at = 0;
  for (const decided of [...pieces.map((piece) => () => searching.push(piece)), () => searching.end()]) {
    const { text, matches: found } = decided();
    for (const { start, end, kind } of found) matches.push({ start: at + start, end: at + end, kind });
    returned.push(text);
    at += text.length;
  }
  return { text: returned.join(""), matches, returned };
}

/** Splits a text at random places, also within characters of two units. */
function split(text: string, random: SeededRandom): string[] {
  const pieces: string[] = [];
  const longest = random.pick([1, 3, 8, 40, 1_000]);
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.below(longest);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

const WORDS = [
  ...[
    "bob@example.com",
    "a.b+c@mail.example.co.uk",
    "@",
    "x@y",
    "bob@",
    "@example.com",
    ".de",
    "bücher@müller.example",
  ],
  ...[
    "4111 1111 1111 1111",
    "4111111111111111",
    "4111 1111",
    "3782 822463 10005",
    "12345678901234567890",
    "411",
  ],
  ...[
    "DE89 3704 0044 0532 0130 00",
    "DE89370400440532013000",
    "GB82 WEST 1234 5698 7654 32",
    "DE89",
    "GB82 WEST",
  ],
  ...["123-45-6789", "123-45", "+49 (30) 1234-5678", "+49", "(415) 555-2671", "415-555-2671", "415", "555"],
  ...["203.0.113.7", "127.0.0.1", "1.2.3", "2001:db8:85a3::8a2e:370:7334", "::", "12:30", "beef:cafe:12:34"],
  ...[
    "hello",
    "Wörter",
    "東京都は大きい",
    "😀",
    "👩‍👩‍👧",
    "\\n",
    '{"a":"',
    "sk-abcde12345",
    "sk-",
    "aa",
    "aaa",
    "foo",
    "xyz",
    "xyzw",
  ],
  ...["BEGIN", "END", "start", "end", "line", "Project Falcon", "project"],
];
const BETWEEN = ["", "", " ", " ", " ", "  ", "\n", ", ", ".", "-", ":", "\t"];

function makeText(random: SeededRandom): string {
  let text = random.oneIn(4) ? "start" : "";
  for (let left = random.below(40); left >= 0; left--) text += random.pick(WORDS) + random.pick(BETWEEN);
  return random.oneIn(4) ? `${text}end` : text;
}

const PATTERNS = [
  "sk-[a-z0-9]{5,}",
  "(?i)\\bproject falcon\\b",
  "^start",
  "(?m)^line.*$",
  "end$",
  "a{2}",
  "(?s)BEGIN.*?END",
  "[^ ]*foo",
  "\\B-\\B",
  "x|xyz|xyzw",
  "[😀-😂] ",
  "東.",
];

describe("a search in a text that arrives in pieces", () => {
  test("finds the same personal data as in the whole text, however it is split", async () => {
    const find = createPiiFinder(PII_TYPES);
    const begin = createPiiSearches(PII_TYPES);
    const random = createSeededRandom(7);
    let found = 0;
    for (let round = 0; round < 1_000; round++) {
      const text = makeText(random);
      const expected = await findInText(text, find, noPause);
      const pieces = split(text, random);
      const { matches, text: returned } = search(begin(), pieces);
      expect({ returned, matches, pieces }).toEqual({ returned: text, matches: [...expected], pieces });
      found += matches.length;
    }
    expect(found).toBeGreaterThan(1_000);
  });

  for (const source of PATTERNS)
    test(`finds the same matches of ${source} as in the whole text, however it is split`, async () => {
      const patterns = [compile(source)];
      const find = createPatternFinder(patterns, "X");
      const begin = createPatternSearches(patterns, "X");
      const random = createSeededRandom(11);
      let found = 0;
      for (let round = 0; round < 300; round++) {
        const text = makeText(random);
        const expected = await findInText(text, find, noPause);
        const pieces = split(text, random);
        const { matches, text: returned } = search(begin(), pieces);
        expect({ returned, matches, pieces }).toEqual({ returned: text, matches: [...expected], pieces });
        found += matches.length;
      }
      expect(found).toBeGreaterThan(5);
    });

  test("finds the same matches of several patterns, however it is split", () => {
    const begin = createPatternSearches(PATTERNS.map(compile), "X");
    const random = createSeededRandom(13);
    for (let round = 0; round < 200; round++) {
      const text = makeText(random);
      const whole = search(begin(), [text]);
      const { matches, text: returned } = search(begin(), split(text, random));
      expect({ returned, matches }).toEqual({ returned: text, matches: whole.matches });
    }
  });

  test.each<[string, string]>([
    ["xyz", "x"],
    ["x", "xyz"],
  ])(
    "finds the longest of the matches that begin at one place, whichever pattern comes first: %s, %s",
    (one, other) => {
      const begin = createPatternSearches([one, other].map(compile), "X");
      for (const pieces of [["axyzb"], ["ax", "yz", "b"]])
        expect(search(begin(), pieces).matches).toEqual([{ start: 1, end: 4, kind: "X" }]);
    },
  );

  test.each([[["aa", "b\\b"]], [["aa|b\\b"]]])(
    "waits for what follows a match that may still be excluded, also directly behind another one: %p",
    (sources) => {
      const begin = createPatternSearches(sources.map(compile), "X");
      const first = { start: 0, end: 2, kind: "X" };
      for (const pieces of [["aabc"], ["aab", "c"], ["aa", "b", "c"]])
        expect(search(begin(), pieces).matches).toEqual([first]);
      for (const pieces of [["aab "], ["aab", " "], ["aab"]])
        expect(search(begin(), pieces).matches).toEqual([first, { start: 2, end: 3, kind: "X" }]);
    },
  );

  test("never splits a character of two units", () => {
    const random = createSeededRandom(17);
    for (const begin of [createPiiSearches(PII_TYPES), createPatternSearches([compile("😀+x")], "X")])
      for (let round = 0; round < 200; round++) {
        const text = `${"😀".repeat(random.below(90))}x`;
        for (const piece of search(begin(), split(text, random)).returned)
          expect(piece.isWellFormed()).toBe(true);
      }
  });

  test("returns ordinary text at once, and holds back only what may become a match", () => {
    const pii = createPiiSearches(PII_TYPES);
    expect(
      search(pii(), ["Hello ", "world, ", "how are you? ", "Call +49 30 ", "1234567", "!"]).returned,
    ).toEqual(["Hello ", "world, ", "how are you? ", "Call ", "", "+49 30 1234567!", ""]);
    const secrets = createPatternSearches([compile("sk-[a-z0-9]{5,}")], "X");
    expect(search(secrets(), ["task ", "as", "k sk", "-abcdef", "gh", " ok"]).returned).toEqual([
      "task ",
      "a",
      "sk ",
      "",
      "",
      "sk-abcdefgh ok",
      "",
    ]);
  });

  test("holds back no more than its bound, and gives the same result however the text is split", () => {
    const begin = createPatternSearches([compile("(?s)BEGIN.*?END"), compile("sk-[a-z0-9]+")], "X");
    const text = `BEGIN ${"x ".repeat(MAX_HELD_CHARS)}sk-${"a".repeat(2 * MAX_HELD_CHARS)} BEGIN 1 END`;
    const whole = search(begin(), [text]);
    expect(whole.text).toBe(text);
    expect(whole.matches.map(({ start, end }) => text.slice(start, end).length)).toEqual([
      MAX_HELD_CHARS + 1,
      11,
    ]);
    const random = createSeededRandom(19);
    for (let round = 0; round < 5; round++) {
      const pieces = split(text, random);
      const { returned, matches } = search(begin(), pieces);
      expect(matches).toEqual([...whole.matches]);
      let held = 0;
      for (const [index, piece] of pieces.entries()) {
        held += piece.length - (returned[index] as string).length;
        expect(held).toBeLessThanOrEqual(MAX_HELD_CHARS);
      }
    }
  });
});
