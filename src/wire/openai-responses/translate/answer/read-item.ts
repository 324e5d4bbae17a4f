import { asFields, asList, asText, type Fields, omit } from "../../../../base/json/fields.ts";
import type { AnswerEmitter, PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import type { PartDelta } from "../../../canonical/model/answer.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import { decodeCitation } from "../parts/citations.ts";
import { decodeOutputItem, restOfMessage } from "../parts/decode-items.ts";
import { decodePart } from "../parts/decode-part.ts";
import { makeEncrypted, markPosition, restOfReasoning } from "../parts/reasoning-parts.ts";
import { clearLogprobs, settleBegun } from "./decode-response.ts";

/** The lists of an item that contain texts. */
type TextList = "content" | "summary";

/** A list of texts, and an entry of it for events that come before the event that adds the text. */
export interface TextTarget {
  readonly list: TextList;
  readonly empty: Fields;
}

/** A text, summary or call of an item, with its content so far. */
interface OpenPart {
  readonly at: number;
  readonly kind: Part["kind"];
  text: string;
  citations: number;
  isOpen: boolean;
}

/** Where the parts of an answer go. */
export interface ItemTarget {
  readonly emitter: AnswerEmitter;
  readonly parts: PartEmitter;
}

const CALL = "call";
const CALL_TYPES = new Set<unknown>(["function_call", "custom_tool_call"]);
const TYPES_WITH_TEXTS = new Set<unknown>(["message", "reasoning"]);
const CONTENT = new Set(["content"]);

/** Reads the events of one item of the output and emits its parts. */
export class ItemReader {
  isDone = false;
  private readonly item: Fields;
  /** Its parts by list and index: `content:0`, `summary:1`; a call has the one part `call`. */
  private readonly parts = new Map<string, OpenPart>();

  /** `item` is the item as it began. */
  constructor(
    private readonly target: ItemTarget,
    item: Fields,
  ) {
    this.item = settleBegun(item);
    if (CALL_TYPES.has(item["type"])) this.startCall();
  }

  /** Whether the item is a call that the client has to answer. */
  get isCall(): boolean {
    return this.parts.has(CALL);
  }

  /** Appends the text of an event. */
  appendText(event: Fields, target: TextTarget): void {
    const part = this.openText(event, target);
    if (part === null) return;
    this.emitLogprobs(event);
    this.append(part, { kind: "text", text: asText(event["delta"]) ?? "" });
  }

  appendArguments(event: Fields): void {
    const part = this.parts.get(CALL);
    if (part !== undefined) this.append(part, { kind: "arguments", text: asText(event["delta"]) ?? "" });
  }

  appendAnnotation(event: Fields, target: TextTarget): void {
    const part = this.openText(event, target);
    if (part?.kind !== "text") return;
    this.append(part, { kind: "citation", citation: decodeCitation(event["annotation"]) });
  }

  /** Returns the text that an event is about. It is started if the vendor sent no event that adds it. */
  openText(event: Fields, { list, empty }: TextTarget): OpenPart | null {
    const index = event[list === "content" ? "content_index" : "summary_index"];
    const key = `${list}:${typeof index === "number" ? index : 0}`;
    return this.parts.get(key) ?? this.startText(key, empty);
  }

  /** Ends the item. Emits the content that its events have omitted; for an item without events, all of it. */
  finish(done: Fields): void {
    if (this.isDone) return;
    this.fill(settleBegun(done));
    this.close();
    this.isDone = true;
  }

  /** Ends all open parts. */
  close(): void {
    for (const part of this.parts.values()) {
      if (part.isOpen) this.target.parts.close(part.at);
      part.isOpen = false;
    }
  }

  private startCall(): void {
    const [part] = decodeOutputItem(this.item);
    if (part?.kind !== "tool-call") return;
    const open = this.start(CALL, { ...part, arguments: "" });
    this.append(open, { kind: "arguments", text: part.arguments });
  }

  private start(key: string, part: Part): OpenPart {
    const at = this.target.parts.open(part);
    const open = { at, kind: part.kind, text: "", citations: 0, isOpen: true };
    this.parts.set(key, open);
    return open;
  }

  private startText(key: string, entry: Fields): OpenPart | null {
    // Citations come one by one.
    const bare = "annotations" in entry ? { ...entry, annotations: [] } : entry;
    const part = this.decodeEntry(key, bare);
    if (part === null || !("text" in part)) return null;
    const open = this.start(key, { ...this.mark(key, part), text: "" });
    this.append(open, { kind: "text", text: part.text });
    return open;
  }

  private append(part: OpenPart, delta: PartDelta): void {
    if (!part.isOpen) return;
    if ("text" in delta) part.text += delta.text;
    if (delta.kind === "citation") part.citations++;
    this.target.parts.append(part.at, delta);
  }

  private emitLogprobs({ logprobs }: Fields): void {
    if (!Array.isArray(logprobs) || logprobs.length === 0) return;
    this.target.emitter.emit({ kind: "logprobs", choice: 0, value: { content: logprobs } });
  }

  private fill(done: Fields): void {
    if (TYPES_WITH_TEXTS.has(this.item["type"])) {
      this.fillTexts("summary", done);
      this.fillTexts("content", done);
    }
    if (done["type"] === "reasoning") this.addEncrypted(done["encrypted_content"]);
    const call = this.parts.get(CALL);
    if (call !== undefined) {
      const text = findMissingText(call, done["arguments"] ?? done["input"]);
      this.append(call, { kind: "arguments", text });
    } else if (this.parts.size === 0) {
      for (const part of decodeOutputItem(done)) this.start("whole", part);
    }
  }

  private fillTexts(list: TextList, done: Fields): void {
    for (const [index, raw] of asList(done[list]).entries()) {
      const entry = asFields(raw);
      if (entry !== null) this.fillText(`${list}:${index}`, entry);
    }
  }

  private fillText(key: string, entry: Fields): void {
    const known = this.parts.get(key);
    if (known === undefined) this.emitLogprobs(entry);
    const part = known ?? this.startText(key, entry);
    if (part === null) return;
    this.append(part, { kind: "text", text: findMissingText(part, entry["text"] ?? entry["refusal"]) });
    for (const annotation of asList(entry["annotations"]).slice(part.citations))
      this.append(part, { kind: "citation", citation: decodeCitation(annotation) });
  }

  private addEncrypted(encrypted: unknown): void {
    if (typeof encrypted !== "string" || encrypted === "") return;
    const part = makeEncrypted(encrypted, asText(this.item["id"]));
    this.start("encrypted", this.mark("encrypted", part));
  }

  /**
   * Returns the part with its item's extras: the first part keeps the other fields of the item, and further parts are marked as its
   * continuation.
   */
  private mark<P extends Part>(key: string, part: P): P {
    return markPosition(part, this.parts.size === 0 ? this.restOf(key) : null);
  }

  private restOf(key: string): Fields {
    const { item } = this;
    if (item["type"] !== "reasoning") return restOfMessage(item);
    // The item began with an empty list, to which this part is added.
    return restOfReasoning(key.startsWith("content") ? omit(item, CONTENT) : item);
  }

  private decodeEntry(key: string, entry: Fields): Part | null {
    const { item } = this;
    if (item["type"] !== "reasoning") return clearLogprobs(decodePart(entry));
    const list = key.startsWith("summary") ? "summary" : "content";
    const [part] = decodeOutputItem({ type: "reasoning", id: item["id"], [list]: [entry] });
    return part ?? null;
  }
}

/** Returns the rest of a whole text that the part does not contain yet. */
function findMissingText(part: OpenPart, whole: unknown): string {
  const text = asText(whole) ?? "";
  return text.startsWith(part.text) ? text.slice(part.text.length) : "";
}
