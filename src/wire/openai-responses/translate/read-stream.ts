import type { PartDelta } from "../../canonical/answer.ts";
import { AnswerEmitter, PartEmitter } from "../../canonical/answer-emitter.ts";
import { type EventHandler, EventReader } from "../../canonical/event-reader.ts";
import type { AnswerReader } from "../../canonical/format.ts";
import type { Part } from "../../canonical/parts.ts";
import { brokenAnswer, readVendorError } from "../../conversation/vendor-error.ts";
import { asFields, asList, asText, type Fields, omit } from "../../json/fields.ts";
import { decodeFinish } from "../finish-reason.ts";
import { isSearch, readUsage } from "../usage.ts";
import { decodeCitation } from "./citations.ts";
import { decodeContentPart } from "./content.ts";
import { decodeOutputItem, restOfMessage } from "./decode-items.ts";
import { clearLogprobs, decodeFrame, readTier, settleBegun } from "./decode-response.ts";
import { markExtras } from "./extras.ts";
import { makeEncrypted, markPlace, restOfReasoning } from "./reasoning-parts.ts";

/** Returns a reader of Responses streams. */
export function createReader(): AnswerReader {
  const emitter = new AnswerEmitter();
  return new EventReader(emitter, new ResponseHandler(emitter));
}

/** A text, summary or call of an item, as far as it has come. */
interface OpenPart {
  readonly at: number;
  readonly kind: Part["kind"];
  text: string;
  citations: number;
  isOpen: boolean;
}

/** An item of the output. It is known by its output index, because its id may differ from event to event. */
interface OpenItem {
  readonly item: Fields;
  /** Its parts by list and index: `content:0`, `summary:1`; a call has the one part `call`. */
  readonly parts: Map<string, OpenPart>;
  isDone: boolean;
}

type TextList = "content" | "summary";

/** A list of texts, and a part of it for events that come before the part has been announced. */
interface TextTarget {
  readonly list: TextList;
  readonly empty: Fields;
}

const OUTPUT_TEXT: TextTarget = {
  list: "content",
  empty: { type: "output_text", annotations: [], logprobs: [], text: "" },
};

/** The targets of the events that bring text. */
const TEXT_TARGETS: Readonly<Record<string, TextTarget>> = {
  "response.output_text.delta": OUTPUT_TEXT,
  "response.refusal.delta": { list: "content", empty: { type: "refusal", refusal: "" } },
  "response.reasoning_text.delta": { list: "content", empty: { type: "reasoning_text", text: "" } },
  "response.reasoning_summary_text.delta": { list: "summary", empty: { type: "summary_text", text: "" } },
};

/** The targets of the events that announce a part. */
const PART_TARGETS: Readonly<Record<string, TextTarget>> = {
  "response.content_part.added": OUTPUT_TEXT,
  "response.reasoning_summary_part.added": { list: "summary", empty: { type: "summary_text", text: "" } },
};

const CALL = "call";
const CALL_TYPES = new Set<unknown>(["function_call", "custom_tool_call"]);
const TYPES_WITH_TEXTS = new Set<unknown>(["message", "reasoning"]);

class ResponseHandler implements EventHandler {
  private readonly parts: PartEmitter;
  /** By output index. */
  private readonly items = new Map<number, OpenItem>();
  private searches = 0;
  private hasCalls = false;

  constructor(private readonly emitter: AnswerEmitter) {
    this.parts = new PartEmitter(emitter);
  }

  readEvent(event: Fields, name: string): void {
    const type = asText(event["type"]) ?? name;
    const isUntypedError = type === "" && Boolean(event["error"]);
    const textTarget = TEXT_TARGETS[type];
    const partTarget = PART_TARGETS[type];
    if (type === "error" || isUntypedError) this.emitter.fail(readVendorError(200, event));
    else if (textTarget !== undefined) this.addText(event, textTarget);
    else if (partTarget !== undefined)
      this.openText(event, { ...partTarget, empty: asFields(event["part"]) ?? partTarget.empty });
    else this.readOther(type, event);
  }

  private readOther(type: string, event: Fields): void {
    switch (type) {
      case "response.output_item.added":
        this.openItem(outputIndexOf(event), event["item"]);
        break;
      case "response.output_item.done":
        this.closeItem(outputIndexOf(event), asFields(event["item"]));
        break;
      case "response.output_text.annotation.added":
        this.addAnnotation(event);
        break;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        this.addArguments(event);
        break;
      case "response.completed":
      case "response.incomplete":
        this.finish(type, asFields(event["response"]) ?? {});
        break;
      case "response.failed":
      case "response.cancelled":
        this.failResponse(type, asFields(event["response"]) ?? {});
    }
  }

  private findItem(event: Fields): OpenItem | undefined {
    const item = this.items.get(outputIndexOf(event));
    return item?.isDone ? undefined : item;
  }

  private openItem(outputIndex: number, raw: unknown): void {
    const item = asFields(raw);
    if (item === null || this.items.has(outputIndex)) return;
    const open: OpenItem = { item: settleBegun(item), parts: new Map(), isDone: false };
    this.items.set(outputIndex, open);
    if (!CALL_TYPES.has(item["type"])) return;
    const [part] = decodeOutputItem(open.item);
    if (part?.kind !== "tool-call") return;
    this.hasCalls = true;
    const opened = this.start(open, CALL, { ...part, arguments: "" });
    this.grow(opened, { kind: "arguments", text: part.arguments });
  }

  private start(item: OpenItem, key: string, part: Part): OpenPart {
    const open = { at: this.parts.open(part), kind: part.kind, text: "", citations: 0, isOpen: true };
    item.parts.set(key, open);
    return open;
  }

  private grow(part: OpenPart, delta: PartDelta): void {
    if (!part.isOpen) return;
    if ("text" in delta) part.text += delta.text;
    if (delta.kind === "citation") part.citations++;
    this.parts.append(part.at, delta);
  }

  private close(part: OpenPart): void {
    if (part.isOpen) this.parts.close(part.at);
    part.isOpen = false;
  }

  private addText(event: Fields, target: TextTarget): void {
    const part = this.openText(event, target);
    if (part === null) return;
    this.emitLogprobs(event);
    this.grow(part, { kind: "text", text: asText(event["delta"]) ?? "" });
  }

  private addArguments(event: Fields): void {
    const part = this.findItem(event)?.parts.get(CALL);
    if (part !== undefined) this.grow(part, { kind: "arguments", text: asText(event["delta"]) ?? "" });
  }

  private addAnnotation(event: Fields): void {
    const part = this.openText(event, OUTPUT_TEXT);
    if (part?.kind !== "text") return;
    this.grow(part, { kind: "citation", citation: decodeCitation(event["annotation"]) });
  }

  /** Returns the text that an event is about. It is opened if the vendor has not announced it. */
  private openText(event: Fields, { list, empty }: TextTarget): OpenPart | null {
    const item = this.findItem(event);
    if (item === undefined) return null;
    const index = event[list === "content" ? "content_index" : "summary_index"];
    const key = `${list}:${typeof index === "number" ? index : 0}`;
    return item.parts.get(key) ?? this.startText(item, key, empty);
  }

  private startText(item: OpenItem, key: string, entry: Fields): OpenPart | null {
    // Citations come one by one.
    const bare = "annotations" in entry ? { ...entry, annotations: [] } : entry;
    const part = decodeEntry(item.item, key, bare);
    if (part === null || !("text" in part)) return null;
    const opened = this.start(item, key, { ...markPart(item, key, part), text: "" });
    this.grow(opened, { kind: "text", text: part.text });
    return opened;
  }

  private emitLogprobs({ logprobs }: Fields): void {
    if (!Array.isArray(logprobs) || logprobs.length === 0) return;
    this.emitter.emit({ kind: "logprobs", choice: 0, value: { content: logprobs } });
  }

  /** Ends an item: emits what its events have left out, and items without events as a whole. */
  private closeItem(outputIndex: number, done: Fields | null): void {
    if (done === null) return;
    this.openItem(outputIndex, done);
    const open = this.items.get(outputIndex) as OpenItem;
    if (open.isDone) return;
    if (isSearch(done)) this.searches += 1;
    this.fillItem(open, settleBegun(done));
    for (const part of open.parts.values()) this.close(part);
    open.isDone = true;
  }

  private fillItem(open: OpenItem, done: Fields): void {
    if (TYPES_WITH_TEXTS.has(open.item["type"])) {
      this.fillTexts(open, "summary", done);
      this.fillTexts(open, "content", done);
    }
    if (done["type"] === "reasoning") this.addEncrypted(open, done["encrypted_content"]);
    const call = open.parts.get(CALL);
    if (call !== undefined) {
      this.grow(call, { kind: "arguments", text: missingText(call, done["arguments"] ?? done["input"]) });
    } else if (open.parts.size === 0) {
      for (const part of decodeOutputItem(done)) this.start(open, "whole", part);
    }
  }

  private fillTexts(open: OpenItem, list: TextList, done: Fields): void {
    for (const [index, raw] of asList(done[list]).entries()) {
      const entry = asFields(raw);
      if (entry !== null) this.fillText(open, `${list}:${index}`, entry);
    }
  }

  private fillText(open: OpenItem, key: string, entry: Fields): void {
    const known = open.parts.get(key);
    if (known === undefined) this.emitLogprobs(entry);
    const part = known ?? this.startText(open, key, entry);
    if (part === null) return;
    this.grow(part, { kind: "text", text: missingText(part, entry["text"] ?? entry["refusal"]) });
    for (const annotation of asList(entry["annotations"]).slice(part.citations))
      this.grow(part, { kind: "citation", citation: decodeCitation(annotation) });
  }

  private addEncrypted(open: OpenItem, encrypted: unknown): void {
    if (typeof encrypted !== "string" || encrypted === "") return;
    const part = makeEncrypted(encrypted, asText(open.item["id"]));
    this.start(open, "encrypted", markPart(open, "encrypted", part));
  }

  private finish(type: string, response: Fields): void {
    // A host that streams nothing but the end has its output there.
    if (this.items.size === 0) {
      for (const [index, item] of asList(response["output"]).entries()) this.closeItem(index, asFields(item));
    }
    for (const item of this.items.values()) for (const part of item.parts.values()) this.close(part);
    this.emitter.emit({ kind: "extras", extras: markExtras(decodeFrame(response)) });
    const tier = readTier(response);
    if (tier !== null) this.emitter.emit({ kind: "service-tier", tier });
    const usage = readUsage(response, this.searches);
    if (usage !== null) this.emitter.emit({ kind: "usage", usage });
    const ended = { status: type.replace("response.", ""), ...response };
    this.emitter.emit({ kind: "finish", choice: 0, finish: decodeFinish(ended, this.hasCalls) });
    this.emitter.isDone = true;
  }

  private failResponse(type: string, response: Fields): void {
    const error = asFields(response["error"]);
    this.emitter.fail(
      error === null ? brokenAnswer(`the upstream ended with ${type}`) : readVendorError(200, { error }),
    );
  }
}

function outputIndexOf(event: Fields): number {
  return typeof event["output_index"] === "number" ? event["output_index"] : 0;
}

/** Returns the part with what its item keeps: the first part has the rest of the item, the others continue it. */
function markPart<P extends Part>(item: OpenItem, key: string, part: P): P {
  return markPlace(part, item.parts.size === 0 ? restOf(item.item, key) : null);
}

function decodeEntry(item: Fields, key: string, entry: Fields): Part | null {
  if (item["type"] !== "reasoning") return clearLogprobs(decodeContentPart(entry));
  const list = key.startsWith("summary") ? "summary" : "content";
  const [part] = decodeOutputItem({ type: "reasoning", id: item["id"], [list]: [entry] });
  return part ?? null;
}

const CONTENT = new Set(["content"]);

function restOf(item: Fields, key: string): Fields {
  if (item["type"] !== "reasoning") return restOfMessage(item);
  // The item began with an empty list, to which this part is added.
  return restOfReasoning(key.startsWith("content") ? omit(item, CONTENT) : item);
}

/** Returns what a whole text has beyond the part so far. */
function missingText(part: OpenPart, whole: unknown): string {
  const text = asText(whole) ?? "";
  return text.startsWith(part.text) ? text.slice(part.text.length) : "";
}
