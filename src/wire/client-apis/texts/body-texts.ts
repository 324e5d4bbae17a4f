import { isUtf8 } from "node:buffer";
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
} from "../../../base/json/scan.ts";
import { rejectInvalidJson } from "../../../base/json/scan-body.ts";
import { applySplices, type Splice } from "../../../base/json/splice.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { unwrapReasoning } from "../../canonical/model/reasoning-envelope.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { readForm } from "../../forwarded/form-body.ts";
import type { ClientApi } from "../request/inference-request.ts";
import { API_WORDS } from "./api-words.ts";
import {
  isBase64Form,
  isIdForm,
  isNameText,
  isNumberText,
  isOpaqueForm,
  isPlainName,
  kindOf,
  type Mode,
  modeOf,
} from "./place-rules.ts";

/** Numbers with fewer digits are no cards, phones or accounts. */
const LONG_NUMBER = /\d{9}/;

/** A text in a body: a string, the name of a member or a number. */
interface Leaf {
  readonly value: string;
  /** Bytes in the body, or in the JSON of `container`. */
  readonly start: number;
  readonly end: number;
  readonly container: Container | null;
  /** Encodes a text that replaces it. */
  readonly write: (text: string) => string;
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
    const splices = new SpliceList();
    const nested = new Map<Container, SpliceList>();
    for (const [index, text] of replacements) {
      const { start, end, container, write } = this.leaves[index] as Leaf;
      const list = container === null ? splices : (nested.get(container) ?? new SpliceList());
      list.add({ start, end, insert: write(text) });
      if (container !== null) nested.set(container, list);
    }
    for (const [{ json, start, end }, inner] of nested) {
      const changed = applySplices(Buffer.from(json, "latin1"), inner.list).toString("utf8");
      splices.add({ start, end, insert: JSON.stringify(changed) });
    }
    return applySplices(this.bytes, splices.list);
  }
}

/** A list of splices without overlaps. If a text was read in two ways, the first replacement counts. */
class SpliceList {
  readonly list: Splice[] = [];
  private readonly starts = new Set<number>();

  add(splice: Splice): void {
    if (this.starts.has(splice.start)) return;
    this.starts.add(splice.start);
    this.list.push(splice);
  }
}

/**
 * Finds the texts of a request: all strings, names of members and long numbers, except what `place-rules` says (docs/guardrails.md).
 * `contentType` is that of a form.
 * @throws GatewayError `invalid_request` if a part of the body that was only skipped before is not JSON.
 */
export function readRequestTexts(
  api: ClientApi,
  body: Uint8Array,
  contentType: string | null = null,
): BodyTexts {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return api === "transcriptions" ? readFormTexts(bytes, contentType) : readJsonTexts(bytes);
}

/**
 * Finds the texts of a body or an answer that is JSON, as `readRequestTexts`.
 * @throws as `readRequestTexts`.
 */
function readJsonTexts(bytes: Buffer): BodyTexts {
  return rejectInvalidJson(() => {
    const finder = new TextFinder(bytes.toString("latin1"), null);
    finder.body();
    return new BodyTexts(bytes, finder.leaves);
  });
}

/** Finds the texts of an answer, or of an event of one, that is JSON. Anything else has none. Names that are plain words are not texts. */
export function readAnswerTexts(bytes: Buffer): BodyTexts {
  try {
    const finder = new TextFinder(bytes.toString("latin1"), null, true);
    finder.body();
    return new BodyTexts(bytes, finder.leaves);
  } catch {
    return new BodyTexts(bytes, []);
  }
}

/** Finds the texts of a form: its fields and the names of its files, without what addresses the gateway. */
function readFormTexts(bytes: Buffer, contentType: string | null): BodyTexts {
  const leaves: Leaf[] = [];
  for (const { name, isFile, start, end, fileName } of readForm(bytes, contentType).parts) {
    if (fileName !== null)
      leaves.push({ ...leafAt(bytes, fileName), write: (text) => text.replaceAll(/["\r\n]/g, "'") });
    if (isFile || name === "model" || GATEWAY_FIELDS.has(name)) continue;
    const leaf = leafAt(bytes, { start, end });
    if (!API_WORDS.has(leaf.value)) leaves.push({ ...leaf, write: (text) => text });
  }
  return new BodyTexts(
    bytes,
    leaves.filter(({ value }) => value !== ""),
  );
}

function leafAt(bytes: Buffer, { start, end }: { readonly start: number; readonly end: number }) {
  return { value: bytes.toString("utf8", start, end), start, end, container: null };
}

/**
 * Finds the texts of JSON data, such as the arguments of a call that a model wrote. Their names are texts if they are no plain words,
 * because the others are those of the tool. Null if it is not JSON.
 */
export function readDataTexts(json: string): BodyTexts | null {
  const bytes = Buffer.from(json);
  try {
    JSON.parse(json);
    const finder = new TextFinder(bytes.toString("latin1"), null, true);
    finder.data();
    return new BodyTexts(bytes, finder.leaves);
  } catch {
    return null;
  }
}

/** The state of an object that is being read. */
interface ObjectFrame {
  /** Its `type` and `media_type`; "" if it has none. */
  type: string;
  mediaType: string;
  /** Its strings that may be media, which depends on these. */
  readonly media: Range[];
  /** Texts that may be credentials, which depends on the type, by index. */
  readonly credentials: number[];
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Reads JSON once, from its start to its end, and collects texts. */
class TextFinder {
  readonly leaves: Leaf[] = [];
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly container: Container | null,
    private readonly skipsPlainNames = false,
  ) {}

  /** Reads a body. */
  body(): void {
    this.space();
    if (this.text.charCodeAt(this.at) === OPEN_BRACE) this.members("api");
    else this.value("free", "", null);
  }

  /** Reads data in which every string is a text. */
  data(): void {
    this.value("free", "", null);
  }

  /** Reads a value. `key` is the name of its member, or of the array that it is in; `frame` its object, null within an array. */
  private value(mode: Mode, key: string, frame: ObjectFrame | null): void {
    this.space();
    const code = this.text.charCodeAt(this.at);
    if (code === OPEN_BRACE) this.members(mode);
    else if (code === OPEN_BRACKET) this.elements(mode, key);
    else if (code === QUOTE) this.string(mode, key, frame);
    else this.literal(mode, key);
  }

  private members(mode: Mode): void {
    const isRoot = this.depth === 0 && this.container === null;
    const frame: ObjectFrame = { type: "", mediaType: "", media: [], credentials: [] };
    this.object((key) => {
      const isObject = this.text.charCodeAt(this.at) === OPEN_BRACE;
      const before = this.leaves.length;
      const isContainer = isObject || this.text.charCodeAt(this.at) === OPEN_BRACKET;
      const inner = isContainer || mode === "api" ? modeOf(mode, key, { isObject, isRoot }) : mode;
      this.value(isContainer || inner === null ? inner : mode, key, frame);
      if (mode === "api" && CREDENTIALS.has(key))
        for (let at = before; at < this.leaves.length; at++) frame.credentials.push(at);
    }, mode);
    for (const range of frame.media) this.media(range, frame);
    if (isRemote(frame)) this.drop(frame.credentials);
  }

  private object(readMember: (key: string) => void, mode: Mode): void {
    this.open();
    if (this.endsWith(CLOSE_BRACE)) return;
    do {
      this.space();
      const key = this.name(mode);
      this.space();
      if (this.text.charCodeAt(this.at) !== COLON) this.fail('expected ":"');
      this.at++;
      this.space();
      readMember(key);
    } while (!this.separator(CLOSE_BRACE));
    this.depth--;
  }

  private elements(mode: Mode, key: string): void {
    this.open();
    if (this.endsWith(CLOSE_BRACKET)) return;
    do this.value(mode, key, null);
    while (!this.separator(CLOSE_BRACKET));
    this.depth--;
  }

  private name(mode: Mode): string {
    if (this.text.charCodeAt(this.at) !== QUOTE) this.fail("expected a name in double quotes");
    const start = this.at;
    this.at = endOfString(this.text, start);
    const name = decode(this.text, start, this.at);
    if (isNameText(mode, name) && !(this.skipsPlainNames && isPlainName(name)))
      this.add(name, { start, end: this.at });
    return name;
  }

  private string(mode: Mode, key: string, frame: ObjectFrame | null): void {
    const start = this.at;
    this.at = endOfString(this.text, start);
    const range = { start, end: this.at };
    if (mode === null) return;
    if (frame !== null && key === "type") frame.type = decode(this.text, start, this.at);
    if (frame !== null && MEDIA_TYPES.has(key)) frame.mediaType = decode(this.text, start, this.at);
    if (mode === "free" || key === "arguments") this.dataString(key, range);
    else if (mode === "schema" || kindOf(key) !== "data") this.apiString(mode, key, range);
    else if (frame === null) this.media(range, { type: "", mediaType: "" });
    else frame.media.push(range);
  }

  /** Reads a string of the API or of a schema, which may be no text by the name of its member. */
  private apiString(mode: Mode, key: string, range: Range): void {
    const value = decode(this.text, range.start, range.end);
    const kind = kindOf(key);
    const isWord = kind === "word" && API_WORDS.has(value);
    const isId = mode === "api" && kind === "id" && isIdForm(value);
    const isOpaque = mode === "api" && kind === "opaque" && isOpaqueForm(value);
    if (isOpaque) this.envelope(value, range);
    else if (!isWord && !isId) this.add(value, range);
  }

  /** Reads a string of data. Arguments of calls are JSON in a string. */
  private dataString(key: string, { start, end }: Range): void {
    const value = decode(this.text, start, end);
    const isJson = key === "arguments" && this.container === null;
    if (!isJson || !this.nested({ json: encodeLatin1(value), start, end })) this.add(value, { start, end });
  }

  /** Reads a string that holds media: base64, or a URL. Only what is text is checked. */
  private media(range: Range, { type, mediaType }: Pick<ObjectFrame, "type" | "mediaType">): void {
    const value = decode(this.text, range.start, range.end);
    const [head = "", declared = mediaType] = DATA_URL.exec(value) ?? [];
    const data = value.slice(head.length);
    if (type === "text" || (head === "" && !isBase64Form(value))) this.add(value, range);
    if (type === "text") return;
    if (head !== "" && !isBase64Form(data)) this.add(value, range);
    const text = readBase64Text(data, TEXT_TYPE.test(declared));
    const write = (changed: string) => JSON.stringify(head + Buffer.from(changed).toString("base64"));
    if (text !== null) this.add(text, range, write);
  }

  /** Checks that the gateway's own envelope of a signature holds no words. */
  private envelope(value: string, range: Range): void {
    const kept = unwrapReasoning(value);
    if (kept === null) return;
    const { signature, encrypted, id, origin } = kept;
    const words = [signature, encrypted, id, origin].filter((text) => text !== null && !isOpaqueForm(text));
    // Whatever replaces it is no envelope, so that nothing of it reaches a provider.
    for (const word of words) this.add(word as string, range);
  }

  private add(value: string, { start, end }: Range, write: Leaf["write"] = JSON.stringify): void {
    if (value !== "") this.leaves.push({ value, start, end, container: this.container, write });
  }

  private drop(indexes: readonly number[]): void {
    for (const index of indexes.toReversed()) this.leaves.splice(index, 1);
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

  private literal(mode: Mode, key: string): void {
    const start = this.at;
    while (this.at < this.text.length && !isEnd(this.text.charCodeAt(this.at))) this.at++;
    if (this.at === start) this.fail("expected a value");
    if (!isNumberText(mode, key)) return;
    const literal = this.text.slice(start, this.at);
    // Translation may print a number in another way.
    for (const value of new Set([literal, String(Number(literal))]))
      if (LONG_NUMBER.test(value)) this.add(value, { start, end: this.at });
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

/** Members with the media type of their object. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(["media_type", "mime_type"]);
const DATA_URL = /^data:([^,]*);base64,/;
const TEXT_TYPE = /^\s*(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml))/i;

/** Members with the credentials of a remote tool server, which its vendor does not show to the model. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "authorization_token", "headers"]);

function isRemote({ type }: ObjectFrame): boolean {
  return type === "mcp" || type === "url";
}

/** Returns the text that base64 holds. Null: it does not look like text, and its type does not say that it is. */
function readBase64Text(data: string, isDeclared: boolean): string | null {
  if (!isDeclared && !beginsAsText(Buffer.from(data.slice(0, HEAD_CHARS), "base64"))) return null;
  const bytes = Buffer.from(data, "base64");
  return isDeclared || isUtf8(bytes) ? bytes.toString("utf8") : null;
}

const HEAD_CHARS = 4_096;

/** Whether bytes are UTF-8 without control characters, except that the last character may be cut. */
function beginsAsText(bytes: Buffer): boolean {
  if (bytes.some((byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 13)) return false;
  for (let cut = 0; cut < 4; cut++) if (isUtf8(bytes.subarray(0, bytes.length - cut))) return true;
  return false;
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
