import { describe, expect, test } from "bun:test";
import {
  joinEntries,
  readEntries,
  suggestEntries,
  takeEntries,
} from "../../../../src/console/parts/controls/list-entries.ts";
import { describePattern, listPatterns } from "../../../../src/console/state/options/pattern-options.ts";

const matches = (count: number) => `${count} models`;
const texts = { route: "route", matches };
const MODELS = ["openai/gpt-5", "openai/gpt-5-mini", "anthropic/claude-opus-4.8", "gateway-auto/fast"];

describe("a list of names", () => {
  test("entries are separated by lines, commas and blanks, and each is in the list once", () => {
    expect(readEntries("a, b\nc  d,")).toEqual(["a", "b", "c", "d"]);
    expect(joinEntries(["a", "b", " a "], "b")).toBe("a\nb");
    expect(joinEntries([], " ")).toBe("");
  });

  test("a blank does not end an entry that may have blanks", () => {
    expect(readEntries("nightly job, b\nc  d,", true)).toEqual(["nightly job", "b", "c  d"]);
    expect(takeEntries("a\nnightly job", "nightly job", true)).toEqual({
      entries: ["a"],
      typed: "nightly job",
    });
  });

  test("what is being typed counts as an entry, and is not shown as one", () => {
    expect(takeEntries("a\nb", "b")).toEqual({ entries: ["a"], typed: "b" });
    expect(takeEntries("a\nb", "")).toEqual({ entries: ["a", "b"], typed: "" });
    expect(takeEntries("a\nb", null)).toEqual({ entries: ["a", "b"], typed: null });
  });

  test("what was typed is no longer shown after the list was reset", () => {
    expect(takeEntries("a", "b")).toEqual({ entries: ["a"], typed: "" });
  });

  test("models are suggested with routes before them and a pattern for each author of several", () => {
    const options = listPatterns(MODELS, ["support"], texts);
    expect(options.map(({ value, detail }) => [value, detail])).toEqual([
      ["support", "route"],
      ["openai/*", "2 models"],
      ["openai/gpt-5", undefined],
      ["openai/gpt-5-mini", undefined],
      ["anthropic/claude-opus-4.8", undefined],
      ["gateway-auto/fast", undefined],
    ] as never);
  });

  test("a typed pattern is the first suggestion, with the number of models that it matches", () => {
    const options = listPatterns(MODELS, [], texts);
    expect(describePattern("openai/gpt-5*", options, texts)?.detail).toBe("2 models");
    expect(describePattern("*.8", options, texts)?.detail).toBe("1 models");
    expect(describePattern("gpt", options, texts)).toBeNull();
    const shown = suggestEntries(options, "openai/gpt-5*", ["openai/gpt-5"], matches);
    expect(shown.map(({ value }) => value)).toEqual(["openai/gpt-5*", "openai/gpt-5-mini"]);
  });

  test("a name that was typed in full comes before longer ones", () => {
    const options = listPatterns([...MODELS].reverse(), [], texts);
    const shown = suggestEntries(options, "openai/gpt-5", [], matches);
    expect(shown.map(({ value }) => value)).toEqual(["openai/gpt-5", "openai/gpt-5-mini"]);
  });
});
