import { expect, test } from "bun:test";
import { parseInline, parseMarkdown } from "../../../src/console/screens/playground/markdown.ts";

test("Markdown has paragraphs, headings, lists, quotes, rules and code", () => {
  const text =
    "# Title\nA line\nand **another**\n\n- one\n  - two\n1. three\n\n> said\n---\n```ts\nconst a = `<b>`;\n```\nend";
  expect(parseMarkdown(text)).toEqual([
    { kind: "heading", level: 1, line: [{ kind: "text", text: "Title" }] },
    {
      kind: "paragraph",
      lines: [
        [{ kind: "text", text: "A line" }],
        [
          { kind: "text", text: "and " },
          { kind: "bold", text: "another" },
        ],
      ],
    },
    {
      kind: "list",
      isOrdered: false,
      items: [
        { depth: 0, marker: "-", line: [{ kind: "text", text: "one" }] },
        { depth: 1, marker: "-", line: [{ kind: "text", text: "two" }] },
        { depth: 0, marker: "1.", line: [{ kind: "text", text: "three" }] },
      ],
    },
    { kind: "quote", lines: [[{ kind: "text", text: "said" }]] },
    { kind: "rule" },
    { kind: "code", language: "ts", text: "const a = `<b>`;" },
    { kind: "paragraph", lines: [[{ kind: "text", text: "end" }]] },
  ]);
});

test("code without an end, as while it is streamed, goes to the end of the text", () => {
  expect(parseMarkdown("```\na\n\nb")).toEqual([{ kind: "code", language: "", text: "a\n\nb" }]);
});

test("a link keeps its URL, and images and HTML stay text that is shown", () => {
  expect(parseInline("see [docs](https://x.example/a) <img src=x onerror=alert(1)>")).toEqual([
    { kind: "text", text: "see " },
    { kind: "link", text: "docs", url: "https://x.example/a" },
    { kind: "text", text: " <img src=x onerror=alert(1)>" },
  ]);
  expect(parseInline("![pixel](https://x.example/p.gif)")).toEqual([
    { kind: "link", text: "pixel", url: "https://x.example/p.gif" },
  ]);
});

test.each([
  ["2 * 3 * 4", ["text"]],
  ["snake_case_name", ["text"]],
  ["*so* `a*b*c`", ["italic", "text", "code"]],
  ["**open", ["text"]],
])("%p has the pieces %j", (line, kinds) => {
  expect(parseInline(line).map(({ kind }): string => kind)).toEqual(kinds);
});

test.each(["[", "*", "**a", "`", "[a](", "- ", "> ", "#", "```\n"])(
  "a text of 200,000 times %p is parsed, and no character is lost in a long line",
  (piece) => {
    expect(parseMarkdown(piece.repeat(200_000)).length).toBeGreaterThan(0);
    expect(
      parseInline("[".repeat(3_999))
        .map(({ text }) => text)
        .join(""),
    ).toHaveLength(3_999);
  },
);
