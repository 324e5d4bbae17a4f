import { type Fields, isEmpty, omit, setField, tryParseLatin1 } from "../../../base/json/fields.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import type { SplitEvent } from "../../../base/sse/split-events.ts";
import type { ByteOutput } from "../../../base/text/byte-output.ts";
import { DONE_MARKER, ForwardedStream } from "../../canonical/answer/event-stream.ts";
import type { AnswerRelay, RelayEnding, RelayFinish, RelayIdentity } from "../../canonical/answer/relay.ts";
import type { AnswerEnd, StreamError } from "../../canonical/model/format.ts";
import { correctOpenaiTier } from "../../canonical/model/service-tiers.ts";
import { EVENT_NOT_JSON, failedFinish, TOO_MANY_CHOICES } from "../../conversation/errors/broken-answers.ts";
import { findEventError } from "../../conversation/errors/vendor-error.ts";
import type { ServedModes, TokenUsage } from "../../conversation/usage.ts";
import type { ChunkTemplate } from "../../fast/chunk-template.ts";
import { isFailedFinish, readFinishReason } from "../finish-reason.ts";
import { OWN_ANSWER_FIELDS } from "../own-fields.ts";
import { type ChunkChoice, type ChunkDelta, readChunk } from "../read-chunk.ts";
import { ChunkEncoder, encodeStreamError } from "../stream-events.ts";
import { ToolCallTracker } from "../tool-call-tracker.ts";
import { encodeUsage } from "../usage.ts";
import { createTemplate, type ReadEvent } from "./create-template.ts";
import { relayDelta } from "./relay-delta.ts";

interface Choice {
  readonly index: number;
  readonly tools: ToolCallTracker;
  /** The vendor's finish reason; null until it arrives. */
  finish: string | null;
  /** Fields that are sent with the finish. */
  readonly finishFields: Record<string, unknown>;
}

const MAX_TEMPLATES = 6;

/**
 * Relays a stream between an upstream and a client that both speak this format. Events that match an earlier one are copied by a
 * template; all others are parsed, corrected and encoded.
 */
export class ChatRelay extends ForwardedStream implements AnswerRelay {
  usage: TokenUsage | null = null;
  private modes: ServedModes | undefined;
  private readonly templates: ChunkTemplate[] = [];
  private readonly choices = new Map<number, Choice>();
  /** Fields of events for which nothing was sent. They are sent with the next event. Null for none. */
  private carried: Record<string, unknown> | null = null;
  /** Fields of the events with a finish. They are sent with the last event. */
  private readonly finishFields: Record<string, unknown> = {};

  private readonly encoder: ChunkEncoder;

  /** `wantsUsageChunk`: the client asked for `stream_options.include_usage`. */
  constructor(
    private readonly identity: RelayIdentity,
    wantsUsageChunk: boolean,
  ) {
    super();
    this.encoder = new ChunkEncoder(identity, wantsUsageChunk);
  }

  /** Copies an event that matches a template. */
  copyEvent(piece: Uint8Array, from: number, out: ByteOutput): number {
    if (this.carried !== null) return from;
    for (const template of this.templates) {
      const copied = template.copyEvent(piece, from, out);
      if (copied === null) continue;
      this.producedBytes += copied.textBytes;
      return copied.next;
    }
    return from;
  }

  get isFinished(): boolean {
    if (this.choices.size === 0) return false;
    for (const { finish } of this.choices.values()) if (finish === null) return false;
    return true;
  }

  /** Chat vendors report searches with the usage only. */
  get searches(): number {
    return this.usage?.searches ?? 0;
  }

  classifyEnd(): RelayEnding {
    if (this.error !== null) return "failed";
    if (!this.isFinished) return "unfinished";
    const isEmpty =
      !this.sawToken && this.choices.values().every((choice) => clientFinish(choice) === "stop");
    return isEmpty ? "empty" : "complete";
  }

  finish(): RelayFinish | null {
    const first = this.choices.get(0) ?? [...this.choices.values()][0];
    return first?.finish ? { client: clientFinish(first), native: first.finish } : null;
  }

  stopShort(): string {
    this.isDone = true;
    this.finishAll("length");
    return "";
  }

  /** Sends the missing arguments of calls, one finish for each choice, the usage and `[DONE]`. */
  encodeEnd({ report, metadata }: AnswerEnd): string {
    const choices = [...this.choices.values()].toSorted((a, b) => a.index - b.index);
    let out = "";
    for (const { index, tools } of choices) {
      const calls = tools.end();
      const entry = { index, delta: { tool_calls: calls }, finish_reason: null };
      if (calls.length > 0) out += this.encoder.encodeEvent({}, [entry]);
    }
    const finishes = choices.map(encodeFinish);
    const fields = { ...this.carried, ...this.finishFields };
    return out + this.encoder.encodeEnding({ finishes, fields, usage: encodeUsage(report), metadata });
  }

  encodeError(error: StreamError): string {
    return encodeStreamError(error);
  }

  protected readEvent({ text, start, end, name }: SplitEvent): void {
    if (text.startsWith(DONE_MARKER, start)) {
      this.isDone = true;
      // Usage and an end marker make an answer complete even if the vendor gives no finish reason.
      if (this.usage !== null) this.finishAll("stop");
      return;
    }
    const data = text.slice(start, end);
    const raw = tryParseLatin1(data);
    this.error = raw === null ? EVENT_NOT_JSON : findEventError(raw, name);
    if (raw === null || this.error !== null) return;
    const chunk = readChunk(raw, this.modes);
    this.modes = chunk.modes;
    this.usage = chunk.usage ?? this.usage;
    const fields = omit(raw, OWN_ANSWER_FIELDS);
    correctOpenaiTier(fields);
    const sentBefore = this.out.length;
    for (const choice of chunk.choices) this.relayChoice(choice, fields);
    if (chunk.choices.length === 0) {
      this.keepForNextEvent(fields);
      return;
    }
    const prefix = text.slice(text.lastIndexOf("\n", start) + 1, start);
    if (chunk.choices.length === 1 && this.out.length > sentBefore)
      this.learnTemplate({ prefix, data, chunk, fields });
  }

  private relayChoice(given: ChunkChoice, fields: Fields): void {
    const { index, finish, others: choiceFields } = given;
    const isFirst = !this.choices.has(index);
    const choice = this.openChoice(index);
    if (choice === null) return;
    const delta = this.readDelta(choice, given.delta, isFirst);
    if (finish !== null) {
      this.holdFinish(choice, finish);
      addFields(choice.finishFields, choiceFields);
      addFields(this.finishFields, fields);
    }
    if (delta !== null) {
      const entry = { index, delta, ...choiceFields, finish_reason: null };
      this.out.push(this.encoder.encodeEvent({ ...this.carried, ...fields }, [entry]));
      this.carried = null;
    } else if (finish === null) {
      const { obfuscation: _, ...carried } = fields;
      this.keepForNextEvent(carried);
      addFields(choice.finishFields, choiceFields);
    }
  }

  private keepForNextEvent(fields: Fields): void {
    if (isEmpty(fields)) return;
    this.carried ??= {};
    addFields(this.carried, fields);
  }

  private openChoice(index: number): Choice | null {
    const known = this.choices.get(index);
    if (known !== undefined) return known;
    if (this.choices.size >= BOUNDS.choices) {
      this.error = TOO_MANY_CHOICES;
      return null;
    }
    const { makeCallId, originalIds } = this.identity;
    const tools = new ToolCallTracker(makeCallId, originalIds);
    const choice: Choice = { index, tools, finish: null, finishFields: {} };
    this.choices.set(index, choice);
    return choice;
  }

  private readDelta({ tools }: Choice, given: ChunkDelta, isFirst: boolean): Fields | null {
    const begunBefore = tools.begun;
    const { delta, hasContent, bytes } = relayDelta(tools, given, isFirst);
    // The vendor's index may belong to another call now, so the templates no longer hold.
    if (tools.begun !== begunBefore) this.templates.length = 0;
    if (hasContent) this.sawToken = true;
    this.producedBytes += bytes;
    return delta;
  }

  /** Keeps the finish reason for the end. A second one is dropped, because clients ran tools twice on it. */
  private holdFinish(choice: Choice, reason: string): void {
    if (isFailedFinish(reason)) this.error = failedFinish(reason);
    choice.finish ??= reason;
  }

  private finishAll(reason: string): void {
    for (const choice of this.choices.values()) choice.finish ??= reason;
  }

  /** Makes a template from an event for which something was sent, if possible. */
  private learnTemplate(event: ReadEvent): void {
    const tools = this.choices.get(event.chunk.choices[0]?.index ?? 0)?.tools;
    const template = tools === undefined ? null : createTemplate(event, tools, this.encoder);
    if (template === null) return;
    this.templates.unshift(template);
    if (this.templates.length > MAX_TEMPLATES) this.templates.pop();
  }
}

/** The choice's finish reason as the client sees it. */
function clientFinish({ finish, tools }: Choice): string {
  return readFinishReason(finish ?? "stop", tools.count() > 0);
}

function encodeFinish(choice: Choice): Fields {
  const reason = clientFinish(choice);
  return {
    index: choice.index,
    delta: {},
    ...choice.finishFields,
    finish_reason: reason,
    ...(reason === choice.finish ? {} : { native_finish_reason: choice.finish }),
  };
}

/** Adds fields to those known. A null does not replace an earlier value. */
function addFields(known: Record<string, unknown>, more: Fields): void {
  for (const name in more) if (more[name] !== null || !(name in known)) setField(known, name, more[name]);
}
