/**
 * A JSON reader that looks only where it is told to. It walks the text once, keeps the place of the values that
 * a `Shape` names and jumps over all others, so that a 200 kB conversation costs a fraction of parsing it and can
 * be forwarded with a few bytes replaced (docs/adr/0002-splice-not-print.md).
 *
 * It works on bytes read as Latin-1: every mark of JSON is ASCII and no byte of a multi-byte UTF-8 character is,
 * so positions are byte positions and other scripts cost nothing extra.
 *
 * Inside jumped-over values only strings and brackets are followed; what is wrong there is left to whoever parses them.
 */

/** What to look into: members of an object, elements of an array. Neither: only the value's place and kind. */
export interface Shape {
  readonly fields?: WordTable<Shape>;
  /** The places of all other members are wanted as well. */
  readonly others?: true;
  readonly items?: Shape;
}

/** What words stand for, by the words' lengths: a word is compared where it stands, and not cut out. */
export type WordTable<T> = readonly (readonly WordEntry<T>[] | undefined)[];

interface WordEntry<T> {
  readonly word: string;
  readonly value: T;
}

/** The table of these words, which have nothing to escape. */
export function wordTable<T>(values: Readonly<Record<string, T>>): WordTable<T> {
  const table: WordEntry<T>[][] = [];
  for (const [word, value] of Object.entries(values)) {
    const ofLength = table[word.length] ?? [];
    ofLength.push({ word, value });
    table[word.length] = ofLength;
  }
  return table;
}

/** A value whose place and kind are wanted and no more. */
export const LEAF: Shape = {};

/** The shape of an object with these members of interest. */
export function fields(members: Readonly<Record<string, Shape>>): Shape {
  return { fields: wordTable(members) };
}

/** The shape of an object all of whose members are of interest, these for what is in them. */
export function allFields(members: Readonly<Record<string, Shape>>): Shape {
  return { ...fields(members), others: true };
}

/** The shape of an array of such elements. */
export function items(shape: Shape): Shape {
  return { items: shape };
}

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

/** A value and where it stands: bytes `start` (with) to `end` (without). */
export interface JsonNode {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
  /** Of an object's member its name; else "". */
  readonly key: string;
  /** Of an object's member the byte of its name's opening quote; else -1. */
  readonly keyStart: number;
  /** Members that the shape wants, in their order. */
  readonly members: readonly JsonNode[] | null;
  /** All elements, where the shape has `items`. */
  readonly items: readonly JsonNode[] | null;
}

/** The text is not JSON. `position` counts bytes from 0. */
export class JsonSyntaxError extends Error {
  readonly position: number;

  constructor(problem: string, position: number) {
    super(`${problem} at byte ${position}`);
    this.name = "JsonSyntaxError";
    this.position = position;
  }
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * Scans a whole text, bytes read as Latin-1.
 * @throws JsonSyntaxError when it is not one JSON value, or names a member of the shape twice in one object.
 */
export function scanJson(text: string, shape: Shape): JsonNode {
  const scanner = new Scanner(text);
  const node = scanner.value(shape, "", -1);
  scanner.end();
  return node;
}

class Scanner {
  private at = 0;

  constructor(private readonly text: string) {}

  /** Reads a value; `key` and `keyStart` are those of the member that it is. */
  value(shape: Shape, key: string, keyStart: number): JsonNode {
    this.space();
    const start = this.at;
    const code = this.text.charCodeAt(start);
    if (code === OPEN_BRACE && shape.fields) return this.object(shape, shape.fields, key, keyStart);
    if (code === OPEN_BRACKET && shape.items) return this.array(shape.items, key, keyStart);
    const kind = this.skip();
    return { kind, start, end: this.at, key, keyStart, members: null, items: null };
  }

  end(): void {
    this.space();
    if (this.at < this.text.length) this.refuse("unexpected text after the value");
  }

  private object({ others }: Shape, fields: WordTable<Shape>, key: string, keyStart: number): JsonNode {
    const start = this.at++;
    const members: JsonNode[] = [];
    this.space();
    if (this.text.charCodeAt(this.at) === CLOSE_BRACE) this.at++;
    else
      do this.member(members, fields, others === true);
      while (!this.separator(CLOSE_BRACE));
    return { kind: "object", start, end: this.at, key, keyStart, members, items: null };
  }

  private member(members: JsonNode[], fields: WordTable<Shape>, wantsOthers: boolean): void {
    const { text } = this;
    this.space();
    const start = this.at;
    if (text.charCodeAt(start) !== QUOTE) this.refuse("expected a name in double quotes");
    const end = endOfString(text, start);
    const named = findName(text, start, end, fields);
    this.at = end;
    this.space();
    if (text.charCodeAt(this.at) !== COLON) this.refuse('expected ":"');
    this.at++;
    if (named !== null) {
      const value = this.value(named.value, named.word, start);
      refuseSecond(members, value);
      members.push(value);
    } else if (wantsOthers) members.push(this.value(LEAF, decodeString(text, start, end), start));
    else {
      this.space();
      this.skip();
    }
  }

  private array(shape: Shape, key: string, keyStart: number): JsonNode {
    const start = this.at++;
    const items: JsonNode[] = [];
    this.space();
    if (this.text.charCodeAt(this.at) === CLOSE_BRACKET) this.at++;
    else
      do items.push(this.value(shape, "", -1));
      while (!this.separator(CLOSE_BRACKET));
    return { kind: "array", start, end: this.at, key, keyStart, members: null, items };
  }

  /** Passes a value without looking into it, and says what kind it is. */
  private skip(): JsonKind {
    const { text, at } = this;
    const code = text.charCodeAt(at);
    if (code === QUOTE) return this.pass("string", endOfString(text, at));
    if (code === OPEN_BRACE) return this.pass("object", endOfNested(text, at));
    if (code === OPEN_BRACKET) return this.pass("array", endOfNested(text, at));
    if (text.startsWith("true", at)) return this.pass("boolean", at + 4);
    if (text.startsWith("false", at)) return this.pass("boolean", at + 5);
    if (text.startsWith("null", at)) return this.pass("null", at + 4);
    NUMBER.lastIndex = at;
    if (!NUMBER.test(text)) this.refuse(at < text.length ? "expected a value" : "the text ends too early");
    return this.pass("number", NUMBER.lastIndex);
  }

  private pass(kind: JsonKind, end: number): JsonKind {
    this.at = end;
    return kind;
  }

  /** Passes a comma (false) or the closing mark (true). */
  private separator(close: number): boolean {
    this.space();
    const code = this.text.charCodeAt(this.at);
    if (code !== COMMA && code !== close) {
      this.refuse(`expected "," or "${String.fromCharCode(close)}"`);
    }
    this.at++;
    return code === close;
  }

  private space(): void {
    while (isSpace(this.text.charCodeAt(this.at))) this.at++;
  }

  private refuse(problem: string): never {
    throw new JsonSyntaxError(problem, this.at);
  }
}

/** Two readers may disagree on which of two counts, so neither is taken. */
function refuseSecond(members: readonly JsonNode[], { key, keyStart }: JsonNode): void {
  for (const other of members)
    if (other.key === key) throw new JsonSyntaxError(`"${key}" stands twice in one object`, keyStart);
}

/** Whether JSON lets the character stand between values. */
export function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** The entry for the name that stands, quotes included, from `start` to `end`; null where there is none. */
function findName(
  text: string,
  start: number,
  end: number,
  fields: WordTable<Shape>,
): WordEntry<Shape> | null {
  const named = findWord(text, start, end, fields);
  // Written with escapes it may be one all the same.
  if (named !== null || isPlain(text, start + 1, end - 1)) return named;
  const key = decodeString(text, start, end);
  return fields[key.length]?.find(({ word }) => word === key) ?? null;
}

function findWord<T>(text: string, start: number, end: number, table: WordTable<T>): WordEntry<T> | null {
  for (const entry of table[end - start - 2] ?? []) if (text.startsWith(entry.word, start + 1)) return entry;
  return null;
}

/** The byte after a string's closing quote; `start` is its opening quote. */
export function endOfString(text: string, start: number): number {
  const quote = closingQuote(text, start + 1);
  if (quote < 0) throw new JsonSyntaxError("a string without its closing quote", start);
  return quote + 1;
}

/** The first quote from `start` on, within a string, that no backslash escapes; -1 where there is none. */
export function closingQuote(text: string, start: number): number {
  let from = start;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return -1;
    let slashes = quote - 1;
    while (text.charCodeAt(slashes) === BACKSLASH) slashes--;
    if (((quote - slashes) & 1) === 1) return quote;
    from = quote + 1;
  }
}

/** The byte after the closing mark of an object or array that nobody looks into. No recursion: depth costs nothing. */
function endOfNested(text: string, start: number): number {
  let depth = 0;
  let at = start;
  const length = text.length;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    at++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at;
  }
  throw new JsonSyntaxError("the text ends too early", length);
}

/**
 * The text of a string that stands, quotes included, from `start` to `end`.
 * @throws JsonSyntaxError on a broken escape.
 */
export function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  if (end - start <= SHORT ? isPlain(inner, 0, inner.length) : PLAIN.test(inner)) return inner;
  try {
    return JSON.parse(decodeUtf8(text.slice(start, end))) as string;
  } catch {
    throw new JsonSyntaxError("a string with a broken escape", start);
  }
}

const PLAIN = /^[\x20-\x5b\x5d-\x7e]*$/;
/** Up to so many characters a loop is quicker than the pattern, and the pattern than measuring. */
const SHORT = 48;

/** The same as `PLAIN`: printable ASCII without a backslash stands for itself. */
function isPlain(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH || code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

const ASCII = /^[\x00-\x7f]*$/;

/** Whether the text is its own UTF-8. A long one is measured: that costs a fiftieth of looking at it. */
function isAscii(text: string): boolean {
  return text.length <= SHORT ? ASCII.test(text) : Buffer.byteLength(text) === text.length;
}

/** Bytes read as Latin-1, read as the UTF-8 that they are. */
export function decodeUtf8(latin1: string): string {
  return isAscii(latin1) ? latin1 : Buffer.from(latin1, "latin1").toString("utf8");
}

/** Text as its UTF-8 bytes read as Latin-1. */
export function encodeLatin1(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** Whether the value is the string `word`, which has nothing to escape. */
export function isWord(text: string, node: JsonNode | undefined, word: string): boolean {
  return (
    node?.kind === "string" &&
    node.end - node.start === word.length + 2 &&
    text.startsWith(word, node.start + 1)
  );
}

/** Whether the value is a string that is not empty. */
export function isFilled(node: JsonNode | undefined): boolean {
  return node?.kind === "string" && node.end - node.start > 2;
}

/** What the table has for the string, as it stands; undefined where it has nothing for it, or the value is no string. */
export function lookUp<T>(text: string, node: JsonNode | undefined, table: WordTable<T>): T | undefined {
  return node?.kind === "string" ? findWord(text, node.start, node.end, table)?.value : undefined;
}

/** The member of this name, or undefined. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  const members = node?.members;
  if (!members) return undefined;
  for (const member of members) if (member.key === key) return member;
  return undefined;
}

/** The value as text, when it is a string. */
export function stringOf(text: string, node: JsonNode | undefined): string | undefined {
  return node?.kind === "string" ? decodeString(text, node.start, node.end) : undefined;
}

/** The value as text, when it is a string that can be read. What is wrong in another its upstream refuses. */
export function tryStringOf(text: string, node: JsonNode | undefined): string | undefined {
  try {
    return stringOf(text, node);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/**
 * The whole value, parsed.
 * @throws JsonSyntaxError when what was jumped over is not JSON after all.
 */
export function parseNode(text: string, node: JsonNode): unknown {
  try {
    return JSON.parse(decodeUtf8(text.slice(node.start, node.end)));
  } catch {
    throw new JsonSyntaxError("a value that is not JSON", node.start);
  }
}

/**
 * The member's whole value, parsed; undefined where there is none.
 * @throws JsonSyntaxError as `parseNode`.
 */
export function parseMember(text: string, node: JsonNode, key: string): unknown {
  const member = memberOf(node, key);
  return member === undefined ? undefined : parseNode(text, member);
}

/** The value as a number; null where it is none. */
export function numberOf(text: string, node: JsonNode | undefined): number | null {
  return node?.kind === "number" ? Number(text.slice(node.start, node.end)) : null;
}

/** Whether the value is `false`. */
export function isFalse(text: string, node: JsonNode | undefined): boolean {
  return node?.kind === "boolean" && text.startsWith("false", node.start);
}

/** Whether the value is `true`. */
export function isTrue(text: string, node: JsonNode | undefined): boolean {
  return node?.kind === "boolean" && text.startsWith("true", node.start);
}
