import { asFields, type Fields } from "../../base/json/fields.ts";
import { type MemberPath, memberAt, type TextEditor } from "./text-editor.ts";

/** Edits JSON, which may have comments and commas after the last item. */
export const JSON_EDITOR: TextEditor = { parse, set, remove };

const INDENT = "  ";

function parse(text: string): Fields {
  if (text.trim() === "") return {};
  return new JsonScan(text).readFile();
}

function set(text: string, path: MemberPath, value: unknown): string {
  if (text.trim() === "") return `${JSON.stringify(nest(path, value), null, INDENT)}\n`;
  const scan = new JsonScan(text);
  scan.readFile();
  const found = scan.members.get(keyOf(path));
  if (found !== undefined) return splice(text, found.value, found.valueEnd, print(value, path.length));
  // The deepest object that exists gets the rest of the path as one member.
  const depth = deepestObject(scan, path);
  const object = scan.objects.get(keyOf(path.slice(0, depth))) as Span;
  const [name = "", ...rest] = path.slice(depth);
  const member = `${JSON.stringify(name)}: ${print(nest(rest, value), depth + 1)}`;
  const indent = INDENT.repeat(depth + 1);
  if (object.lastEnd === null)
    return splice(text, object.start + 1, object.end - 1, `\n${indent}${member}\n${INDENT.repeat(depth)}`);
  const line = startOfLine(text, object.end - 1);
  const { lastEnd, hasFinalComma } = object;
  if (line === null) return splice(text, lastEnd, lastEnd, `${hasFinalComma ? " " : ", "}${member}`);
  // Comments after the last member stay with it.
  const longer = splice(text, line, line, `${indent}${member}${hasFinalComma ? "," : ""}\n`);
  return hasFinalComma ? longer : splice(longer, lastEnd, lastEnd, ",");
}

function remove(text: string, path: MemberPath): string {
  const scan = new JsonScan(text);
  const fields = scan.readFile();
  const member = scan.members.get(keyOf(path));
  if (member === undefined) return text;
  const parent = path.slice(0, -1);
  const siblings = Object.keys(asFields(memberAt(fields, parent)) ?? {});
  // An object that would be empty goes with its last member.
  if (siblings.length === 1 && parent.length > 0) return remove(text, parent);
  const { key, end, comma, before } = member;
  const line = startOfLine(text, key);
  const after = comma === null ? end : comma + 1;
  if (line === null)
    return comma === null ? splice(text, before ?? key, end, "") : splice(text, key, after, "");
  const shorter = splice(text, line, endOfLine(text, after), "");
  return comma === null && before !== null ? splice(shorter, before, before + 1, "") : shorter;
}

/** A member in the text. */
interface Member {
  readonly key: number;
  readonly value: number;
  readonly valueEnd: number;
  readonly end: number;
  /** The offset of the comma after it; null for the last one. */
  readonly comma: number | null;
  /** The offset of the comma before it; null for the first one. */
  readonly before: number | null;
}

/** An object in the text. */
interface Span {
  readonly start: number;
  end: number;
  /** Where the last member, or the comma after it, ends; null for an empty object. */
  lastEnd: number | null;
  hasFinalComma: boolean;
}

const MAX_DEPTH = 100;

/** Parses JSON with comments and remembers where its members are. */
class JsonScan {
  readonly members = new Map<string, Member>();
  readonly objects = new Map<string, Span>();
  private at = 0;

  constructor(private readonly text: string) {}

  readFile(): Fields {
    this.skipSpace();
    const fields = this.text[this.at] === "{" ? this.readObject([]) : this.fail("the file must be an object");
    this.skipSpace();
    if (this.at < this.text.length) this.fail("there is more after the object");
    return fields;
  }

  private readValue(path: MemberPath): unknown {
    if (path.length > MAX_DEPTH) this.fail("it is nested too deep");
    const char = this.text[this.at];
    if (char === "{") return this.readObject(path);
    if (char === "[") return this.readArray(path);
    if (char === '"') return this.readString();
    const [word = ""] = /^[\w+.-]+/.exec(this.text.slice(this.at, this.at + 100)) ?? [];
    const value = parseWord(word);
    if (value === undefined) this.fail("a value is expected");
    this.at += word.length;
    return value;
  }

  private readObject(path: MemberPath): Fields {
    const fields: Record<string, unknown> = {};
    const span: Span = { start: this.at, end: 0, lastEnd: null, hasFinalComma: false };
    this.objects.set(keyOf(path), span);
    this.at++;
    let before: number | null = null;
    for (;;) {
      this.skipSpace();
      if (this.text[this.at] === "}") break;
      const key = this.at;
      if (this.text[key] !== '"') this.fail("a key in quotes is expected");
      const name = this.readString();
      if (Object.hasOwn(fields, name)) this.fail(`the key ${JSON.stringify(name)} is repeated`);
      this.skipSpace();
      this.expect(":");
      this.skipSpace();
      const value = this.at;
      Object.defineProperty(fields, name, {
        value: this.readValue([...path, name]),
        enumerable: true,
        writable: true,
        configurable: true,
      });
      const end = this.at;
      this.skipSpace();
      const comma = this.text[this.at] === "," ? this.at : null;
      this.members.set(keyOf([...path, name]), { key, value, valueEnd: end, end, comma, before });
      span.hasFinalComma = comma !== null;
      span.lastEnd = comma === null ? end : comma + 1;
      if (comma === null) break;
      before = comma;
      this.at++;
    }
    this.skipSpace();
    this.expect("}");
    span.end = this.at;
    return fields;
  }

  private readArray(path: MemberPath): unknown[] {
    const items: unknown[] = [];
    this.at++;
    for (;;) {
      this.skipSpace();
      if (this.text[this.at] === "]") break;
      items.push(this.readValue([...path, String(items.length)]));
      this.skipSpace();
      if (this.text[this.at] !== ",") break;
      this.at++;
    }
    this.skipSpace();
    this.expect("]");
    return items;
  }

  private readString(): string {
    const start = this.at;
    for (this.at++; this.text[this.at] !== '"'; this.at++) {
      if (this.at >= this.text.length || this.text[this.at] === "\n") this.fail("a text does not end");
      if (this.text[this.at] === "\\") this.at++;
    }
    this.at++;
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string;
    } catch {
      return this.fail("a text has a wrong escape");
    }
  }

  private skipSpace(): void {
    for (;;) {
      const rest = this.text.slice(this.at, this.at + 2);
      if (rest === "//") this.at = endOr(this.text.indexOf("\n", this.at), this.text.length);
      else if (rest === "/*") this.at = endOr(this.text.indexOf("*/", this.at + 2) + 2, this.text.length, 1);
      else if (rest !== "" && /\s|\ufeff/.test(rest[0] as string)) this.at++;
      else return;
    }
  }

  private expect(char: string): void {
    if (this.text[this.at] !== char) this.fail(`${char} is expected`);
    this.at++;
  }

  private fail(problem: string): never {
    const before = this.text.slice(0, this.at).split("\n");
    throw new Error(`${before.length}:${(before.at(-1) ?? "").length + 1}: ${problem}`);
  }
}

/** Returns an offset that was found, or the end of the text. */
function endOr(found: number, end: number, nothing = -1): number {
  return found === nothing ? end : found;
}

function parseWord(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return undefined;
  }
}

function keyOf(path: MemberPath): string {
  return JSON.stringify(path);
}

function deepestObject(scan: JsonScan, path: MemberPath): number {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const prefix = keyOf(path.slice(0, depth));
    if (scan.objects.has(prefix)) return depth;
    if (scan.members.has(prefix)) throw new Error(`${path.slice(0, depth).join(".")} is not an object`);
  }
  return 0;
}

function nest(path: MemberPath, value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}

/** Prints a value whose first line is at a depth. */
function print(value: unknown, depth: number): string {
  return JSON.stringify(value, null, INDENT).replaceAll("\n", `\n${INDENT.repeat(depth)}`);
}

function splice(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end);
}

/** Returns the beginning of a line if only spaces precede an offset on it, or null. */
function startOfLine(text: string, at: number): number | null {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return start > 0 && text.slice(start, at).trim() === "" ? start : null;
}

/** Returns the beginning of the next line if only spaces follow an offset, or else the offset. */
function endOfLine(text: string, at: number): number {
  return at + (/^[ \t]*\r?\n/.exec(text.slice(at))?.[0].length ?? 0);
}
