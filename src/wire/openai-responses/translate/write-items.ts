import type { AnswerEvent, FinishReason, PartDelta } from "../../canonical/answer.ts";
import { growOwnPart, ownPart } from "../../canonical/collect-answer.ts";
import type { Citation, Part, Signature } from "../../canonical/parts.ts";
import type { Tool } from "../../canonical/request.ts";
import { asFields, type Fields, omit } from "../../json/fields.ts";
import { encodeCitation } from "./citations.ts";
import { encodeItem, type ItemGroup, idOf, joinsGroup, openGroup } from "./encode-items.ts";
import { readSpelling } from "./extras.ts";
import { indexHomes, type ToolHome } from "./namespaces.ts";
import { encodeForeignReasoning, isOwnReasoning } from "./reasoning-parts.ts";
import { encodeSignature, type SignatureSide } from "./signatures.ts";
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

export type PartEvent = Extract<AnswerEvent, { kind: "part-start" | "part-delta" | "part-end" | "logprobs" }>;

/** The items of an answer while it is written. Only the functions of this file change it. */
export interface ItemWriter {
  readonly responseId: string;
  readonly homes: ReadonlyMap<string, ToolHome>;
  readonly emit: Emit;
  /** Items in order; open ones as far as they have come. */
  readonly items: OpenItem[];
  /** The item that further parts may join. */
  current: OpenItem | null;
  /** Open parts, by their index in the answer. */
  readonly slots: Map<number, Slot>;
  /** Log probabilities, and how many of them texts have taken. */
  readonly logprobs: Fields[];
  takenLogprobs: number;
}

interface OpenItem {
  readonly index: number;
  readonly id: string;
  readonly group: ItemGroup;
  /** The log probabilities that texts have taken, by the text's index in the group. */
  readonly logprobs: Map<number, TakenLogprobs>;
  /** The number of parts in each list. */
  readonly counts: Map<string, number>;
  openSlots: number;
  /** The item as it was sent last; null while it is open. */
  done: Fields | null;
}

/** Log probabilities of a text, and the number of characters of their tokens. */
interface TakenLogprobs {
  readonly list: Fields[];
  chars: number;
}

interface Slot {
  readonly item: OpenItem;
  /** Its index in the item's group. */
  readonly place: number;
  readonly form: FormName | null;
  /** Null until its first event, which reasoning without text never has. */
  shown: PartPosition | null;
  /** How many of its citations were read, and how many of them were sent. */
  readCitations: number;
  citations: number;
  hasLateSignature: boolean;
}

/** Returns a writer of items. Missing item ids are made of the response's id and the item's index. */
export function createItemWriter(responseId: string, tools: readonly Tool[], emit: Emit): ItemWriter {
  return {
    responseId,
    homes: indexHomes(tools),
    emit,
    items: [],
    current: null,
    slots: new Map(),
    logprobs: [],
    takenLogprobs: 0,
  };
}

/** Writes the next event of the answer's one choice. */
export function stepItems(writer: ItemWriter, event: PartEvent): void {
  switch (event.kind) {
    case "part-start":
      startPart(writer, event.at, event.part);
      return;
    case "part-delta": {
      const slot = writer.slots.get(event.at);
      if (slot !== undefined) growSlot(writer, slot, event.delta);
      return;
    }
    case "part-end": {
      const slot = writer.slots.get(event.at);
      writer.slots.delete(event.at);
      if (slot !== undefined) endSlot(writer, slot);
      return;
    }
    case "logprobs": {
      const list = asFields(event.value)?.["content"];
      if (Array.isArray(list)) for (const entry of list) writer.logprobs.push(asFields(entry) ?? {});
    }
  }
}

/** Ends all open items; `reason` tells whether the answer was cut off. */
export function closeItems(writer: ItemWriter, reason: FinishReason | null): void {
  for (const slot of writer.slots.values()) endSlot(writer, slot);
  writer.slots.clear();
  const isCut = reason === "length" || reason === "content-filter";
  for (const item of writer.items) closeItem(writer, item, isCut ? "incomplete" : "completed");
}

/** Returns all items; open ones are marked as incomplete. */
export function readOutput(writer: ItemWriter): Fields[] {
  return writer.items.map((item) => item.done ?? encodeWhole(writer, item, "incomplete"));
}

/** Returns whether the answer contains a refusal in words. */
export function hasRefusal(writer: ItemWriter): boolean {
  return writer.items.some(({ group }) => group.kind === "message" && group.parts.some(isRefusal));
}

function isRefusal(part: Part): boolean {
  return part.kind === "refusal";
}

function startPart(writer: ItemWriter, at: number, given: Part): void {
  const part = ownPart(given);
  const joined = writer.current !== null && joinsGroup(writer.current.group, part) ? writer.current : null;
  const signature = signatureOf(part);
  if (joined === null || signature !== undefined) settleCurrent(writer);
  if (signature !== undefined) writeSignature(writer, part, "ahead");
  const item = writer.current ?? openItem(writer, part);
  if (item === null) return;
  if (item === joined) (item.group.parts as Part[]).push(part);
  const place = item.group.parts.length - 1;
  const slot: Slot = {
    item,
    place,
    form: formOf(part),
    shown: null,
    readCitations: 0,
    citations: 0,
    hasLateSignature: false,
  };
  item.openSlots++;
  writer.slots.set(at, slot);
  if (part.kind !== "reasoning" || (readSpelling(part) !== null && part.encrypted === null))
    show(writer, slot);
  writeText(writer, slot, textOf(part));
  writeCitations(writer, slot);
}

/** Detaches the current item: what comes next does not belong to it, and it ends once its parts have. */
function settleCurrent(writer: ItemWriter): void {
  const { current } = writer;
  writer.current = null;
  if (current?.openSlots === 0) closeItem(writer, current, "completed");
}

function openItem(writer: ItemWriter, part: Part): OpenItem | null {
  const group = openGroup(part);
  if (group === null) return null;
  const item = addItem(writer, group);
  writer.emit("response.output_item.added", { output_index: item.index, item: encodeOpening(writer, item) });
  writer.current = item;
  return item;
}

function addItem(writer: ItemWriter, group: ItemGroup): OpenItem {
  const index = writer.items.length;
  const encoded = encodeItem(group);
  const prefix = encoded["type"] === "custom_tool_call" ? "ctc" : PREFIXES[group.kind];
  const id = idOf(encoded) ?? `${prefix}_${writer.responseId}_${index}`;
  const item = { index, id, group, logprobs: new Map(), counts: new Map(), openSlots: 0, done: null };
  writer.items.push(item);
  return item;
}

/** OpenAI checks the prefixes when an item comes back. */
const PREFIXES = { message: "msg", reasoning: "rs", call: "fc", native: "item", image: "ig" };

function show(writer: ItemWriter, slot: Slot): PartPosition | null {
  const { form, item } = slot;
  if (form === null) return null;
  const list = listOf(form) ?? "";
  const index = item.counts.get(list) ?? 0;
  item.counts.set(list, index + 1);
  slot.shown = { form, itemId: item.id, outputIndex: item.index, index };
  emitAdded(writer.emit, slot.shown);
  return slot.shown;
}

function growSlot(writer: ItemWriter, slot: Slot, delta: PartDelta): void {
  const parts = slot.item.group.parts as Part[];
  parts[slot.place] = growOwnPart(parts[slot.place] as Part, delta);
  if (delta.kind === "text" || delta.kind === "arguments") writeText(writer, slot, delta.text);
  if (delta.kind === "citation") writeCitations(writer, slot);
  if (delta.kind === "part-signature") slot.hasLateSignature = true;
}

function writeText(writer: ItemWriter, slot: Slot, text: string): void {
  if (text === "") return;
  const place = slot.shown ?? show(writer, slot);
  if (place !== null) emitDelta(writer.emit, place, { text, logprobs: takeLogprobs(writer, slot) });
}

/**
 * Takes the log probabilities for the text so far. The lengths of their tokens tell which text they belong to, whichever comes
 * first.
 */
function takeLogprobs(writer: ItemWriter, slot: Slot): Fields[] {
  const { logprobs } = writer;
  if (slot.form !== "output_text" || writer.takenLogprobs === logprobs.length) return [];
  const known = slot.item.logprobs.get(slot.place) ?? { list: [], chars: 0 };
  slot.item.logprobs.set(slot.place, known);
  const { length } = textOf(partOf(slot));
  const taken: Fields[] = [];
  while (known.chars < length && writer.takenLogprobs < logprobs.length) {
    const next = logprobs[writer.takenLogprobs++] as Fields;
    known.chars += lengthOf(next);
    known.list.push(next);
    taken.push(next);
  }
  return taken;
}

function lengthOf({ token }: Fields): number {
  return typeof token === "string" ? token.length : 1;
}

function partOf(slot: Slot): Part {
  return slot.item.group.parts[slot.place] as Part;
}

function textOf(part: Part): string {
  return part.kind === "tool-call" ? part.arguments : "text" in part ? part.text : "";
}

function writeCitations(writer: ItemWriter, slot: Slot): void {
  const part = partOf(slot);
  if (part.kind !== "text" || slot.shown === null) return;
  const { itemId: item_id, outputIndex: output_index, index: content_index } = slot.shown;
  const citations = part.citations ?? [];
  while (slot.readCitations < citations.length) {
    const annotation = encodeCitation(citations[slot.readCitations++] as Citation);
    if (annotation === null) continue;
    const place = { item_id, output_index, content_index, annotation_index: slot.citations++ };
    writer.emit("response.output_text.annotation.added", { ...place, annotation });
  }
}

function endSlot(writer: ItemWriter, slot: Slot): void {
  const { item } = slot;
  fillArguments(writer, slot);
  takeLogprobs(writer, slot);
  if (slot.shown !== null)
    emitDone(writer.emit, slot.shown, { text: textOf(partOf(slot)), part: encodeShown(slot) });
  item.openSlots--;
  const isSingle = item.group.kind !== "message" && item.group.kind !== "reasoning";
  if (item.openSlots === 0 && (isSingle || item !== writer.current)) closeItem(writer, item, "completed");
  if (!slot.hasLateSignature) return;
  settleCurrent(writer);
  writeSignature(writer, partOf(slot), "behind");
}

/** A function's arguments are JSON, even if the model sent none. */
function fillArguments(writer: ItemWriter, slot: Slot): void {
  const part = partOf(slot);
  if (part.kind !== "tool-call" || part.tool !== "function" || part.arguments !== "") return;
  growSlot(writer, slot, { kind: "arguments", text: "{}" });
}

function encodeShown({ item, place, form }: Slot): Fields | null {
  const part = item.group.parts[place] as Part;
  if (part.kind === "reasoning") return { ...(readSpelling(part)?.part ?? { type: form }), text: part.text };
  return part.kind === "tool-call" ? null : encodeMessagePart(part, item.logprobs.get(place)?.list ?? []);
}

function closeItem(writer: ItemWriter, item: OpenItem, status: string): void {
  if (item.done !== null) return;
  if (writer.current === item) writer.current = null;
  item.done = encodeWhole(writer, item, status);
  writer.emit("response.output_item.done", { output_index: item.index, item: item.done });
}

function signatureOf(part: Part): Signature | undefined {
  return part.kind === "reasoning" || !("signature" in part) ? undefined : part.signature;
}

function writeSignature(writer: ItemWriter, part: Part, place: SignatureSide): void {
  const signature = signatureOf(part);
  if (signature === undefined) return;
  const item = addItem(writer, { kind: "reasoning", parts: [] });
  item.done = { id: item.id, ...encodeSignature(part, signature, place) };
  const event = { output_index: item.index, item: item.done };
  writer.emit("response.output_item.added", event);
  writer.emit("response.output_item.done", event);
}

function encodeOpening(writer: ItemWriter, item: OpenItem): Fields {
  const whole = encodeWhole(writer, item, "in_progress");
  switch (item.group.kind) {
    case "message":
      return { ...whole, content: [] };
    case "reasoning":
      return encodeReasoningOpening(whole);
    case "call":
      return { ...whole, ...("input" in whole ? { input: "" } : { arguments: "" }) };
    default:
      return whole["status"] === undefined ? whole : { ...whole, status: "in_progress" };
  }
}

/** The encrypted content is known only at the end. */
function encodeReasoningOpening(whole: Fields): Fields {
  const rest = typeof whole["encrypted_content"] === "string" ? omit(whole, ENCRYPTED) : whole;
  const status = rest["status"] === undefined ? {} : { status: "in_progress" };
  return { ...rest, ...status, summary: [], ...("content" in rest ? { content: [] } : {}) };
}

const ENCRYPTED = new Set(["encrypted_content"]);
const STATED = new Set(["message", "call"]);

function encodeWhole(writer: ItemWriter, item: OpenItem, status: string): Record<string, unknown> {
  const { group, id } = item;
  const encoded = encodeBare(writer, item);
  return { id, ...(STATED.has(group.kind) ? { status } : {}), ...encoded };
}

function encodeBare(writer: ItemWriter, { group, logprobs }: OpenItem): Record<string, unknown> {
  const encoded = encodeItem(group);
  if (group.kind === "message") {
    const content = group.parts.map((part, place) =>
      encodeMessagePart(part, logprobs.get(place)?.list ?? []),
    );
    return { ...encoded, content };
  }
  if (group.kind === "reasoning")
    return isOwnReasoning(group.parts) ? encoded : encodeForeignReasoning(group.parts);
  const call = group.kind === "call" ? group.parts[0] : undefined;
  if (call === undefined || call.namespace !== undefined) return encoded;
  return { ...encoded, ...writer.homes.get(call.name) };
}
