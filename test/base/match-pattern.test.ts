import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { matchPattern } from "../../src/base/text/match-pattern.ts";
import { growsLinearly, LARGER } from "../growth/measure-growth.ts";

describe("a pattern", () => {
  test.each([
    ["openai/gpt-4o", "openai/gpt-4o", true],
    ["OpenAI/GPT-4o", "openai/gpt-4o", true],
    ["openai/gpt-4o", "openai/gpt-4o-mini", false],
    ["openai/*", "openai/gpt-4o", true],
    ["openai/*", "openai-like/gpt", false],
    ["*", "", true],
    ["*", "anything/at-all:free", true],
    ["*:free", "acme/gift:free", true],
    ["*:free", "acme/gift", false],
    ["acme/*-mini*", "acme/big-mini-2", true],
    ["acme/*-mini*", "acme/big", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["ab*ba", "aba", false],
    ["*ab*ab*", "ab", false],
    ["a**b", "ab", true],
    ["", "", true],
    ["", "a", false],
    // All characters except the star are literal.
    ["a.c", "abc", false],
    ["a?c", "abc", false],
    ["a[b]c", "a[b]c", true],
  ])("%j and %j: %p", (pattern, id, matches) => {
    expect(matchPattern(pattern, id)).toBe(matches);
  });

  test("matches like the equivalent regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "/", "*"), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (glob, id) => {
        expect(matchPattern(glob, id)).toBe(new RegExp(`^${glob.replaceAll("*", ".*")}$`).test(id));
      }),
      { numRuns: 2_000 },
    );
  });

  test("takes linear time, even for adversarial input", () => {
    const matchSlow = (stars: number) => {
      const [pattern, id] = [`${"*a".repeat(stars)}b`, "a".repeat(2 * stars)];
      return () => {
        for (let i = 0; i < 100; i++) matchPattern(pattern, id);
      };
    };
    expect(growsLinearly(matchSlow(100), matchSlow(LARGER * 100))).toBe(true);
  });
});
