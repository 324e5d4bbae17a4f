// Replaces `decodeRequest` of openai-chat and `encodeRequest` of anthropic-messages for messages and tools, and prints the same.

import { mayBeDeep } from "../../../base/json/parse-json.ts";
import {
  BACKSLASH,
  isFilled,
  isWord,
  itemsOf,
  type JsonNode,
  JsonSyntaxError,
  memberOf,
  NO_NODES,
  OPEN_BRACE,
  stringViewOf,
  tryParseNode,
  tryStringOf,
} from "../../../base/json/scan.ts";
import { ByteOutput } from "../../../base/text/byte-output.ts";
import type { Interleaved } from "../../../base/text/composed-bytes.ts";
import { encodeCache } from "../../anthropic-messages/translate/parts/cache-mark.ts";
import { type CacheMark, readCacheMark } from "../../canonical/model/parts.ts";
import {
  type CacheMarking,
  type MarkableMessage,
  type MarkedBlock,
  placeTurnMarks,
} from "../../conversation/cache-marking.ts";
import type { ChatMessage } from "../../openai-chat/passthrough/request-shape.ts";
import { type ChatRole, readRole } from "../../openai-chat/passthrough/role.ts";
import type { ScannedChatRequest } from "../../openai-chat/passthrough/scan-request.ts";
import { CommonIds, isCommonName } from "./common-ids.ts";

/** Members of a body, each behind a comma, between which parts of the client's body stand. */
export interface WrittenRequest extends Interleaved {
  /** The names of its tools. */
  readonly tools: readonly string[];
}

/** The memory into which requests are printed, one at a time. */
const output = new ByteOutput();

/**
 * Writes the instructions, messages and tools of one chat request for Anthropic's API. They are read as long as they are plain: methods
 * return false where something is not. Neighbouring messages of one role become one message, in which results come first.
 */
export class MessagesWriter {
  private readonly tools: string[] = [];
  private readonly cuts: number[] = [];
  private readonly messages: readonly ChatMessage[];
  private readonly roles: readonly (ChatRole | undefined)[];
  private readonly ids = new CommonIds();
  /** The blocks that the gateway marks for the vendor's cache. */
  private readonly marked: readonly MarkedBlock[];
  private readonly marksTools: boolean;

  /** `marking`: where the gateway marks the prompt; null for nowhere. */
  constructor(
    private readonly scanned: ScannedChatRequest,
    marking: CacheMarking | null,
  ) {
    this.messages = scanned.messages;
    this.roles = this.messages.map((message) => readRole(scanned.text, message));
    this.marked = marking === null ? NO_MARKS : this.placeMarks(marking);
    this.marksTools = marking?.shared === true && !isInstruction(this.roles[0]);
  }

  private placeMarks({ shared, turns }: CacheMarking): readonly MarkedBlock[] {
    const blocks = this.messages.map((message, at) => this.listBlocks(message, at));
    const instructions = this.roles.findIndex((role) => !isInstruction(role));
    const last = instructions - 1;
    const before = shared && last >= 0 ? [{ message: last, block: (blocks[last]?.length ?? 0) - 1 }] : [];
    if (!turns) return before;
    const markable = blocks.map((ofMessage, at): MarkableMessage => {
      const role = this.roles[at];
      return { isAssistant: role === "assistant", blocks: isInstruction(role) ? [] : ofMessage };
    });
    return [...before, ...placeTurnMarks(markable)];
  }

  /** Returns the blocks that a message becomes. What cannot be marked is not written. */
  private listBlocks(message: JsonNode, at: number): readonly boolean[] {
    if (this.roles[at] === "tool") return [true];
    const content = memberOf(message, "content");
    const texts = content?.items?.length ?? (content?.kind === "string" && isFilled(content) ? 1 : 0);
    return new Array<boolean>(texts + itemsOf(message, "tool_calls").length).fill(true);
  }

  private isMarked(message: number, block: number): boolean {
    return this.marked.some((mark) => mark.message === message && mark.block === block);
  }

  /** Returns null if the request is not plain. */
  write(): WrittenRequest | null {
    output.clear();
    const { cuts, tools } = this;
    return this.conversation() && this.allTools() ? { printed: output.take(), cuts, tools } : null;
  }

  private allTools(): boolean {
    const tools = memberOf(this.scanned.root, "tools");
    if (tools === undefined) return true;
    if (!tools.items || tools.items.length === 0) return false;
    let before = ',"tools":[';
    for (const tool of tools.items) {
      print(before);
      if (!this.tool(tool)) return false;
      if (this.marksTools && tool === tools.items.at(-1)) print(OWN_MARK);
      print("}");
      before = ",";
    }
    print("]");
    return true;
  }

  private tool(tool: JsonNode): boolean {
    const { bytes, text } = this.scanned;
    const fn = memberOf(tool, "function");
    if (fn === undefined || !hasOnly(tool, TOOL) || !hasOnly(fn, TOOL_FUNCTION)) return false;
    const [name, description, parameters] = TOOL_PARTS.map((key) => memberOf(fn, key));
    if (name === undefined || !isWord(text, memberOf(tool, "type"), "function")) return false;
    if (!isCommonName(bytes, name) || !parameters || !isObjectSchema(text, parameters)) return false;
    this.tools.push(text.slice(name.start + 1, name.end - 1));
    print('{"name":');
    this.print(name);
    if (description !== undefined) {
      if (description.kind !== "string") return false;
      print(',"description":');
      this.copy(description);
    }
    print(',"input_schema":');
    this.copy(parameters);
    return true;
  }

  private conversation(): boolean {
    const { messages, roles } = this;
    const first = roles.findIndex((role) => !isInstruction(role));
    // This API demands that the user begins, and changes what the assistant says last.
    if (first < 0 || roles[first] !== "user" || roles.at(-1) === "assistant") return false;
    if (!this.system(first)) return false;
    let hasText = false;
    for (let at = first; at < messages.length; at++) {
      const role = roles[at];
      // Translation marks an instruction after other messages, and warns the client.
      if (isInstruction(role)) return false;
      const begins = at === first || findSide(roles[at - 1]) !== findSide(role);
      const ends = at + 1 === messages.length || findSide(roles[at + 1]) !== findSide(role);
      if (begins) {
        if (at > first) print(",");
        print(role === "assistant" ? '{"role":"assistant","content":' : '{"role":"user","content":');
        hasText = false;
      }
      if (role === "tool" && hasText) return false;
      if (!this.message(at, begins, ends)) return false;
      hasText ||= role !== "tool";
      if (ends) print("}");
    }
    print("]");
    return true;
  }

  /** Writes the instructions before message `first`, and begins the messages. */
  private system(first: number): boolean {
    if (first > 0) {
      print(',"system":');
      for (let at = 0; at < first; at++) {
        const message = this.messages[at] as JsonNode;
        if (!hasOnly(message, PROMPT) || !this.texts(at, at === 0, at + 1 === first)) return false;
      }
    }
    print(',"messages":[');
    return true;
  }

  /** Writes a message, which may be the first or last of those that become one. */
  private message(at: number, begins: boolean, ends: boolean): boolean {
    const role = this.roles[at];
    const message = this.messages[at] as JsonNode;
    if (role === "user") return hasOnly(message, PROMPT) && this.texts(at, begins, ends);
    if (role === "tool") return hasOnly(message, RESULT) && this.result(at, begins, ends);
    return hasOnly(message, TURN) && this.turn(at, begins, ends);
  }

  /** Writes the texts of a message's content as blocks, or its only text as a string. No text may be blank. */
  private texts(at: number, begins: boolean, ends: boolean): boolean {
    const content = memberOf(this.messages[at] as JsonNode, "content");
    if (content === undefined || !this.hasTexts(content)) return false;
    const texts = content.items ?? [content];
    if (texts.length === 0) return false;
    for (const text of texts) if (this.isBlank(text)) return false;
    this.blocks(texts, { begins, ends, message: at });
    return true;
  }

  /** Writes texts as blocks, or as a string. `message`: the message whose blocks they are; null for those of a result. */
  private blocks(
    texts: readonly JsonNode[],
    {
      begins,
      ends,
      message,
    }: { readonly begins: boolean; readonly ends: boolean; readonly message: number | null },
  ): void {
    const [only] = texts;
    const isOwn = (block: number) => message !== null && this.isMarked(message, block);
    if (begins && ends && texts.length === 1 && only !== undefined && !hasMark(only) && !isOwn(0)) {
      this.copy(stringIn(only));
      return;
    }
    for (let at = 0; at < texts.length; at++) {
      const text = texts[at] as JsonNode;
      print(begins && at === 0 ? '[{"type":"text","text":' : ',{"type":"text","text":');
      this.copy(stringIn(text));
      if (isOwn(at)) print(OWN_MARK);
      else this.mark(text);
      print("}");
    }
    if (ends) print("]");
  }

  private result(at: number, begins: boolean, ends: boolean): boolean {
    const message = this.messages[at] as JsonNode;
    const content = memberOf(message, "content");
    if (content === undefined || !this.hasTexts(content)) return false;
    const texts = content.items ?? (isFilled(content) ? [content] : NO_NODES);
    for (const text of content.items ?? NO_NODES) if (this.isBlank(text)) return false;
    print(begins ? '[{"type":"tool_result","tool_use_id":' : ',{"type":"tool_result","tool_use_id":');
    this.print(memberOf(message, "tool_call_id") as JsonNode);
    if (texts.length > 0) {
      print(',"content":');
      this.blocks(texts, { begins: true, ends: true, message: null });
    }
    if (this.isMarked(at, 0)) print(OWN_MARK);
    print(ends ? "}]" : "}");
    return true;
  }

  /** Writes an assistant's text and calls. */
  private turn(at: number, begins: boolean, ends: boolean): boolean {
    const message = this.messages[at] as JsonNode;
    const content = memberOf(message, "content");
    const calls = memberOf(message, "tool_calls");
    if (calls === undefined) return this.texts(at, begins, ends);
    const items = calls.items ?? NO_NODES;
    if (items.length === 0) return false;
    const isSilent = content === undefined || content.kind === "null" || isEmptyText(content);
    if (!isSilent && !this.texts(at, begins, false)) return false;
    const before = isSilent ? 0 : (content?.items?.length ?? 1);
    for (let index = 0; index < items.length; index++) {
      if (!this.call(items[index] as JsonNode, begins && isSilent && index === 0)) return false;
      if (this.isMarked(at, before + index)) print(OWN_MARK);
      print("}");
    }
    if (ends) print("]");
    return true;
  }

  private call(call: JsonNode, begins: boolean): boolean {
    const { bytes, text } = this.scanned;
    const fn = memberOf(call, "function");
    if (fn === undefined || !hasOnly(call, CALL) || !hasOnly(fn, FUNCTION)) return false;
    const [id, name, input] = [memberOf(call, "id"), memberOf(fn, "name"), memberOf(fn, "arguments")];
    if (id === undefined || name === undefined || input === undefined) return false;
    if (!isWord(text, memberOf(call, "type"), "function")) return false;
    if (!this.ids.add(bytes, id) || !isCommonName(bytes, name) || !isInput(text, input)) return false;
    print(begins ? '[{"type":"tool_use","id":' : ',{"type":"tool_use","id":');
    this.print(id);
    print(',"name":');
    this.print(name);
    print(',"input":');
    return this.unescape(input);
  }

  /** Whether a content is only texts. */
  private hasTexts(content: JsonNode): boolean {
    if (content.kind === "string") return true;
    if (!content.items) return false;
    for (const part of content.items) {
      const isText = isWord(this.scanned.text, memberOf(part, "type"), "text") && hasOnly(part, PART);
      if (!isText || memberOf(part, "text")?.kind !== "string") return false;
      if (hasMark(part) && this.readMark(part) === undefined) return false;
    }
    return true;
  }

  /** Whether a text is blank. Most begin with a letter or a mark. */
  private isBlank(node: JsonNode): boolean {
    const { text } = this.scanned;
    const value = stringIn(node);
    if (!isFilled(value)) return true;
    const first = text.charCodeAt(value.start + 1);
    if (first > SPACE && first < DELETE && first !== BACKSLASH) return false;
    return tryStringOf(text, value)?.trim() === "";
  }

  private mark(part: JsonNode): void {
    if (!hasMark(part)) return;
    const cache = this.readMark(part);
    if (cache !== undefined) print(writeMark(cache));
  }

  private readMark(part: JsonNode) {
    return readCacheMark(tryParseNode(this.scanned.text, memberOf(part, "cache_control") as JsonNode));
  }

  /** Takes a value over as the client wrote it. */
  private copy({ start, end }: JsonNode): void {
    this.cuts.push(output.size, start, end);
  }

  /** Prints a short value as the client wrote it. */
  private print({ start, end }: JsonNode): void {
    output.appendRange(this.scanned.bytes, start, end);
  }

  /** Prints what a string contains; false if it is malformed. */
  private unescape(node: JsonNode): boolean {
    try {
      output.append(Buffer.from(stringViewOf(this.scanned.text, node) ?? ""));
      return true;
    } catch (error) {
      if (error instanceof JsonSyntaxError) return false;
      throw error;
    }
  }
}

const NO_MARKS: readonly MarkedBlock[] = [];

/** The mark that the gateway adds to a block. */
const OWN_MARK = writeMark({ ttl: null });

/** Returns a mark as a further member of an object. */
function writeMark(cache: CacheMark): string {
  return `,${JSON.stringify(encodeCache({ cache })).slice(1, -1)}`;
}

function print(json: string): void {
  output.appendAscii(json);
}

/** The members that plain values have. */
const PROMPT: ReadonlySet<string> = new Set(["role", "content"]);
const RESULT: ReadonlySet<string> = new Set(["role", "content", "tool_call_id"]);
const TURN: ReadonlySet<string> = new Set(["role", "content", "tool_calls"]);
const CALL: ReadonlySet<string> = new Set(["id", "type", "function"]);
const FUNCTION: ReadonlySet<string> = new Set(["name", "arguments"]);
const PART: ReadonlySet<string> = new Set(["type", "text", "cache_control"]);
const TOOL: ReadonlySet<string> = new Set(["type", "function"]);
const TOOL_PARTS = ["name", "description", "parameters"] as const;
const TOOL_FUNCTION: ReadonlySet<string> = new Set(TOOL_PARTS);

function hasOnly({ members }: JsonNode, names: ReadonlySet<string>): boolean {
  for (const { key } of members ?? NO_NODES) if (!names.has(key)) return false;
  return members !== null;
}

function isInstruction(role: ChatRole | undefined): boolean {
  return role === "system" || role === "developer";
}

/** The role that a message has in Anthropic's API. */
function findSide(role: ChatRole | undefined): "user" | "assistant" {
  return role === "assistant" ? "assistant" : "user";
}

/** Returns the string of a text, which is a part or the string itself. */
function stringIn(text: JsonNode): JsonNode {
  return memberOf(text, "text") ?? text;
}

function hasMark(text: JsonNode): boolean {
  return memberOf(text, "cache_control") !== undefined;
}

function isEmptyText(node: JsonNode): boolean {
  return node.kind === "string" && !isFilled(node);
}

const SPACE = 32;
const DELETE = 127;

/** Whether a schema is certainly that of an object, which this API demands: it says so first, as most do. */
function isObjectSchema(text: string, { kind, start }: JsonNode): boolean {
  return kind === "object" && OBJECT_SCHEMA.some((begin) => text.startsWith(begin, start));
}

const OBJECT_SCHEMA = ['{"type":"object"', '{"type": "object"'] as const;

/** Whether the arguments are certainly an object that is not nested too deep. */
function isInput(text: string, { start, end }: JsonNode): boolean {
  return text.charCodeAt(start + 1) === OPEN_BRACE && !mayBeDeep(text.slice(start, end));
}
