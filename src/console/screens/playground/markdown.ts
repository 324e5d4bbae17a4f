/** A piece of a line. A link is shown as its text and its URL, and cannot be followed. */
export type Inline =
  | { readonly kind: "text" | "code" | "bold" | "italic"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly url: string };

/** A block of a text. */
export type Block =
  | { readonly kind: "paragraph" | "quote"; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: "heading"; readonly level: number; readonly line: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly items: readonly ListItem[] }
  | { readonly kind: "rule" };

/** An item of a list. */
export interface ListItem {
  readonly depth: number;
  readonly marker: string;
  readonly line: readonly Inline[];
}

const FENCE = /^\s{0,3}(```+|~~~+)\s*([\w+#.-]*)\s*$/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
/** Longer lines are shown without formatting, because looking for pairs of marks may take long in them. */
const MAX_LINE = 4_000;
const INLINE =
  /(`+)(?!`)([^`\n]{1,2000})\1(?!`)|\*\*([^*\n]{1,1000})\*\*|\*([^*\s][^*\n]{0,1000})\*|!?\[([^\]\n]{0,500})\]\(([^()\s]{1,2000})\)/g;

/** Parses a text in Markdown: code, lists, headings, quotes, emphasis and links. HTML stays text. */
export function parseMarkdown(text: string): readonly Block[] {
  const lines = text.split(/\r?\n/);
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const { block, next } = takeBlock(lines, at);
    if (block !== null) blocks.push(block);
    at = next;
  }
  return blocks;
}

interface Taken {
  readonly block: Block | null;
  readonly next: number;
}

function takeBlock(lines: readonly string[], at: number): Taken {
  const line = lines[at] as string;
  if (line.trim() === "") return { block: null, next: at + 1 };
  const fence = FENCE.exec(line);
  if (fence !== null) return takeCode(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading !== null)
    return {
      block: {
        kind: "heading",
        level: (heading[1] as string).length,
        line: parseInline(heading[2] as string),
      },
      next: at + 1,
    };
  if (RULE.test(line)) return { block: { kind: "rule" }, next: at + 1 };
  if (ITEM.test(line)) return takeList(lines, at);
  return takeLines(lines, at, QUOTE.test(line) ? "quote" : "paragraph");
}

/** Takes a block of code; one without an end, such as while it is streamed, goes to the end of the text. */
function takeCode(lines: readonly string[], at: number, fence: RegExpExecArray): Taken {
  const mark = fence[1] as string;
  let end = at + 1;
  while (end < lines.length && (lines[end] as string).trim() !== mark) end += 1;
  const text = lines.slice(at + 1, end).join("\n");
  return { block: { kind: "code", language: fence[2] as string, text }, next: end + 1 };
}

function takeList(lines: readonly string[], at: number): Taken {
  const items: ListItem[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const match = ITEM.exec(lines[next] as string);
    if (match === null) break;
    const [, indent = "", marker = "", text = ""] = match;
    items.push({ depth: Math.min(4, Math.floor(indent.length / 2)), marker, line: parseInline(text) });
  }
  const isOrdered = /\d/.test(items[0]?.marker ?? "");
  return { block: { kind: "list", isOrdered, items }, next };
}

function takeLines(lines: readonly string[], at: number, kind: "quote" | "paragraph"): Taken {
  const taken: Inline[][] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] as string;
    const quoted = QUOTE.exec(line);
    if (kind === "quote" ? quoted === null : next > at && endsParagraph(line)) break;
    taken.push(parseInline(kind === "quote" ? (quoted?.[1] ?? "") : line));
  }
  return { block: { kind, lines: taken }, next };
}

function endsParagraph(line: string): boolean {
  return line.trim() === "" || [FENCE, HEADING, ITEM, RULE, QUOTE].some((pattern) => pattern.test(line));
}

/** Parses the emphasis, code and links of a line. */
export function parseInline(line: string): Inline[] {
  if (line.length > MAX_LINE) return [{ kind: "text", text: line }];
  const found: Inline[] = [];
  let at = 0;
  for (const match of line.matchAll(INLINE)) {
    if (match.index > at) found.push({ kind: "text", text: line.slice(at, match.index) });
    found.push(toInline(match));
    at = match.index + match[0].length;
  }
  if (at < line.length) found.push({ kind: "text", text: line.slice(at) });
  return found;
}

function toInline([whole, , code, bold, italic, text, url]: RegExpExecArray): Inline {
  if (code !== undefined) return { kind: "code", text: code };
  if (bold !== undefined) return { kind: "bold", text: bold };
  if (italic !== undefined) return { kind: "italic", text: italic };
  return url === undefined ? { kind: "text", text: whole } : { kind: "link", text: text ?? "", url };
}
