import {
  asFields,
  asObjects,
  assignFields,
  asText,
  type Fields,
  setField,
  tryParseLatin1,
} from "../../../base/json/fields.ts";
import type { SplitEvent } from "../../../base/sse/split-events.ts";
import type { ByteOutput } from "../../../base/text/byte-output.ts";
import { DONE_MARKER, ForwardedStream } from "../../canonical/answer/event-stream.ts";
import type { AnswerRelay, RelayEnding, RelayFinish, RelayIdentity } from "../../canonical/answer/relay.ts";
import type { AnswerEnd, StreamError } from "../../canonical/model/format.ts";
import { correctAnthropicTier } from "../../canonical/model/service-tiers.ts";
import { ANSWER_RESTARTED, EVENT_NOT_JSON } from "../../conversation/errors/broken-answers.ts";
import { findEventError } from "../../conversation/errors/vendor-error.ts";
import { NO_TOKENS, type TokenUsage } from "../../conversation/usage.ts";
import { beginsDelta, type DeltaSize, findDelta, measureDelta } from "../../fast/block-delta.ts";
import { correctStopReason } from "../finish-reason.ts";
import { encodeEvent, encodeStreamError } from "../stream-events.ts";
import { encodeCounters, encodeUsage, foldUsage, readUsage } from "../usage.ts";
import { isCall, isEmptyBlock, mapCallId, readRelayFinish, SILENT_REASONS } from "./response-blocks.ts";

/**
 * Relays a stream between an upstream and a client that both speak this format. The bytes of deltas are forwarded unchanged. Only the
 * events around them are parsed: the start, the start of each block, and the end, which waits for its price.
 */
export class MessagesRelay extends ForwardedStream implements AnswerRelay {
  searches = 0;
  private hasStarted = false;
  /** The index of the open block; null if none is open. */
  private openIndex: number | null = null;
  private hasBlocks = false;
  private hasCalls = false;
  /** All counters so far, in the vendor's form. */
  private counters: Fields = {};
  /** The `delta` of the `message_delta` events so far, and the fields next to it. */
  private delta: Record<string, unknown> = {};
  private readonly deltaSiblings: Record<string, unknown> = {};

  /** `estimatedPromptTokens` is sent at the start of the stream if the vendor has not counted the prompt by then. */
  constructor(
    private readonly identity: RelayIdentity,
    private readonly estimatedPromptTokens: number,
  ) {
    super();
  }

  /** Copies an event with a delta. */
  copyEvent(piece: Uint8Array, from: number, out: ByteOutput): number {
    const delta = findDelta(piece, from);
    if (delta === null) return from;
    this.countDelta(delta.text, delta.start, delta.end);
    out.appendLatin1(delta.text);
    return delta.next;
  }

  get isFinished(): boolean {
    return typeof this.delta["stop_reason"] === "string";
  }

  get usage(): TokenUsage | null {
    return readUsage(this.counters);
  }

  classifyEnd(): RelayEnding {
    if (this.error !== null) return "failed";
    const reason = this.stopReason;
    if (reason === null) return "unfinished";
    return !this.sawToken && SILENT_REASONS.has(reason) ? "empty" : "complete";
  }

  finish(): RelayFinish | null {
    const { nativeReason } = this;
    return nativeReason === null ? null : readRelayFinish(nativeReason, this.hasCalls);
  }

  /** The vendor's stop reason; null until it arrives. */
  private get nativeReason(): string | null {
    // A message that has stopped without a reason has come to its end.
    return asText(this.delta["stop_reason"]) ?? (this.isDone ? "end_turn" : null);
  }

  /** The stop reason for the client; null until the vendor's arrives. */
  private get stopReason(): string | null {
    const { nativeReason } = this;
    return nativeReason === null ? null : correctStopReason(nativeReason, this.hasCalls);
  }

  stopShort(): string {
    this.isDone = true;
    this.delta = { ...this.delta, stop_reason: "max_tokens" };
    return "";
  }

  encodeEnd({ report, metadata }: AnswerEnd): string {
    const { openIndex, counters, delta } = this;
    const closing = openIndex === null ? "" : encodeEvent({ type: "content_block_stop", index: openIndex });
    const last = {
      type: "message_delta",
      delta: { stop_sequence: null, ...delta, stop_reason: this.stopReason ?? "end_turn" },
      usage: encodeUsage(report, counters, asText(counters["service_tier"])),
      ...this.deltaSiblings,
      ...(metadata === null ? {} : { gateway_metadata: metadata }),
    };
    return closing + encodeEvent(last) + encodeEvent({ type: "message_stop" });
  }

  encodeError(error: StreamError): string {
    return encodeStreamError(error);
  }

  private passDelta(text: string, start: number, end: number): void {
    this.countDelta(text, start, end);
    this.pass("content_block_delta", text.slice(start, end));
  }

  private countDelta(text: string, start: number, end: number): void {
    const { size, isSignature } =
      measureDelta(text, start, end) ?? measureParsed(tryParseLatin1(text.slice(start, end)));
    this.producedBytes += size;
    if (size > 0 && !isSignature) this.sawToken = true;
  }

  /** Forwards an event unchanged. */
  private pass(name: string, data: string): void {
    const lines = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
    this.out.push(`event: ${name}\ndata: ${lines}\n\n`);
  }

  protected readEvent({ text, start, end, name }: SplitEvent): void {
    const isDelta = name === "content_block_delta" || (name === "" && beginsDelta(text, start));
    if (isDelta) this.passDelta(text, start, end);
    else this.readOther(text.slice(start, end), name);
  }

  private readOther(data: string, name: string): void {
    if (data === DONE_MARKER) {
      this.isDone = true;
      return;
    }
    const event = tryParseLatin1(data);
    this.error = event === null ? EVENT_NOT_JSON : findEventError(event, name);
    if (event !== null && this.error === null) this.readTyped(asText(event["type"]) ?? name, event, data);
  }

  private readTyped(type: string, event: Fields, data: string): void {
    switch (type) {
      case "message_start":
        this.relayStart(event);
        break;
      case "content_block_start":
        this.relayBlockStart(event, data);
        break;
      case "content_block_delta":
        // Its fields are in another order, or it has no name.
        this.passDelta(data, 0, data.length);
        break;
      case "content_block_stop":
        this.openIndex = null;
        this.pass(type, data);
        break;
      case "message_delta":
        this.holdMessageDelta(event);
        break;
      case "message_stop":
        this.isDone = true;
        break;
      default:
        this.pass(type, data);
    }
  }

  private relayStart(event: Fields): void {
    const message = asFields(event["message"]) ?? {};
    if (this.hasBlocks) {
      this.error = ANSWER_RESTARTED;
      return;
    }
    this.counters = foldUsage(this.counters, asFields(message["usage"]) ?? {});
    if (this.hasStarted) return;
    this.hasStarted = true;
    const { id, model } = this.identity;
    const content = this.readStartContent(message);
    const start = { ...message, ...content, id, model, usage: this.encodeStartUsage() };
    this.out.push(encodeEvent({ ...event, type: "message_start", message: start }));
  }

  /** Reads the content of a start. A turn that continues after a vendor's tool is complete in it, including its end. */
  private readStartContent({ content, stop_reason: reason, stop_sequence }: Fields): Fields {
    if (!Array.isArray(content) || content.length === 0) return {};
    if (typeof reason === "string")
      this.delta = { stop_reason: reason, stop_sequence: stop_sequence ?? null };
    this.hasBlocks = true;
    this.hasCalls = asObjects(content).some(isCall);
    this.sawToken = true;
    return { content: content.map((block) => mapCallId(this.identity, asFields(block) ?? {})) };
  }

  /** Clients add to the counters of the start, so a vendor without counters gets an estimate. */
  private encodeStartUsage(): Fields {
    const estimate = { ...NO_TOKENS, promptTokens: this.estimatedPromptTokens };
    const { usage } = this;
    const encoded = { ...encodeCounters(usage ?? estimate), ...(usage === null ? {} : this.counters) };
    correctAnthropicTier(encoded);
    return encoded;
  }

  private relayBlockStart(event: Fields, data: string): void {
    const block = asFields(event["content_block"]) ?? {};
    this.openIndex = typeof event["index"] === "number" ? event["index"] : 0;
    this.hasBlocks = true;
    if (!isEmptyBlock(block)) this.sawToken = true;
    if (isCall(block)) this.hasCalls = true;
    if (block["type"] === "server_tool_use" && block["name"] === "web_search") this.searches += 1;
    const mapped = mapCallId(this.identity, block);
    if (mapped === block) this.pass("content_block_start", data);
    else this.out.push(encodeEvent({ ...event, type: "content_block_start", content_block: mapped }));
  }

  private holdMessageDelta(event: Fields): void {
    const { type: _type, delta, usage, ...siblings } = event;
    for (const [name, value] of Object.entries(asFields(delta) ?? {})) {
      // A later event that repeats a field without a value does not clear it.
      if (value !== null || !(name in this.delta)) setField(this.delta, name, value);
    }
    assignFields(this.deltaSiblings, siblings);
    this.counters = foldUsage(this.counters, asFields(usage) ?? {});
  }
}

/** Measures a delta with white space between its tokens, or with fields in another order. */
function measureParsed(event: Fields | null): DeltaSize {
  const { type, ...values } = asFields(event?.["delta"]) ?? {};
  let size = 0;
  for (const value of Object.values(values)) {
    if (typeof value === "string") size += Buffer.byteLength(value);
    else if (asFields(value) !== null) size += JSON.stringify(value).length;
  }
  return { size, isSignature: type === "signature_delta" };
}
