import { describe, expect, test } from "bun:test";
import type { Match } from "../../../src/core/extensions/guardrails/find-in-text.ts";
import {
  type Channel,
  distribute,
  EventQueue,
  type Segment,
} from "../../../src/core/extensions/guardrails/held-texts.ts";
import type { AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";

const say = (text: string): AnswerEvent => ({
  kind: "part-delta",
  choice: 0,
  at: 0,
  delta: { kind: "text", text },
});

function segmentOf(length: number, isWhole = false): Segment {
  return { left: length, text: "", isWhole, encode: (text) => [say(text)] };
}

const matchOf = (start: number, end: number): Match => ({ start, end, kind: "X" });

describe("a decided text", () => {
  /** Masks matches in the text of segments of 3 characters; returns what each segment has then. */
  function mask(matches: readonly Match[]): string[] {
    const segments = [segmentOf(3), segmentOf(3), segmentOf(3)];
    const channel = { segments: [...segments] } as unknown as Channel;
    distribute(channel, { text: "abcdefghi", matches }, (text, inside) => {
      let masked = "";
      let from = 0;
      for (const { start, end } of inside) {
        masked += `${text.slice(from, start)}*`;
        from = end;
      }
      return masked + text.slice(from);
    });
    expect(channel.segments).toEqual([]);
    return segments.map(({ text }) => text);
  }

  test.each<[string, readonly Match[], readonly string[]]>([
    ["within a segment", [matchOf(1, 2)], ["a*c", "def", "ghi"]],
    ["over two segments", [matchOf(2, 4)], ["ab*", "ef", "ghi"]],
    ["from the begin of a segment", [matchOf(3, 5)], ["abc", "*f", "ghi"]],
    ["up to the end of a segment, and from there", [matchOf(2, 3), matchOf(3, 4)], ["ab*", "*ef", "ghi"]],
    ["over several segments, and another behind it", [matchOf(1, 7), matchOf(7, 8)], ["a*", "", "*i"]],
  ])("has its matches replaced where they begin: %s", (_where, matches, texts) => {
    expect(mask(matches)).toEqual([...texts]);
  });
});

describe("the events of a choice", () => {
  test("are sent with as much of a text as is decided, and those behind it wait", () => {
    const queue = new EventQueue();
    const segment = segmentOf(4);
    queue.add(segment);
    queue.add(say("behind"));
    expect(queue.flush()).toEqual([]);
    Object.assign(segment, { left: 2, text: "ab" });
    expect(queue.flush()).toEqual([say("ab")]);
    expect(queue.flush()).toEqual([]);
    Object.assign(segment, { left: 0, text: "cd" });
    expect(queue.flush()).toEqual([say("cd"), say("behind")]);
  });

  test("contain a text that comes whole once all of it is decided", () => {
    const queue = new EventQueue();
    const segment = segmentOf(4, true);
    queue.add(segment);
    Object.assign(segment, { left: 2, text: "ab" });
    expect(queue.flush()).toEqual([]);
    Object.assign(segment, { left: 0, text: "abcd" });
    expect(queue.flush()).toEqual([say("abcd")]);
    expect(queue.flush()).toEqual([]);
  });
});
