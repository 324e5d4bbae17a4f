import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventSplitter } from "../../../src/base/sse/split-events.ts";
import { growsLinearly, LARGER } from "../../growth/measure-growth.ts";

const TOO_LARGE: [string, string] = ["", "an event is too large"];

/** Returns the events of a stream that arrives in pieces, as [name, data]. */
function split(pieces: readonly string[], maxBytes = 1_000): [string, string][] {
  const splitter = new EventSplitter(maxBytes);
  const events = pieces.flatMap((piece) => splitter.push(piece));
  if (splitter.isTooLarge) return [TOO_LARGE];
  return [...events, ...splitter.end()].map(({ name, text, start, end }) => [name, text.slice(start, end)]);
}

describe("the event splitter", () => {
  test.each([
    ["data: one\n\ndata: two\n\n", ["one", "two"]],
    ["data:no space\n\n", ["no space"]],
    ["data:  two spaces\n\n", [" two spaces"]],
    ["data: one\r\n\r\ndata: two\r\n\r\n", ["one", "two"]],
    ["data: one\r\rdata: two\r\r", ["one", "two"]],
    [": comment\n\ndata: one\n\n: again\n\n", ["one"]],
    ["data: line one\ndata: line two\n\n", ["line one\nline two"]],
    ["id: 7\nretry: 10\ndata: one\n\n", ["one"]],
    ["\n\n\ndata: one\n\n\n\n", ["one"]],
    ["\u00ef\u00bb\u00bfdata: one\n\n", ["one"]],
    ["data: one\n\ndata: last without blank line", ["one", "last without blank line"]],
    ["data: one\n\ndata: last\n", ["one", "last"]],
    ["event: ping\n\ndata: one\n\n", ["one"]],
    ["data\n\n", [""]],
    ["", []],
  ])("reads %j", (text, expected) => {
    expect(split([text]).map(([, data]) => data)).toEqual(expected);
    expect(split([...text]).map(([, data]) => data)).toEqual(expected);
  });

  test("returns the name of an event", () => {
    expect(split(['event: error\ndata: {"x":1}\n\n'])).toEqual([["error", '{"x":1}']]);
    expect(split(["event:a\ndata:b\n\n"])).toEqual([["a", "b"]]);
  });

  test.each([
    ["event: a\ndata: b\ndata: c\n\n", ["a", "b\nc"]],
    ["data: b\nevent: a\n\n", ["a", "b"]],
    ["event: a\nevent: z\ndata: b\n\n", ["z", "b"]],
    ["event: a\nid: 1\ndata: b\n\n", ["a", "b"]],
    ["event: a\n: data: x\ndata: b", ["a", "b"]],
  ] as const)("returns the name of %j", (text, expected) => {
    expect(split([text])).toEqual([[...expected]]);
  });

  test("returns the same events however the stream is split", () => {
    const line = fc.constantFrom("data: a", "data:b", "data: ", ": c", "event: e", "data", "id: 1", "x");
    const stream = fc.array(fc.tuple(line, fc.constantFrom("\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\r\r")), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200)), (lines, places) => {
        const text = lines.flat().join("");
        const cuts = [0, ...places.filter((place) => place < text.length).sort((a, b) => a - b), text.length];
        const pieces = cuts.slice(1).map((cut, at) => text.slice(cuts[at], cut));
        expect(split(pieces)).toEqual(split([text]));
      }),
      { numRuns: 2_000 },
    );
  });

  test("rejects an event over its bound, and passes any number of small events", () => {
    expect(split(["data: ", "x".repeat(1_000)])).toEqual([TOO_LARGE]);
    expect(split(Array<string>(500).fill("data: 12345\n\n"))).toHaveLength(500);
  });

  test("reads a large event in small pieces in linear time", () => {
    // Small enough for the larger event not to cause a garbage collection, whose cost depends on all other tests.
    const piece = "x".repeat(100);
    const splitLarge = (count: number) => () => {
      const [event] = split(["data: ", ...Array<string>(count).fill(piece), "\n\n"], 32_000_000);
      expect(event?.[1]).toHaveLength(count * piece.length);
    };
    expect(growsLinearly(splitLarge(2_500), splitLarge(LARGER * 2_500))).toBe(true);
  });
});
