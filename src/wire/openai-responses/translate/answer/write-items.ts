import type { Fields } from "../../../../base/json/fields.ts";
import { growPartInPlace, makeGrowable } from "../../../canonical/answer/collect-answer.ts";
import type { AnswerEvent, FinishReason, PartDelta } from "../../../canonical/model/answer.ts";
import type { Citation, Part, Signature } from "../../../canonical/model/parts.ts";
import type { Tool } from "../../../canonical/model/request.ts";
import { encodeCitation } from "../parts/citations.ts";
import { type ItemGroup, joinsGroup, openGroup } from "../parts/encode-items.ts";
import { readSpelling } from "../parts/extras.ts";
import { indexHomes } from "../parts/namespaces.ts";
import { encodeSignature, type SignatureSide } from "../parts/signatures.ts";
import { LogprobQueue } from "./assign-logprobs.ts";
import { type ItemContext, type ItemStatus, OpenItem } from "./open-item.ts";
import {
  type Emit,
  emitAdded,
  emitDelta,
  emitDone,
  encodeMessagePart,
  type FormName,
  formOf,
  listOf,
  type PartPosition,
} from "./write-parts.ts";

/** An event of the answer's one choice, except its finish. */
type ItemEvent = Extract<AnswerEvent, { kind: "part-start" | "part-delta" | "part-end" | "logprobs" }>;

interface OpenPart {
  readonly item: OpenItem;
  /** Its index in the item's group. */
  readonly index: number;
  readonly form: FormName | null;
  /** Null until its first event, which reasoning without text never has. */
  position: PartPosition | null;
  /** How many of its citations were read, and how many of them were sent. */
  readCitations: number;
  sentCitations: number;
  hasLateSignature: boolean;
}

/** Writes the items of an answer. Their events go to `emit`. */
export class ItemWriter {
  private readonly context: ItemContext;
  /** Items in order; open ones with their content so far. */
  private readonly items: OpenItem[] = [];
  /** The item that further parts may join. */
  private current: OpenItem | null = null;
  /** Open parts, by their index in the answer. */
  private readonly parts = new Map<number, OpenPart>();
  private readonly logprobs = new LogprobQueue();

  /** `tools` are the request's, by which calls get their namespace back. */
  constructor(
    responseId: string,
    tools: readonly Tool[],
    private readonly emit: Emit,
  ) {
    this.context = { responseId, homes: indexHomes(tools) };
  }

  /** Writes the next event of the answer's one choice. */
  step(event: ItemEvent): void {
    switch (event.kind) {
      case "part-start":
        this.startPart(event.at, event.part);
        return;
      case "part-delta": {
        const part = this.parts.get(event.at);
        if (part !== undefined) this.appendPart(part, event.delta);
        return;
      }
      case "part-end": {
        const part = this.parts.get(event.at);
        this.parts.delete(event.at);
        if (part !== undefined) this.endPart(part);
        return;
      }
      case "logprobs":
        this.logprobs.add(event.value);
    }
  }

  /** Ends all open items; `reason` tells whether the answer was cut off. */
  end(reason: FinishReason | null): void {
    for (const part of this.parts.values()) this.endPart(part);
    this.parts.clear();
    const isCut = reason === "length" || reason === "content-filter";
    for (const item of this.items) this.closeItem(item, isCut ? "incomplete" : "completed");
  }

  /** Returns all items; open ones are marked as incomplete. */
  readOutput(): Fields[] {
    return this.items.map((item) => item.done ?? item.encode("incomplete"));
  }

  /** Returns whether the answer contains a refusal in words. */
  hasRefusal(): boolean {
    return this.items.some(({ group }) => group.kind === "message" && group.parts.some(isRefusal));
  }

  private startPart(at: number, given: Part): void {
    const part = makeGrowable(given);
    const { current } = this;
    const joined = current !== null && joinsGroup(current.group, part) ? current : null;
    const signature = signatureOf(part);
    if (joined === null || signature !== undefined) this.detachCurrent();
    if (signature !== undefined) this.writeSignature(part, "before");
    const item = this.current ?? this.openItem(part);
    if (item === null) return;
    if (item === joined) (item.group.parts as Part[]).push(part);
    const open: OpenPart = {
      item,
      index: item.group.parts.length - 1,
      form: formOf(part),
      position: null,
      readCitations: 0,
      sentCitations: 0,
      hasLateSignature: false,
    };
    item.openParts++;
    this.parts.set(at, open);
    const opensAtOnce = part.kind !== "reasoning" || (readSpelling(part) !== null && part.encrypted === null);
    if (opensAtOnce) this.emitStart(open);
    this.writeText(open, textOf(part));
    this.writeCitations(open);
  }

  /** Detaches the current item: later content does not belong to it, and it ends when its parts have ended. */
  private detachCurrent(): void {
    const { current } = this;
    this.current = null;
    if (current?.openParts === 0) this.closeItem(current, "completed");
  }

  private openItem(part: Part): OpenItem | null {
    const group = openGroup(part);
    if (group === null) return null;
    const item = this.addItem(group);
    this.emit("response.output_item.added", { output_index: item.index, item: item.encodeStart() });
    this.current = item;
    return item;
  }

  private addItem(group: ItemGroup): OpenItem {
    const item = new OpenItem(this.items.length, group, this.context);
    this.items.push(item);
    return item;
  }

  private closeItem(item: OpenItem, status: ItemStatus): void {
    if (item.done !== null) return;
    if (this.current === item) this.current = null;
    item.done = item.encode(status);
    this.emit("response.output_item.done", { output_index: item.index, item: item.done });
  }

  private emitStart(part: OpenPart): PartPosition | null {
    const { form, item } = part;
    if (form === null) return null;
    const index = item.nextIndexIn(listOf(form) ?? "");
    part.position = { form, itemId: item.id, outputIndex: item.index, index };
    emitAdded(this.emit, part.position);
    return part.position;
  }

  private appendPart(part: OpenPart, delta: PartDelta): void {
    const parts = part.item.group.parts as Part[];
    parts[part.index] = growPartInPlace(part.item.partAt(part.index), delta);
    if (delta.kind === "text" || delta.kind === "arguments") this.writeText(part, delta.text);
    if (delta.kind === "citation") this.writeCitations(part);
    if (delta.kind === "part-signature") part.hasLateSignature = true;
  }

  private writeText(part: OpenPart, text: string): void {
    if (text === "") return;
    const position = part.position ?? this.emitStart(part);
    if (position !== null) emitDelta(this.emit, position, { text, logprobs: this.takeLogprobs(part) });
  }

  /** Takes the log probabilities for the text so far. */
  private takeLogprobs({ item, index, form }: OpenPart): Fields[] {
    if (form !== "output_text" || this.logprobs.isEmpty) return [];
    const taken = item.logprobs.get(index) ?? { list: [], chars: 0 };
    item.logprobs.set(index, taken);
    return this.logprobs.takeFor(taken, textOf(item.partAt(index)).length);
  }

  private writeCitations(open: OpenPart): void {
    const part = open.item.partAt(open.index);
    if (part.kind !== "text" || open.position === null) return;
    const { itemId: item_id, outputIndex: output_index, index: content_index } = open.position;
    const citations = part.citations ?? [];
    while (open.readCitations < citations.length) {
      const annotation = encodeCitation(citations[open.readCitations++] as Citation);
      if (annotation === null) continue;
      const position = { item_id, output_index, content_index, annotation_index: open.sentCitations++ };
      this.emit("response.output_text.annotation.added", { ...position, annotation });
    }
  }

  private endPart(open: OpenPart): void {
    const { item } = open;
    this.fillArguments(open);
    this.takeLogprobs(open);
    this.emitEnd(open);
    item.openParts--;
    // The end of the answer tells whether the last item is complete.
    if (item.openParts === 0 && item !== this.current) this.closeItem(item, "completed");
    if (!open.hasLateSignature) return;
    this.detachCurrent();
    this.writeSignature(item.partAt(open.index), "after");
  }

  private emitEnd({ item, index, position }: OpenPart): void {
    if (position === null) return;
    const part = item.partAt(index);
    emitDone(this.emit, position, { text: textOf(part), part: encodeDonePart(part, item.logprobsAt(index)) });
  }

  /** A function's arguments are JSON, even if the model sent none. */
  private fillArguments(open: OpenPart): void {
    const part = open.item.partAt(open.index);
    if (part.kind !== "tool-call" || part.tool !== "function" || part.arguments !== "") return;
    this.appendPart(open, { kind: "arguments", text: "{}" });
  }

  private writeSignature(part: Part, side: SignatureSide): void {
    const signature = signatureOf(part);
    if (signature === undefined) return;
    const item = this.addItem({ kind: "reasoning", parts: [] });
    item.done = { id: item.id, ...encodeSignature(part, signature, side) };
    const event = { output_index: item.index, item: item.done };
    this.emit("response.output_item.added", event);
    this.emit("response.output_item.done", event);
  }
}

function isRefusal(part: Part): boolean {
  return part.kind === "refusal";
}

function textOf(part: Part): string {
  return part.kind === "tool-call" ? part.arguments : "text" in part ? part.text : "";
}

function signatureOf(part: Part): Signature | undefined {
  return part.kind === "reasoning" || !("signature" in part) ? undefined : part.signature;
}

/** Encodes a part as the event that ends it has it; null for calls. */
function encodeDonePart(part: Part, logprobs: readonly Fields[]): Fields | null {
  if (part.kind === "tool-call") return null;
  if (part.kind !== "reasoning") return encodeMessagePart(part, logprobs);
  return { ...(readSpelling(part)?.part ?? { type: formOf(part) }), text: part.text };
}
