import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { matchAnyPattern, matchPattern } from "../../src/core/accounts/match-pattern.ts";

describe("a pattern", () => {
  test.each([
    ["openai/gpt-4o", "openai/gpt-4o", true],
    ["openai/gpt-4o", "openai/gpt-4o-mini", false],
    ["openai/*", "openai/gpt-4o", true],
    ["openai/*", "openai/", true],
    ["openai/*", "notopenai/gpt-4o", false],
    ["*:free", "qwen/qwen3:free", true],
    ["*:free", "qwen/qwen3:free2", false],
    ["*", "anything", true],
    ["*", "", true],
    ["", "", true],
    ["", "a", false],
    ["*/*-mini*", "openai/gpt-4o-mini-2024", true],
    ["*/*-mini*", "openai/gpt-4o", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*ba*", "aba", true],
    ["a**b", "ab", true],
    ["OpenAI/GPT-*", "openai/gpt-4o", true],
    ["openai/gpt-4.1", "openai/gpt-4x1", false],
    ["[a-z]+", "abc", false],
  ])("%p and %p: %p", (pattern, id, expected) => {
    expect(matchPattern(pattern, id)).toBe(expected);
  });

  const letters = fc.string({ unit: fc.constantFrom("a", "b", "/", ":", "."), maxLength: 12 });
  const patterns = fc.string({ unit: fc.constantFrom("a", "b", "/", "*", "."), maxLength: 8 });

  test("fits what the same regular expression fits", () => {
    fc.assert(
      fc.property(patterns, letters, (pattern, id) => {
        const escaped = pattern.split("*").map((piece) => piece.replace(/[.]/g, "\\."));
        expect(matchPattern(pattern, id)).toBe(new RegExp(`^${escaped.join(".*")}$`).test(id));
      }),
    );
  });

  test("of many stars takes no longer than its length", () => {
    const pattern = `${"a*".repeat(120)}b`;
    const startedAt = performance.now();
    expect(matchPattern(pattern, "a".repeat(256))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(100);
  });

  test("is one of several; of none, nothing fits", () => {
    expect(matchAnyPattern(["a/*", "b/*"], "b/x")).toBe(true);
    expect(matchAnyPattern(["a/*", "b/*"], "c/x")).toBe(false);
    expect(matchAnyPattern([], "c/x")).toBe(false);
  });
});
