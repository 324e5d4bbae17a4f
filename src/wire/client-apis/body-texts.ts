import { BOUNDS } from "../../base/bounds.ts";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  decodeUtf8,
  encodeLatin1,
  endOfString,
  isSpace,
  JsonBoundError,
  JsonSyntaxError,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "../json/scan.ts";
import { rejectInvalidJson } from "../json/scan-body.ts";
import { applySplices, type Splice } from "../json/splice.ts";
import type { ClientApi } from "./inference-request.ts";

/**
 * How the strings of a value are read. `content`: contents of messages, without ids, types, media and reasoning. `free`: data of the
 * caller, of which every string is text, and so are whole numbers that may be those of a card or a phone. `descriptions`: only
 * descriptions, as in the definitions of tools.
 */
type Mode = "content" | "free" | "descriptions";

type Roots = ReadonlyMap<string, Mode>;

/** The members of a body that have texts; null where it is no JSON: a form with a file. */
const ROOTS: Readonly<Record<ClientApi, Roots | null>> = {
  "chat.completions": new Map([
    ["messages", "content"],
    ["prediction", "content"],
    ["tools", "descriptions"],
    ["functions", "descriptions"],
  ]),
  messages: new Map([
    ["system", "content"],
    ["messages", "content"],
    ["tools", "descriptions"],
  ]),
  responses: new Map([
    ["instructions", "content"],
    ["input", "content"],
    ["prompt", "content"],
    ["tools", "descriptions"],
  ]),
  completions: new Map([
    ["prompt", "content"],
    ["suffix", "content"],
  ]),
  fim: new Map([
    ["prompt", "content"],
    ["suffix", "content"],
  ]),
  embeddings: new Map([["input", "content"]]),
  moderations: new Map([["input", "content"]]),
  rerank: new Map([
    ["query", "content"],
    ["documents", "content"],
  ]),
  images: new Map([["prompt", "content"]]),
  speech: new Map([
    ["input", "content"],
    ["instructions", "content"],
  ]),
  transcriptions: null,
};

/** Members of contents that are not text, or that must not be changed because a vendor verifies or parses them. */
const NO_TEXT: ReadonlySet<string> = new Set([
  ...["type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "name", "status", "version", "phase"],
  ...["format", "detail", "media_type", "mime_type", "filename", "url", "image_url", "file_url", "file_data"],
  ...["file_id", "container_id", "container", "cache_control", "audio", "input_audio"],
  ...["signature", "thought_signature", "encrypted_content", "encrypted_index", "thinking", "reasoning"],
  ...["reasoning_content", "reasoning_details", "extra_content", "summary"],
]);

/** Members of contents that hold data of any form. */
const FREE: ReadonlySet<string> = new Set(["input", "arguments", "action", "variables"]);

const INTEGER = /^\d{9,19}$/;

/** A text in a body: a string, or a number in data. */
interface Leaf {
  readonly value: string;
  /** Bytes in the body, or in the JSON of `container`. */
  readonly start: number;
  readonly end: number;
  readonly container: Container | null;
}

/** A string of the body that is JSON itself. */
interface Container {
  readonly json: string;
  readonly start: number;
  readonly end: number;
}

/** The texts of a body, which can be replaced without changing anything else in it. */
export class BodyTexts {
  /** In the order of the body. */
  readonly texts: readonly string[];

  constructor(
    private readonly bytes: Buffer,
    private readonly leaves: readonly Leaf[],
  ) {
    this.texts = leaves.map(({ value }) => value);
  }

  /** Returns a copy of the body in which the texts at these indexes are replaced; the body itself if there are none. */
  replace(replacements: ReadonlyMap<number, string>): Buffer {
    const splices: Splice[] = [];
    const nested = new Map<Container, Splice[]>();
    for (const [index, text] of replacements) {
      const { start, end, container } = this.leaves[index] as Leaf;
      const splice = { start, end, insert: JSON.stringify(text) };
      const list = container === null ? splices : (nested.get(container) ?? []);
      list.push(splice);
      if (container !== null) nested.set(container, list);
    }
    for (const [{ json, start, end }, inner] of nested) {
      const changed = applySplices(Buffer.from(json, "latin1"), inner).toString("utf8");
      splices.push({ start, end, insert: JSON.stringify(changed) });
    }
    return applySplices(this.bytes, splices);
  }
}

/**
 * Finds the texts of a request: contents of messages, instructions, prompts and inputs, calls of tools and their results, and the
 * descriptions of tools. Left out are media, ids, names and the reasoning of earlier turns.
 * @throws GatewayError `invalid_request` if a part of the body that was only skipped before is not JSON.
 */
export function readRequestTexts(api: ClientApi, body: Uint8Array): BodyTexts {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const roots = ROOTS[api];
  if (roots === null) return new BodyTexts(bytes, []);
  return rejectInvalidJson(() => {
    const finder = new TextFinder(bytes.toString("latin1"), null);
    finder.roots(roots);
    return new BodyTexts(bytes, finder.leaves);
  });
}

/** Finds the texts of JSON data, such as the arguments of a tool call: all strings, and whole numbers of many digits. Null if it is not JSON. */
export function readDataTexts(json: string): BodyTexts | null {
  const bytes = Buffer.from(json);
  try {
    JSON.parse(json);
    const finder = new TextFinder(bytes.toString("latin1"), null);
    finder.data();
    return new BodyTexts(bytes, finder.leaves);
  } catch {
    return null;
  }
}

/** What is known of an object that is being read. Its `data` is text only if its type is `text`; in other objects it is media. */
interface ObjectFrame {
  /** Null while the type has not been read. */
  isText: boolean | null;
  /** The index of the leaf that is its `data`; -1 for none. */
  dataAt: number;
}

/** Reads JSON once, from its start to its end, and collects texts. */
class TextFinder {
  readonly leaves: Leaf[] = [];
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly container: Container | null,
  ) {}

  /** Reads the members of the body that `roots` names. */
  roots(roots: Roots): void {
    this.object((key) => this.value(roots.get(key) ?? null, key));
  }

  /** Reads data of which every string is text. */
  data(): void {
    this.value("free", "");
  }

  /** Reads a value. `mode` null: nothing in it is text. */
  private value(mode: Mode | null, key: string): void {
    this.space();
    const code = this.text.charCodeAt(this.at);
    if (code === OPEN_BRACE) this.members(mode);
    else if (code === OPEN_BRACKET) this.elements(mode, key);
    else if (code === QUOTE) this.string(mode, key);
    else this.literal(mode);
  }

  private members(mode: Mode | null): void {
    const frame: ObjectFrame = { isText: null, dataAt: -1 };
    this.object((key) => {
      if (mode !== "content") return this.value(mode, key);
      if (key === "type") frame.isText = this.text.startsWith('"text"', this.at);
      if (key === "data") this.mediaOrText(frame);
      else this.value(modeOf(key), key);
    });
    if (frame.dataAt >= 0 && frame.isText !== true) this.leaves.splice(frame.dataAt, 1);
  }

  private mediaOrText(frame: ObjectFrame): void {
    const before = this.leaves.length;
    const mayBeText = frame.isText !== false && this.text.charCodeAt(this.at) === QUOTE;
    this.value(mayBeText ? "content" : null, "data");
    if (this.leaves.length > before) frame.dataAt = before;
  }

  private object(readMember: (key: string) => void): void {
    this.open();
    if (this.endsWith(CLOSE_BRACE)) return;
    do {
      this.space();
      const key = this.name();
      this.space();
      if (this.text.charCodeAt(this.at) !== COLON) this.fail('expected ":"');
      this.at++;
      this.space();
      readMember(key);
    } while (!this.separator(CLOSE_BRACE));
    this.depth--;
  }

  private elements(mode: Mode | null, key: string): void {
    this.open();
    if (this.endsWith(CLOSE_BRACKET)) return;
    do this.value(mode, key);
    while (!this.separator(CLOSE_BRACKET));
    this.depth--;
  }

  private name(): string {
    if (this.text.charCodeAt(this.at) !== QUOTE) this.fail("expected a name in double quotes");
    const start = this.at;
    this.at = endOfString(this.text, start);
    return decode(this.text, start, this.at);
  }

  private string(mode: Mode | null, key: string): void {
    const start = this.at;
    this.at = endOfString(this.text, start);
    if (mode === null || (mode === "descriptions" && key !== "description")) return;
    const value = decode(this.text, start, this.at);
    const isJson = key === "arguments" && this.container === null;
    if (isJson && this.nested({ json: encodeLatin1(value), start, end: this.at })) return;
    if (value !== "") this.leaves.push({ value, start, end: this.at, container: this.container });
  }

  /** Reads a string that may be JSON. Returns false if it is not. */
  private nested(container: Container): boolean {
    try {
      JSON.parse(decodeUtf8(container.json));
      const finder = new TextFinder(container.json, container);
      finder.data();
      for (const leaf of finder.leaves) this.leaves.push(leaf);
      return true;
    } catch {
      return false;
    }
  }

  private literal(mode: Mode | null): void {
    const start = this.at;
    while (this.at < this.text.length && !isEnd(this.text.charCodeAt(this.at))) this.at++;
    if (this.at === start) this.fail("expected a value");
    if (mode !== "free") return;
    const value = this.text.slice(start, this.at);
    if (INTEGER.test(value)) this.leaves.push({ value, start, end: this.at, container: this.container });
  }

  private open(): void {
    this.at++;
    if (++this.depth > BOUNDS.jsonDepth)
      throw new JsonBoundError("levels of nesting", BOUNDS.jsonDepth, this.at - 1);
  }

  /** Reads the closing bracket of an empty object or array. */
  private endsWith(close: number): boolean {
    this.space();
    if (this.text.charCodeAt(this.at) !== close) return false;
    this.at++;
    this.depth--;
    return true;
  }

  private separator(close: number): boolean {
    this.space();
    const code = this.text.charCodeAt(this.at);
    if (code !== COMMA && code !== close) this.fail(`expected "," or "${String.fromCharCode(close)}"`);
    this.at++;
    return code === close;
  }

  private space(): void {
    while (isSpace(this.text.charCodeAt(this.at))) this.at++;
  }

  private fail(problem: string): never {
    throw new JsonSyntaxError(problem, this.at);
  }
}

function modeOf(key: string): Mode | null {
  if (NO_TEXT.has(key)) return null;
  return FREE.has(key) ? "free" : "content";
}

function decode(text: string, start: number, end: number): string {
  try {
    return JSON.parse(decodeUtf8(text.slice(start, end))) as string;
  } catch {
    throw new JsonSyntaxError("a string with a broken escape", start);
  }
}

function isEnd(code: number): boolean {
  return isSpace(code) || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}
