import { BOUNDS } from "../numbers/bounds.ts";
import { ownText } from "./own-text.ts";
import { UniqueNames } from "./unique-names.ts";

/**
 * A JSON reader that finds the positions of the values that a `Shape` names, in one pass, and skips all others. Scanning a 200 kB
 * conversation costs a fraction of parsing it, and it can be forwarded with a few bytes replaced (docs/adr/0002-splice-not-print.md).
 *
 * The text is bytes as Latin-1. The structural characters of JSON are ASCII, and no byte of a multi-byte UTF-8 character is, so positions
 * are byte positions.
 *
 * In skipped values only strings and brackets are recognized. Other errors in them are found when they are parsed. Nesting is always
 * bounded; the number of values is bounded only if a limit is given.
 */

/**
 * The values to find: members of an object, or elements of an array. With neither, only the position and kind of the value itself are
 * found. `N` is the type of the values' nodes.
 */
export interface Shape<N extends JsonNode = JsonNode> {
  readonly fields: WordTable<Shape> | null;
  /** Whether all other members are found as well, as leaves. */
  readonly others: boolean;
  readonly items: Shape | null;
  /** Bits that the scan reports if it finds such a value. A reader can skip the search for values whose bits are not set. */
  readonly marks: number;
  /** Exists only in the type, to carry `N`. */
  readonly node?: N;
}

/** The nodes of a shape. */
export type NodeOf<S> = S extends Shape<infer N> ? N : never;

/** The type of a member of a node, if present. */
export type NodeIn<N extends JsonNode, K extends keyof N["fields"]> = Extract<N["fields"][K], JsonNode>;

/** The members that a shape names, by name. */
type NamedMembers<M> = { readonly [K in keyof M]: NodeOf<M[K]> | undefined };

/** A value that has these members if it is an object. */
export interface FieldsNode<M> extends JsonNode {
  readonly fields: NamedMembers<M>;
}

/** A value that has these elements if it is an array. */
export interface ItemsNode<N extends JsonNode> extends JsonNode {
  readonly items: readonly N[] | null;
}

/** Values by word, grouped by the word's length, so that a word is compared within the text and not copied out of it. */
export type WordTable<T> = readonly (readonly WordEntry<T>[] | undefined)[];

interface WordEntry<T> {
  readonly word: string;
  /** The word's character codes. Comparing them takes less time than a search at a position. */
  readonly codes: Uint8Array;
  readonly value: T;
}

/** Returns a table of these values by word. Words must need no escapes in JSON. */
export function wordTable<T>(values: Readonly<Record<string, T>>): WordTable<T> {
  const table: WordEntry<T>[][] = [];
  for (const [word, value] of Object.entries(values)) {
    const ofLength = table[word.length] ?? [];
    ofLength.push({ word, codes: Buffer.from(word, "latin1"), value });
    table[word.length] = ofLength;
  }
  return table;
}

/** The members of a value whose shape names none. */
const NO_MEMBERS: JsonNode["fields"] = {};

/** The shape of a value if only its position and kind are needed. */
export const LEAF: Shape = { fields: null, others: false, items: null, marks: 0 };

/** Returns the shape of an object if only these members are needed. */
export function fields<M extends Readonly<Record<string, Shape>>>(members: M): Shape<FieldsNode<M>> {
  return { fields: wordTable<Shape>(members), others: false, items: null, marks: 0 };
}

/** Returns the shape of an object if all members are needed. The given members have these shapes; the others are leaves. */
export function allFields<M extends Readonly<Record<string, Shape>>>(members: M): Shape<FieldsNode<M>> {
  return { ...fields(members), others: true };
}

/** Returns the shape of an array of such elements. */
export function items<N extends JsonNode>(shape: Shape<N>): Shape<ItemsNode<N>> {
  return { fields: null, others: false, items: shape, marks: 0 };
}

/** Returns the shape with these bits as its marks. */
export function marked(marks: number): Shape;
export function marked<N extends JsonNode>(marks: number, shape: Shape<N>): Shape<N>;
export function marked(marks: number, shape: Shape = LEAF): Shape {
  return { ...shape, marks };
}

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

/** A value and its position: bytes `start` (inclusive) to `end` (exclusive). */
export interface JsonNode {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
  /** The name of a member of an object; "" for other values. */
  readonly key: string;
  /** The position of the opening quote of a member's name; -1 for other values. */
  readonly keyStart: number;
  /** The members that the shape names, in the order of the text; null for other values. */
  readonly members: readonly JsonNode[] | null;
  /** The members by name. `FieldsNode` gives their types. */
  readonly fields: object;
  /** All elements of an array, if the shape has `items`; null for other values. */
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

/** The text exceeds a bound. */
export class JsonBoundError extends Error {
  constructor(
    /** The name of what exceeds the bound: "levels of nesting". */
    readonly what: string,
    readonly bound: number,
    /** The byte at which the bound is exceeded, counted from 0. */
    readonly position: number,
  ) {
    super(`more than ${bound} ${what} at byte ${position}`);
    this.name = "JsonBoundError";
  }
}

/** Codes of the structural characters of JSON. */
export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const BACKSLASH = 92;
export const OPEN_BRACKET = 91;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
const SPACE = 32;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const LETTER_E = 101;
const LETTER_F = 102;
const LETTER_N = 110;
const LETTER_T = 116;

const LEVELS = "levels of nesting";

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Returns the position after the number at `at`; `at` if there is none. Whole numbers, the usual case, are read without the pattern. */
export function endOfNumber(text: string, at: number): number {
  const end = endOfDigits(text, at);
  if (end > at && text.charCodeAt(at) !== ZERO && !continuesNumber(text.charCodeAt(end))) return end;
  NUMBER.lastIndex = at;
  return NUMBER.test(text) ? NUMBER.lastIndex : at;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at++;
  return at;
}

/** Returns whether a number may continue with this character after its first digits. */
function continuesNumber(code: number): boolean {
  return code === POINT || (code | 32) === LETTER_E;
}

/**
 * Scans a whole text, bytes as Latin-1.
 * @throws JsonSyntaxError if it is not one JSON value, or if an object has a member of the shape twice;
 * JsonBoundError if it is nested too deep.
 */
export function scanJson<N extends JsonNode>(text: string, shape: Shape<N>): N {
  return new Scanner<N>(text, shape, { maxValues: Number.POSITIVE_INFINITY, names: null }).root;
}

/** The result of a scan, and an upper bound of the number of values in the whole text. */
export interface CountedScan<N extends JsonNode = JsonNode> {
  readonly root: N;
  readonly values: number;
  /** The number of nodes that were created. */
  readonly nodes: number;
  /** The marks of the values that were found. */
  readonly marks: number;
}

/**
 * Scans a request as `scanJson`, and counts values. No object of the text may have a member twice, at any depth.
 * @throws as `scanJson`; JsonBoundError if there are more than `maxValues`.
 */
export function scanCounting<N extends JsonNode>(
  text: string,
  shape: Shape<N>,
  maxValues: number = Number.POSITIVE_INFINITY,
): CountedScan<N> {
  const names = new UniqueNames(text, decodeName);
  return new Scanner(text, shape, { maxValues, names });
}

function decodeName(text: string, start: number, end: number): string {
  return encodeLatin1(decodeString(text, start, end));
}

interface ScanRules {
  readonly maxValues: number;
  /** Checks all names for duplicates. Null: only members of the shape are checked. */
  readonly names: UniqueNames | null;
}

/** Scans a text in its constructor. The scanner itself is the result, to save another object. */
class Scanner<N extends JsonNode> implements CountedScan<N> {
  readonly root: N;
  /** The number of values so far: each comma and each opening bracket adds one. */
  values = 1;
  nodes = 0;
  marks = 0;
  private at = 0;
  private depth = 0;

  private readonly maxValues: number;
  private readonly names: UniqueNames | null;

  constructor(
    private readonly text: string,
    shape: Shape<N>,
    { maxValues, names }: ScanRules,
  ) {
    this.maxValues = maxValues;
    this.names = names;
    // The nodes of a shape have its names, which the compiler cannot know.
    this.root = this.value(shape, "", -1) as N;
    this.next();
    if (this.at < this.text.length) this.fail("unexpected text after the value");
  }

  /** Reads a value; `key` and `keyStart` are those of its member. */
  private value(shape: Shape, key: string, keyStart: number): JsonNode {
    this.nodes++;
    this.marks |= shape.marks;
    const code = this.next();
    const start = this.at;
    if (code === OPEN_BRACE && shape.fields !== null) return this.object(shape, shape.fields, key, keyStart);
    if (code === OPEN_BRACKET && shape.items !== null) return this.array(shape.items, key, keyStart);
    const kind = this.skip(code);
    return { kind, start, end: this.at, key, keyStart, members: null, fields: NO_MEMBERS, items: null };
  }

  private object(shape: Shape, table: WordTable<Shape>, key: string, keyStart: number): JsonNode {
    const start = this.at++;
    const members: JsonNode[] = [];
    const fields: Record<string, JsonNode | undefined> = {};
    this.open();
    this.names?.open();
    if (this.next() === CLOSE_BRACE) this.at++;
    else
      do this.member(table, shape.others, members, fields);
      while (!this.separator(CLOSE_BRACE));
    this.names?.close();
    this.depth--;
    return { kind: "object", start, end: this.at, key, keyStart, members, fields, items: null };
  }

  /** Reads a member, and adds it to those of its object. */
  private member(
    table: WordTable<Shape>,
    takesOthers: boolean,
    members: JsonNode[],
    fields: Record<string, JsonNode | undefined>,
  ): void {
    const { text } = this;
    if (this.next() !== QUOTE) this.fail("expected a name in double quotes");
    const start = this.at;
    const end = endOfString(text, start);
    const named = findName(text, start, end, table);
    this.at = end;
    if (this.next() !== COLON) this.fail('expected ":"');
    this.at++;
    if (named !== null) {
      const { word } = named;
      const value = this.value(named.value, word, start);
      if (fields[word] !== undefined) failTwice(word, start);
      // biome-ignore lint/plugin: one of the shape's names.
      fields[word] = value;
      members.push(value);
      return;
    }
    this.addName(start, end);
    if (takesOthers) members.push(this.value(LEAF, ownString(text, start, end), start));
    else this.skip(this.next());
  }

  private addName(start: number, end: number): void {
    if (this.names?.add(start, end) === false) failTwice(ownString(this.text, start, end), start);
  }

  private array(shape: Shape, key: string, keyStart: number): JsonNode {
    const start = this.at++;
    const items: JsonNode[] = [];
    this.open();
    if (this.next() === CLOSE_BRACKET) this.at++;
    else
      do items.push(this.value(shape, "", -1));
      while (!this.separator(CLOSE_BRACKET));
    this.depth--;
    return { kind: "array", start, end: this.at, key, keyStart, members: null, fields: NO_MEMBERS, items };
  }

  /** Skips a value, which begins with the character `code`, and returns its kind. */
  private skip(code: number): JsonKind {
    const { text, at } = this;
    if (code === QUOTE) return this.pass("string", endOfString(text, at));
    if (code === OPEN_BRACE) return this.pass("object", this.endOfNested(at));
    if (code === OPEN_BRACKET) return this.pass("array", this.endOfNested(at));
    // Each comparison is a function call, so the first character selects the only one that can succeed.
    if (code === LETTER_T && text.startsWith("true", at)) return this.pass("boolean", at + 4);
    if (code === LETTER_F && text.startsWith("false", at)) return this.pass("boolean", at + 5);
    if (code === LETTER_N && text.startsWith("null", at)) return this.pass("null", at + 4);
    const end = endOfNumber(text, at);
    if (end === at) this.fail(at < text.length ? "expected a value" : "the text ends too early");
    return this.pass("number", end);
  }

  private pass(kind: JsonKind, end: number): JsonKind {
    this.at = end;
    return kind;
  }

  /** Skips an object or array and returns the position after it. */
  private endOfNested(start: number): number {
    const { text, names } = this;
    const { length } = text;
    const outer = this.depth;
    let depth = outer;
    let values = this.values;
    let at = start;
    while (at < length) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const end = endOfString(text, at);
        if (names !== null && isBeforeColon(text, end)) this.addName(at, end);
        at = end;
        continue;
      }
      at++;
      if (code === COMMA) values++;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        values++;
        if (code === OPEN_BRACE) names?.open();
        if (++depth > BOUNDS.jsonDepth) throw new JsonBoundError(LEVELS, BOUNDS.jsonDepth, at - 1);
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (code === CLOSE_BRACE) names?.close();
        if (--depth > outer) continue;
        this.values = values;
        if (values > this.maxValues) this.failTooManyValues();
        return at;
      } else if (code === BACKSLASH) throw new JsonSyntaxError("a backslash outside of a string", at - 1);
    }
    throw new JsonSyntaxError("the text ends too early", length);
  }

  private open(): void {
    this.values++;
    if (++this.depth > BOUNDS.jsonDepth) throw new JsonBoundError(LEVELS, BOUNDS.jsonDepth, this.at - 1);
  }

  private failTooManyValues(): never {
    throw new JsonBoundError("values", this.maxValues, this.at);
  }

  /** Reads a comma (false) or the closing bracket (true). */
  private separator(close: number): boolean {
    const code = this.next();
    if (code !== COMMA && code !== close) {
      this.fail(`expected "," or "${String.fromCharCode(close)}"`);
    }
    this.at++;
    if (code === close) return true;
    if (++this.values > this.maxValues) this.failTooManyValues();
    return false;
  }

  /**
   * Moves past whitespace and returns the code of the next character; NaN at the end of the text. Without whitespace, the usual case, this
   * takes one comparison.
   */
  private next(): number {
    const code = this.text.charCodeAt(this.at);
    return code > SPACE ? code : this.nextAfterSpace();
  }

  private nextAfterSpace(): number {
    const { text } = this;
    let { at } = this;
    const far = at + MAX_INDENTATION;
    while (isSpace(text.charCodeAt(at))) if (++at === far) at = passWhitespace(text, at);
    this.at = at;
    return text.charCodeAt(at);
  }

  private fail(problem: string): never {
    throw new JsonSyntaxError(problem, this.at);
  }
}

/** Rejects an object that has a member twice, because two parsers may disagree on which one counts. */
function failTwice(name: string, position: number): never {
  const shown = JSON.stringify(name.slice(0, SHOWN_NAME_CHARS));
  throw new JsonSyntaxError(`${shown} stands twice in one object`, position);
}

const SHOWN_NAME_CHARS = 100;

/** Whether a colon follows, as it does after the name of a member. */
function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  let code = text.charCodeAt(at);
  while (isSpace(code)) code = text.charCodeAt(++at);
  return code === COLON;
}

/** Longer runs of whitespace are skipped by a search. */
const MAX_INDENTATION = 64;
const NOT_WHITESPACE = /[^ \n\r\t]/g;

/** Returns the end of a long run of whitespace. A search takes half the time of checking each character. */
function passWhitespace(text: string, at: number): number {
  NOT_WHITESPACE.lastIndex = at;
  return NOT_WHITESPACE.test(text) ? NOT_WHITESPACE.lastIndex - 1 : text.length;
}

/** Whether the character is JSON whitespace. */
export function isSpace(code: number): boolean {
  return code <= 32 && (code === 32 || code === 10 || code === 13 || code === 9);
}

/** Returns the entry for the name from `start` to `end`, quotes included; null if there is none. */
function findName(
  text: string,
  start: number,
  end: number,
  fields: WordTable<Shape>,
): WordEntry<Shape> | null {
  const named = findWord(text, start, end, fields);
  // A name with escapes may still be in the table.
  if (named !== null || isPlain(text, start + 1, end - 1)) return named;
  return findKey(decodeString(text, start, end), fields);
}

function findKey(key: string, fields: WordTable<Shape>): WordEntry<Shape> | null {
  return fields[key.length]?.find(({ word }) => word === key) ?? null;
}

function findWord<T>(text: string, start: number, end: number, table: WordTable<T>): WordEntry<T> | null {
  const entries = table[end - start - 2];
  if (entries === undefined) return null;
  for (const entry of entries) if (matchesAt(text, start + 1, entry.codes)) return entry;
  return null;
}

function matchesAt(text: string, start: number, codes: Uint8Array): boolean {
  for (let i = 0; i < codes.length; i++) if (text.charCodeAt(start + i) !== codes[i]) return false;
  return true;
}

/** Returns the position after a string's closing quote; `start` is its opening quote. */
export function endOfString(text: string, start: number): number {
  const quote = closingQuote(text, start + 1);
  if (quote < 0) throw new JsonSyntaxError("a string without its closing quote", start);
  return quote + 1;
}

/** Backslashes that are skipped in one step. Their number is even, which does not change whether the rest is odd. */
const RUN = "\\".repeat(256);
const MANY = 16;

/** Whether an odd number of backslashes precedes `at`. */
export function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) {
    before--;
    if (at - before > MANY) while (text.startsWith(RUN, before - RUN.length + 1)) before -= RUN.length;
  }
  return ((at - before) & 1) === 0;
}

/** Up to this distance between escaped quotes, characters are checked one by one, because starting a search costs as much. */
const DENSE_CHARS = 8;

/**
 * Returns the first unescaped quote from `start` on, within a string; -1 if there is none. Searches from quote to quote, and not
 * from backslash to backslash, because source code in a string has more escaped line ends than escaped quotes.
 */
export function closingQuote(text: string, start: number): number {
  let from = start;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0 || !isEscaped(text, quote)) return quote;
    const isDense = quote - from < DENSE_CHARS;
    from = quote + 1;
    if (!isDense) continue;
    // JSON within JSON. Steps over whole escapes, and returns to searching after a few characters without one.
    for (let plain = 0; plain < DENSE_CHARS; plain++) {
      const code = text.charCodeAt(from);
      if (code === QUOTE) return from;
      from++;
      if (code !== BACKSLASH) continue;
      from++;
      plain = 0;
    }
  }
}

/**
 * Returns the value of the string at `start` to `end`, quotes included. It may be a part of the text.
 * @throws JsonSyntaxError on a malformed escape.
 */
function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  if (end - start <= SHORT ? isPlain(inner, 0, inner.length) : PLAIN.test(inner)) return inner;
  try {
    return JSON.parse(decodeUtf8(text.slice(start, end))) as string;
  } catch {
    throw new JsonSyntaxError("a string with a broken escape", start);
  }
}

/** Decodes a string as `decodeString` does, into its own memory. Values outlive the text of a request that waits for its answer. */
function ownString(text: string, start: number, end: number): string {
  const value = decodeString(text, start, end);
  return text.length < LARGE_CHARS ? value : ownText(value);
}

/** Texts below this length are not copied: they keep too little memory to be worth the time. */
const LARGE_CHARS = 4 * 1024;

const PLAIN = /^[\x20-\x5b\x5d-\x7e]*$/;
/** Up to this length a loop is faster than the pattern. */
const SHORT = 48;

/** Returns whether a text is printable ASCII without a backslash, as `PLAIN` matches. It then needs no decoding. */
function isPlain(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH || code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

const ASCII = /^[\x00-\x7f]*$/;

/**
 * Returns whether the text is ASCII. For long texts the length of the UTF-8 is compared, which costs a fiftieth of checking each character.
 */
function isAscii(text: string): boolean {
  return text.length <= SHORT ? ASCII.test(text) : Buffer.byteLength(text) === text.length;
}

/** Decodes UTF-8 bytes that were read as Latin-1. */
export function decodeUtf8(latin1: string): string {
  return isAscii(latin1) ? latin1 : Buffer.from(latin1, "latin1").toString("utf8");
}

/** Encodes text as UTF-8 bytes in a Latin-1 string. */
export function encodeLatin1(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** Whether the value is the string `word`, which needs no escapes. */
export function isWord(text: string, node: JsonNode | undefined, word: string): boolean {
  return (
    node?.kind === "string" &&
    node.end - node.start === word.length + 2 &&
    text.startsWith(word, node.start + 1)
  );
}

/** Whether the value is a non-empty string. */
export function isFilled(node: JsonNode | undefined): boolean {
  return node?.kind === "string" && node.end - node.start > 2;
}

/** Whether the value is a string of printable ASCII without escapes, which is its own value. */
export function isPlainString(text: string, { kind, start, end }: JsonNode): boolean {
  return kind === "string" && isPlain(text, start + 1, end - 1);
}

/** Returns whether two values are written in the same way. Compares from the end, where ids usually differ. */
export function isSameText(text: string, one: JsonNode, other: JsonNode): boolean {
  if (one.end - one.start !== other.end - other.start) return false;
  for (let at = one.end - 1, distance = other.end - one.end; at >= one.start; at--)
    if (text.charCodeAt(at) !== text.charCodeAt(at + distance)) return false;
  return true;
}

/** Returns the table's entry for the string; undefined if there is none, or if the value is not a string. */
export function lookUp<T>(text: string, node: JsonNode | undefined, table: WordTable<T>): T | undefined {
  return node?.kind === "string" ? findWord(text, node.start, node.end, table)?.value : undefined;
}

/** Returns the member of this name, or undefined. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  const members = node?.members;
  if (!members) return undefined;
  for (const member of members) if (member.key === key) return member;
  return undefined;
}

/** No values. */
export const NO_NODES: readonly JsonNode[] = [];

/** Returns the elements of the member of this name; none if it is absent or not an array. */
export function itemsOf(node: JsonNode | undefined, key: string): readonly JsonNode[] {
  return memberOf(node, key)?.items ?? NO_NODES;
}

/** Returns a value as it is written; "" if there is none. */
export function sliceOf(text: string, node: JsonNode | undefined): string {
  return node === undefined ? "" : text.slice(node.start, node.end);
}

/** Returns the value of a string; undefined for anything else. */
export function stringOf(text: string, node: JsonNode | undefined): string | undefined {
  return node?.kind === "string" ? ownString(text, node.start, node.end) : undefined;
}

/**
 * Returns the value of a string, like `stringOf`, as a substring of the text if possible, which takes a third of the time. The text then
 * stays in memory as long as the value. Use `ownText` for a value that outlives the request's text.
 */
export function stringViewOf(text: string, node: JsonNode | undefined): string | undefined {
  return node?.kind === "string" ? decodeString(text, node.start, node.end) : undefined;
}

/** Returns the value of a string; undefined for anything else and for malformed strings, which the upstream reports. */
export function tryStringOf(text: string, node: JsonNode | undefined): string | undefined {
  try {
    return stringOf(text, node);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/**
 * Parses the whole value.
 * @throws JsonSyntaxError if a part that the scan skipped is not JSON.
 */
export function parseNode(text: string, node: JsonNode): unknown {
  try {
    return JSON.parse(decodeUtf8(text.slice(node.start, node.end)));
  } catch {
    throw new JsonSyntaxError("a value that is not JSON", node.start);
  }
}

/** Parses the whole value; undefined if a part that the scan skipped is not JSON. */
export function tryParseNode(text: string, node: JsonNode): unknown {
  try {
    return parseNode(text, node);
  } catch {
    return undefined;
  }
}

/**
 * Parses the member's whole value; undefined if there is none.
 * @throws JsonSyntaxError as `parseNode`.
 */
export function parseMember(text: string, node: JsonNode, key: string): unknown {
  const member = memberOf(node, key);
  return member === undefined ? undefined : parseNode(text, member);
}

/** Returns the value as a number; null for anything else. */
export function numberOf(text: string, node: JsonNode | undefined): number | null {
  if (node?.kind !== "number") return null;
  const { start, end } = node;
  return (
    (end - start <= EXACT_DIGITS ? wholeNumberOf(text, start, end) : null) ?? Number(text.slice(start, end))
  );
}

/** Numbers with so many digits are exact. */
const EXACT_DIGITS = 15;

/** Returns the number of a text of digits, which needs no copy of them; null for anything else. */
function wholeNumberOf(text: string, start: number, end: number): number | null {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value;
}

/** Whether the value is `false`. */
export function isFalse(text: string, node: JsonNode | undefined): boolean {
  return node?.kind === "boolean" && text.startsWith("false", node.start);
}

/** Whether the value is `true`. */
export function isTrue(text: string, node: JsonNode | undefined): boolean {
  return node?.kind === "boolean" && text.startsWith("true", node.start);
}
