import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  endOfNumber,
  type JsonNode,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "./scan.ts";

/**
 * Returns whether a string contains the JSON of an object, as the arguments of a tool call do. `text` is the body, bytes as Latin-1.
 * Latin-1 suffices, because other characters are inside strings of the inner JSON.
 */
export function isObjectText(text: string, node: JsonNode): boolean {
  return new EscapedJson(text, node).isObject() || parsesAsObject(text, node);
}

/** The reference implementation of `isObjectText`: decodes the string and parses the result. */
export function parsesAsObject(text: string, { start, end }: JsonNode): boolean {
  // A parser that throws costs more than all other processing of a call.
  if (end - start === EMPTY_TEXT.length) return false;
  try {
    const value: unknown = JSON.parse(JSON.parse(text.slice(start, end)) as string);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const EMPTY_TEXT = '""';

/** Deeper values are parsed instead. */
const MAX_DEPTH = 32;
const SPACE = 32;

/**
 * Reads JSON that is escaped in a JSON string, without decoding it: a quote is `\"`, a backslash `\\`. Supports the escapes that JSON
 * printers write. Text with other escapes or with errors is not recognized, and is parsed instead.
 */
class EscapedJson {
  private at: number;
  private readonly end: number;

  constructor(
    private readonly text: string,
    { start, end }: JsonNode,
  ) {
    this.at = start + 1;
    this.end = end - 1;
  }

  /** Returns whether the text is recognized as one object. */
  isObject(): boolean {
    this.space();
    if (!this.take(OPEN_BRACE) || !this.members(1)) return false;
    this.space();
    return this.at === this.end;
  }

  private value(depth: number): boolean {
    const { text, at } = this;
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) return this.string();
    if (depth > MAX_DEPTH) return false;
    if (this.take(OPEN_BRACE)) return this.members(depth + 1);
    if (this.take(OPEN_BRACKET)) return this.items(depth + 1);
    if (text.startsWith("true", at) || text.startsWith("null", at)) this.at += 4;
    else if (text.startsWith("false", at)) this.at += 5;
    else this.at = endOfNumber(text, at);
    return this.at > at;
  }

  /** Reads the members of an object and its closing brace. */
  private members(depth: number): boolean {
    this.space();
    if (this.take(CLOSE_BRACE)) return true;
    do {
      this.space();
      if (!this.string()) return false;
      this.space();
      if (!this.take(COLON)) return false;
      this.space();
      if (!this.value(depth)) return false;
      this.space();
    } while (this.take(COMMA));
    return this.take(CLOSE_BRACE);
  }

  /** Reads the elements of an array and its closing bracket. */
  private items(depth: number): boolean {
    this.space();
    if (this.take(CLOSE_BRACKET)) return true;
    do {
      this.space();
      if (!this.value(depth)) return false;
      this.space();
    } while (this.take(COMMA));
    return this.take(CLOSE_BRACKET);
  }

  private string(): boolean {
    const { text, end } = this;
    let { at } = this;
    if (text.charCodeAt(at) !== BACKSLASH || text.charCodeAt(at + 1) !== QUOTE) return false;
    at += 2;
    while (at < end) {
      const code = text.charCodeAt(at);
      if (code < SPACE) return false;
      if (code !== BACKSLASH) {
        at++;
        continue;
      }
      const escaped = text.charCodeAt(at + 1);
      this.at = at += 2;
      if (escaped === QUOTE) return true;
      const length = escaped === BACKSLASH ? escapeLength(text, at) : 0;
      if (length === 0) return false;
      at += length;
    }
    return false;
  }

  private take(code: number): boolean {
    if (this.text.charCodeAt(this.at) !== code) return false;
    this.at++;
    return true;
  }

  private space(): void {
    const { text } = this;
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code === SPACE) this.at++;
      else if (code === BACKSLASH && isLineSpace(text.charCodeAt(this.at + 1))) this.at += 2;
      else return;
    }
  }
}

const [LETTER_N, LETTER_R, LETTER_T, LETTER_U, SLASH] = [..."nrtu/"].map((letter) => letter.charCodeAt(0));

/** Whether the character after a backslash stands for a line feed, carriage return or tab. */
function isLineSpace(code: number): boolean {
  return code === LETTER_N || code === LETTER_R || code === LETTER_T;
}

/** Returns the length of what follows the inner backslash of an escape; 0 for an escape that is not known. */
function escapeLength(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (isLineSpace(code) || code === SLASH) return 1;
  if (code === LETTER_U) return HEX.test(text.slice(at + 1, at + 5)) ? 5 : 0;
  if (code !== BACKSLASH) return 0;
  const escaped = text.charCodeAt(at + 1);
  return escaped === QUOTE || escaped === BACKSLASH ? 2 : 0;
}

const HEX = /^[0-9a-fA-F]{4}$/;
