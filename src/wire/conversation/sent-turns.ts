import { decodeUtf8, type JsonNode, tryStringOf } from "../../base/json/scan.ts";
import { RunningHash, sha256 } from "../../base/secrets/hash.ts";

/**
 * A conversation as a client sent it, reduced to the parts that identify it: instructions, roles, contents, calls and results. Parts that
 * clients change from turn to turn are omitted: the reasoning of earlier turns, cache marks, item ids, and whether a text is a string or a
 * list of one part.
 */
export interface SentConversation {
  /** A hash of all of it. */
  readonly prefix: string;
  /** The turns of the model with calls or texts, the last one first. */
  readonly turns: readonly SentTurn[];
}

/** A turn of the model within a conversation. */
export interface SentTurn {
  /** A hash of everything before the turn. */
  readonly prefix: string;
  readonly calls: readonly SentCall[];
  /** The positions of its texts that are not empty. */
  readonly texts: readonly JsonNode[];
}

interface SentCall {
  readonly id: string;
  /** The result of `identifyCall` for the call. */
  readonly key: string;
}

/**
 * The maximum number of turns that are looked up for one request, counted from its end: a lookup costs as much as encoding the
 * turn.
 */
export const MAX_RECALLED = 1_000;

/** Identifies a call within its turn: by its id, its name, and its arguments however they are formatted. */
export function identifyCall(id: string, name: string, args: string): string {
  return sha256(`call${JSON.stringify([id, name])}${normaliseJson(args)}`, "base64url");
}

/** Identifies a text within its turn. */
export function identifyText(text: string): string {
  return sha256(`text${text}`, "base64url");
}

/** Returns JSON with sorted members and without white space; other texts unchanged. */
function normaliseJson(text: string): string {
  try {
    return JSON.stringify(sortMembers(JSON.parse(text)));
  } catch {
    return text;
  }
}

function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortMembers(member)]));
}

/** A call whose arguments are read on first use, because most turns are not stored. */
class LazyCall implements SentCall {
  private identity: string | null = null;

  constructor(
    private readonly text: string,
    readonly id: string,
    private readonly name: JsonNode,
    private readonly args: JsonNode | undefined,
  ) {}

  get key(): string {
    const { text, id, name, args } = this;
    this.identity ??= identifyCall(id, tryStringOf(text, name) ?? "", readArguments(text, args));
    return this.identity;
  }
}

/** The nodes of a call. `args`: a string, or an object where the format has one. */
type CallNodes = Record<"id" | "name" | "args", JsonNode | undefined>;

/** Returns those of the calls that have an id and a name. */
export function readSentCalls<T>(
  text: string,
  calls: readonly T[],
  nodesOf: (call: T) => CallNodes,
): readonly SentCall[] {
  const read: SentCall[] = [];
  for (const call of calls) {
    const { id, name, args } = nodesOf(call);
    const callId = tryStringOf(text, id);
    if (callId && name?.kind === "string") read.push(new LazyCall(text, callId, name, args));
  }
  return read;
}

function readArguments(text: string, node: JsonNode | undefined): string {
  if (node === undefined) return "";
  return node.kind === "string"
    ? (tryStringOf(text, node) ?? "")
    : decodeUtf8(text.slice(node.start, node.end));
}

/** Bytes that mark the kind of each value in the hash. JSON never contains them: in strings they are escaped. */
const MARKS = { message: 1, text: 2, part: 3, call: 4, member: 5, end: 6 } as const;

/** Members that clients move from message to message, or that only repeat what a vendor said of its own answer. */
const LEFT_OUT: ReadonlySet<string> = new Set(["cache_control", "extra_content", "annotations", "logprobs"]);

/** Hashes a conversation value by value, and keeps the hash before each turn of the model. */
export class ConversationReader {
  private readonly found: SentTurn[] = [];
  private readonly hash = new RunningHash();
  /** Bytes in `scratch`. */
  private length = 0;

  constructor(private readonly bytes: Buffer) {}

  /** Begins a message or an item. `role` is its role or type. */
  beginMessage(role: JsonNode | undefined): void {
    this.mark(MARKS.message);
    if (role !== undefined) this.copy(role.start, role.end);
  }

  addText(text: JsonNode): void {
    if (text.end - text.start <= 2) return;
    this.mark(MARKS.text);
    this.copy(text.start, text.end);
  }

  /** Adds a part by its members, except those named. */
  addPart(part: JsonNode, without: ReadonlySet<string> = LEFT_OUT): void {
    this.mark(MARKS.part);
    if (part.members === null) this.copy(part.start, part.end);
    else this.addMembers(part, without);
    this.mark(MARKS.end);
  }

  /** Begins a part whose members follow one by one, up to `endPart`. */
  beginPart(): void {
    this.mark(MARKS.part);
  }

  endPart(): void {
    this.mark(MARKS.end);
  }

  addCall(nodes: readonly (JsonNode | undefined)[]): void {
    this.mark(MARKS.call);
    for (const node of nodes) if (node !== undefined) this.copy(node.start, node.end);
  }

  /** Adds the members of an object that are not null, except those named. */
  addMembers({ members }: JsonNode, without: ReadonlySet<string>): void {
    for (const member of members ?? [])
      if (member.kind !== "null" && !without.has(member.key) && !LEFT_OUT.has(member.key))
        this.addMember(member);
  }

  addMember({ keyStart, start, end }: JsonNode): void {
    this.mark(MARKS.member);
    this.copy(keyStart < 0 ? start : keyStart, end);
  }

  /** Returns the hash of everything so far. */
  takePrefix(): string {
    this.flush();
    return this.hash.read();
  }

  addTurn(turn: SentTurn): void {
    if (turn.calls.length > 0 || turn.texts.length > 0) this.found.push(turn);
  }

  end(): SentConversation {
    const prefix = this.takePrefix();
    return { prefix, turns: this.found.slice(-MAX_RECALLED).reverse() };
  }

  private mark(mark: number): void {
    if (this.length === SCRATCH_BYTES) this.flush();
    scratch[this.length++] = mark;
  }

  private copy(start: number, end: number): void {
    const size = end - start;
    if (this.length + size > SCRATCH_BYTES) this.flush();
    if (size > SCRATCH_BYTES) this.hash.add(this.bytes.subarray(start, end));
    else this.length += this.bytes.copy(scratch, this.length, start, end);
  }

  private flush(): void {
    if (this.length > 0) this.hash.add(scratch.subarray(0, this.length));
    this.length = 0;
  }
}

/** Small values are collected here, because each call of the hash takes time. Reading is synchronous, so that all readers share it. */
const SCRATCH_BYTES = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/** Returns whether a part contains only a text, apart from members that are not hashed. It is then hashed like a plain text. */
export function isPlainText({ members }: JsonNode): boolean {
  for (const { key, kind } of members ?? [])
    if (key !== "type" && key !== "text" && kind !== "null" && !LEFT_OUT.has(key)) return false;
  return true;
}
