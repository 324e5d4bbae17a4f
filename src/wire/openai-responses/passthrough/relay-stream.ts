import { asFields, type Fields } from "../../../base/json/fields.ts";
import { parseJson } from "../../../base/json/parse-json.ts";
import { decodeUtf8, encodeLatin1, memberOf, numberOf, stringOf } from "../../../base/json/scan.ts";
import type { Splice } from "../../../base/json/splice.ts";
import type { SplitEvent } from "../../../base/sse/split-events.ts";
import type { ByteOutput } from "../../../base/text/byte-output.ts";
import { DONE_MARKER, ForwardedStream } from "../../canonical/answer/event-stream.ts";
import type { AnswerRelay, RelayEnding, RelayFinish, RelayIdentity } from "../../canonical/answer/relay.ts";
import type { AnswerEnd, StreamError } from "../../canonical/model/format.ts";
import { EVENT_NOT_JSON } from "../../conversation/errors/broken-answers.ts";
import { brokenAnswer, readVendorError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import { DeltaPattern } from "../../fast/delta-pattern.ts";
import { encodeFailure } from "../errors.ts";
import { OutputPlaces } from "../output-places.ts";
import { encodeEvent, encodeLastEvent } from "../stream-events.ts";
import { isSearch, readUsage } from "../usage.ts";
import { EMPTY_PARTS, OpenItems, type OpenTextItem, TEXT_EVENTS } from "./open-items.ts";
import {
  encodePriced,
  isCall,
  isEmptyResponse,
  lacksArguments,
  ResponseCallIds,
  readFinish,
  rewriteResponse,
} from "./rewrite-response.ts";
import { missingLogprobs, outputIndexOf, readFacts, type ScannedEvent, scanEvent } from "./scanned-event.ts";

/**
 * Relays a stream between an upstream and a client that both speak this format. The bytes of events are forwarded unchanged, with two
 * exceptions: events with a `response` get the gateway's id and model, and the last one waits for its price.
 */
export class ResponsesRelay extends ForwardedStream implements AnswerRelay {
  usage: TokenUsage | null = null;
  searches = 0;
  /** The text that arrives, and the pattern of the events that append to it. */
  private current: { readonly text: OpenTextItem; readonly pattern: DeltaPattern } | null = null;
  private readonly callIds: ResponseCallIds;
  /** The sequence number of the next event, in case the gateway has to send one. */
  private sequence = 0;
  /** The response as it began, for the event that reports its failure. */
  private begun: Fields = {};
  /** The JSON of items that have ended, by output index, for a last event without them. */
  private readonly items = new Map<number, string>();
  private readonly openItems = new OpenItems();
  private readonly places = new OutputPlaces();
  /** The last event, held back until the answer is priced. */
  private terminal: Fields | null = null;
  private sawCall = false;

  constructor(private readonly identity: RelayIdentity) {
    super();
    this.callIds = new ResponseCallIds(identity);
  }

  /** Copies an event that matches the pattern. */
  copyEvent(piece: Uint8Array, from: number, out: ByteOutput): number {
    const copied = this.current?.pattern.copyEvent(piece, from, out) ?? null;
    if (copied === null) return from;
    const { sequence, escaped, next } = copied;
    this.sequence = sequence + 1;
    if (escaped.length > 0) this.sawToken = true;
    this.producedBytes += escaped.length;
    this.current?.text.append(escaped);
    return next;
  }

  /** Nothing follows the finish in this format. */
  get isFinished(): boolean {
    return this.isDone;
  }

  classifyEnd(): RelayEnding {
    if (this.error !== null) return "failed";
    const response = asFields(this.terminal?.["response"]);
    if (response === null) return "unfinished";
    return !this.sawToken && isEmptyResponse(this.fillOutput(response)) ? "empty" : "complete";
  }

  finish(): RelayFinish | null {
    const response = asFields(this.terminal?.["response"]);
    return response === null ? null : readFinish(response, this.sawCall);
  }

  stopShort(): string {
    this.isDone = true;
    const response = {
      object: "response",
      error: null,
      ...this.describeBegun(),
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: this.readItems(this.openItems.read()),
    };
    this.terminal = { type: "response.incomplete", response };
    return "";
  }

  encodeEnd(end: AnswerEnd): string {
    const { terminal } = this;
    if (terminal === null) return "";
    const response = this.fillOutput(asFields(terminal["response"]) ?? {});
    const sequence_number = this.countEvent(terminal["sequence_number"]);
    return encodeLastEvent({ ...terminal, sequence_number, response: encodePriced(response, end) });
  }

  /** Agents ignore a bare `error` event, so the error is sent as a failed response. */
  encodeError(error: StreamError): string {
    const response = {
      object: "response",
      incomplete_details: null,
      usage: null,
      ...this.describeBegun(),
      status: "failed",
      error: encodeFailure(error),
      output: this.readItems(this.openItems.read()),
    };
    return encodeLastEvent({ type: "response.failed", sequence_number: this.countEvent(null), response });
  }

  protected readEvent({ text, start, end, name }: SplitEvent): void {
    const data = text.slice(start, end);
    if (data === DONE_MARKER) return;
    const scanned = scanEvent(data, name);
    if (scanned === null) {
      this.error = EVENT_NOT_JSON;
      return;
    }
    const event = { ...scanned, place: this.places.place(readFacts(scanned)) };
    const { type, root } = event;
    if (TEXT_EVENTS[type] !== undefined) this.addText(event);
    if (type === "error" || (type === "" && memberOf(root, "error") !== undefined)) {
      this.error = readVendorError(200, parse(data));
    } else if (memberOf(root, "response")?.kind === "object") {
      this.relayResponseEvent(type, parse(data));
    } else {
      this.relayBytes(event);
    }
  }

  /** Keeps the text of an event and makes the pattern of those that follow. */
  private addText(event: ScannedEvent): void {
    const text = this.openItems.textOf(event);
    const delta = memberOf(event.root, "delta");
    if (delta?.kind === "string") text.append(event.data.slice(delta.start + 1, delta.end - 1));
    const isNumbered = listRenumberings(event).length === 0;
    const pattern =
      event.name === event.type && isNumbered
        ? DeltaPattern.create(event, missingLogprobs(event.type, event.root) ?? "")
        : null;
    this.current = pattern === null ? null : { text, pattern };
  }

  /** Relays an event with a `response`, rewritten for the client. */
  private relayResponseEvent(type: string, event: Fields): void {
    const response = asFields(event["response"]) ?? {};
    if (type === "response.failed" || type === "response.cancelled") {
      const error = asFields(response["error"]);
      this.error =
        error === null ? brokenAnswer(`the upstream ended with ${type}`) : readVendorError(200, { error });
      return;
    }
    const rewritten = { ...event, response: rewriteResponse(response, this.identity, this.callIds) };
    this.usage = readUsage(response, this.searches) ?? this.usage;
    if (type === "response.completed" || type === "response.incomplete") {
      this.terminal = rewritten;
      this.isDone = true;
      return;
    }
    this.begun = rewritten.response;
    this.out.push(encodeEvent({ ...rewritten, sequence_number: this.countEvent(event["sequence_number"]) }));
  }

  /** Returns the vendor's sequence number, or the next one if it gives none. */
  private countEvent(given: unknown): number {
    const number = typeof given === "number" ? given : this.sequence;
    this.sequence = number + 1;
    return number;
  }

  /** Forwards an event's bytes. Adds a sequence number if it has none, and sets the client's id of a call. */
  private relayBytes(event: ScannedEvent): void {
    this.addPart(event);
    this.watch(event);
    const { type, data, root } = event;
    const splices = listRenumberings(event);
    const number = memberOf(root, "sequence_number");
    const next = this.countEvent(numberOf(data, number));
    if (number === undefined) splices.push(insertAt(root.start + 1, `"sequence_number":${next},`));
    const callId = this.mapCallId(event);
    if (callId !== null) splices.push(callId);
    const args = fillArguments(event);
    if (args !== null) splices.push(args);
    const logprobs = missingLogprobs(type, root);
    if (logprobs !== null) splices.push(insertAt(root.end - 1, logprobs));
    // Data of several lines was joined by newlines; a space means the same in JSON.
    const line = spliceText(data, splices).replaceAll("\n", " ");
    this.out.push(type === "" ? `data: ${line}\n\n` : `event: ${type}\ndata: ${line}\n\n`);
  }

  /** Sends the event that adds the part of a text, if the vendor sent none: OpenAI's libraries fail at a text without it. */
  private addPart({ type, data, root, place }: ScannedEvent): void {
    const target = TEXT_EVENTS[type];
    if (target === undefined || place === null || !place.opensPart) return;
    const { list, part, field } = target;
    const added = {
      type: list === "summary" ? "response.reasoning_summary_part.added" : "response.content_part.added",
      sequence_number: this.countEvent(numberOf(data, memberOf(root, "sequence_number"))),
      item_id: stringOf(data, memberOf(root, "item_id")) ?? "",
      output_index: place.output,
      [`${list}_index`]: place.part,
      part: { ...EMPTY_PARTS[part], type: part, [field]: "" },
    };
    this.out.push(encodeEvent(added));
  }

  /** Updates the state from an event whose bytes are forwarded. */
  private watch(event: ScannedEvent): void {
    const { type, data, root } = event;
    const delta = memberOf(root, "delta");
    if (delta?.kind === "string" && delta.end - delta.start > 2) {
      this.sawToken = true;
      this.producedBytes += delta.end - delta.start - 2;
    }
    const item = memberOf(root, "item");
    if (item === undefined) return;
    const itemType = stringOf(data, memberOf(item, "type"));
    if (itemType !== "message" && itemType !== "reasoning") this.sawToken = true;
    if (isCall(itemType)) this.sawCall = true;
    const json = data.slice(item.start, item.end);
    if (type === "response.output_item.added") this.openItems.begin(outputIndexOf(event), json);
    if (type !== "response.output_item.done") return;
    this.openItems.end(outputIndexOf(event));
    this.items.set(outputIndexOf(event), json);
    if (itemType?.endsWith("_search_call") && isSearch(parse(json))) this.searches += 1;
  }

  private mapCallId(event: ScannedEvent): Splice | null {
    const { data, root } = event;
    const item = memberOf(root, "item");
    if (item === undefined || !isCall(stringOf(data, memberOf(item, "type")))) return null;
    const node = memberOf(item, "call_id");
    const vendorId = stringOf(data, node) ?? "";
    const id = this.callIds.idFor(vendorId, outputIndexOf(event));
    if (id === vendorId) return null;
    const json = encodeLatin1(JSON.stringify(id));
    if (node === undefined) return insertAt(item.start + 1, `"call_id":${json},`);
    return { start: node.start, end: node.end, insert: json };
  }

  /** Fills in the output: some vendors leave it out of the last event, where clients look for all of it. */
  private fillOutput(response: Fields): Fields {
    const { output } = response;
    if (Array.isArray(output) && output.length > 0) return response;
    return { ...response, output: this.readItems() };
  }

  private readItems(openItems: readonly [number, Fields][] = []): unknown[] {
    const ended = [...this.items].map(([index, json]) => [index, parse(json)] as const);
    return [...ended, ...openItems]
      .toSorted(([a], [b]) => a - b)
      .map(([index, item]) => this.callIds.rewrite(item, index));
  }

  /** The response as it began, under the gateway's id. */
  private describeBegun(): Record<string, unknown> {
    const { id, model, created } = this.identity;
    return { ...this.begun, id, model, created_at: created };
  }
}

function parse(latin1: string): Fields {
  return asFields(parseJson(decodeUtf8(latin1))) ?? {};
}

/** Returns the edits after which an event has the numbers of its place. Usually there are none. */
function listRenumberings({ type, data, root, place }: ScannedEvent): Splice[] {
  if (place === null) return [];
  const splices: Splice[] = [];
  const renumber = (name: string, index: number): void => {
    const node = memberOf(root, name);
    if (node === undefined) splices.push(insertAt(root.start + 1, `"${name}":${index},`));
    else if (numberOf(data, node) !== index)
      splices.push({ start: node.start, end: node.end, insert: String(index) });
  };
  renumber("output_index", place.output);
  if (place.part !== null)
    renumber(type.includes("reasoning_summary") ? "summary_index" : "content_index", place.part);
  return splices;
}

/** Returns the edit that gives a call which ended without arguments `{}`; null for any other event. */
function fillArguments({ type, data, root }: ScannedEvent): Splice | null {
  const isItem = type === "response.output_item.done";
  if (!isItem && type !== "response.function_call_arguments.done") return null;
  const owner = isItem ? memberOf(root, "item") : root;
  const node = memberOf(owner, "arguments");
  const itemType = isItem ? stringOf(data, memberOf(owner, "type")) : "function_call";
  if (owner === undefined || !lacksArguments(itemType, node && parseJson(data.slice(node.start, node.end))))
    return null;
  if (node === undefined) return insertAt(owner.start + 1, '"arguments":"{}",');
  return { start: node.start, end: node.end, insert: '"{}"' };
}

function insertAt(position: number, insert: string): Splice {
  return { start: position, end: position, insert };
}

/** Applies a few splices to a string, without a buffer. */
function spliceText(text: string, splices: readonly Splice[]): string {
  let out = "";
  let from = 0;
  for (const { start, end, insert } of splices.toSorted((a, b) => a.start - b.start)) {
    out += text.slice(from, start) + insert;
    from = end;
  }
  return out + text.slice(from);
}
