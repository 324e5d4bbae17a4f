import { asFields, assignFields, asText, type Fields, omit, setField } from "../../../../base/json/fields.ts";
import { parseInput } from "../../../../base/json/parse-json.ts";
import { AnswerEmitter, PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import { type EventHandler, EventReader } from "../../../canonical/answer/event-reader.ts";
import type { PartDelta } from "../../../canonical/model/answer.ts";
import type { AnswerReader } from "../../../canonical/model/format.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import { ANSWER_RESTARTED } from "../../../conversation/errors/broken-answers.ts";
import { findEventError } from "../../../conversation/errors/vendor-error.ts";
import { decodeFinish } from "../../finish-reason.ts";
import { foldUsage, readUsage } from "../../usage.ts";
import { decodeCitation } from "../parts/citations.ts";
import { makeExtras } from "../parts/extras.ts";
import { ANSWER_FIELDS, decodeAnswerBlock, pickStopDetails } from "./decode-response.ts";

/** Returns a reader of Messages streams. */
export function createReader(): AnswerReader {
  const emitter = new AnswerEmitter();
  return new EventReader(emitter, new MessageHandler(emitter));
}

type OpenBlock =
  | { readonly kind: "part"; readonly at: number; readonly part: Part; hasArguments: boolean }
  /** A block that only this format has; it is emitted whole. `json` is its input so far. */
  | { readonly kind: "native"; value: Record<string, unknown>; json: string };

/** Fields of `message_start` that the gateway writes itself, or that have no value yet. */
const START_FIELDS: ReadonlySet<string> = new Set([...ANSWER_FIELDS, "usage"]);

/** Fields of `message_delta` that are read on their own. */
const DELTA_FIELDS: ReadonlySet<string> = new Set(["type", "delta", "usage"]);
const FINISH_FIELDS: ReadonlySet<string> = new Set(["stop_reason", "stop_sequence", "stop_details"]);

class MessageHandler implements EventHandler {
  private readonly parts: PartEmitter;
  /** Open blocks by the vendor's index. */
  private readonly blocks = new Map<number, OpenBlock>();
  /** All counters so far, in the vendor's form. */
  private usage: Fields = {};
  /** The fields of the finish that `message_delta` has sent so far. */
  private delta: Record<string, unknown> = {};
  private hasFinished = false;

  constructor(private readonly emitter: AnswerEmitter) {
    this.parts = new PartEmitter(emitter);
  }

  readEvent(event: Fields, name: string): void {
    const error = findEventError(event, name);
    const { type } = event;
    if (error !== null) this.emitter.fail(error);
    else this.readTyped(typeof type === "string" ? type : name, event);
  }

  readDone(): void {
    this.finish();
  }

  readEnd(): void {
    if (this.delta["stop_reason"] !== undefined) this.finish();
  }

  /** Reads an event by its type. `ping` and unknown events are ignored. */
  private readTyped(type: string, event: Fields): void {
    const index = typeof event["index"] === "number" ? event["index"] : 0;
    switch (type) {
      case "message_start":
        this.readStart(asFields(event["message"]) ?? {});
        break;
      case "content_block_start":
        this.openBlock(index, event["content_block"]);
        break;
      case "content_block_delta":
        this.appendToBlock(index, asFields(event["delta"]));
        break;
      case "content_block_stop":
        this.closeBlock(index);
        break;
      case "message_delta":
        this.readMessageDelta(event);
        break;
      case "message_stop":
        this.emitter.end();
        this.finish();
    }
  }

  private readStart(message: Fields): void {
    // An answer that restarts cannot be joined to what has been passed on; a repeated start without content can.
    if (this.parts.hasParts || this.blocks.size > 0) {
      this.emitter.fail(ANSWER_RESTARTED);
      return;
    }
    const { content, stop_reason, stop_sequence } = message;
    const isWhole = Array.isArray(content) && content.length > 0 && typeof stop_reason === "string";
    if (isWhole) this.delta = { ...omitNull({ stop_reason, stop_sequence }) };
    this.addUsage(message["usage"]);
    this.emitExtras(omit(message, START_FIELDS));
    // Some hosts start with content; so does a turn that continues after a tool of the vendor's, which comes whole.
    for (const [index, block] of [content].flat().entries()) {
      if (asFields(block) === null) continue;
      this.openBlock(index, block);
      this.closeBlock(index);
    }
  }

  private addUsage(raw: unknown): void {
    const counters = asFields(raw);
    if (counters === null) return;
    const tier = counters["service_tier"];
    if (typeof tier === "string" && tier !== this.usage["service_tier"])
      this.emitter.emit({ kind: "service-tier", tier });
    this.usage = foldUsage(this.usage, counters);
    const usage = readUsage(this.usage);
    if (usage !== null) this.emitter.emit({ kind: "usage", usage });
  }

  private emitExtras(fields: Fields): void {
    this.emitter.emit({ kind: "extras", ...makeExtras({ ...fields, usage: this.usage }) });
  }

  private openBlock(index: number, raw: unknown): void {
    this.closeBlock(index);
    const part = decodeAnswerBlock(raw);
    if (part?.kind === "native") {
      this.blocks.set(index, { kind: "native", value: { ...part.value }, json: "" });
    } else if (part !== null) {
      const start = omitPlaceholders(part);
      const hasArguments = start.kind === "tool-call" && start.arguments !== "";
      this.blocks.set(index, { kind: "part", at: this.parts.open(start), part: start, hasArguments });
    }
  }

  private appendToBlock(index: number, raw: Fields | null): void {
    const block = this.blocks.get(index);
    if (block === undefined || raw === null) return;
    if (block.kind === "native") {
      appendToNative(block, raw);
      return;
    }
    const delta = readDelta(raw);
    if (delta === null) return;
    if (delta.kind === "arguments") block.hasArguments = true;
    this.parts.append(block.at, delta);
  }

  private closeBlock(index: number): void {
    const block = this.blocks.get(index);
    this.blocks.delete(index);
    if (block?.kind === "native") {
      const part = closeNative(block);
      if (part !== null) this.parts.emitWhole(part);
    } else if (block !== undefined) {
      const lacksArguments = block.part.kind === "tool-call" && !block.hasArguments;
      if (lacksArguments) this.parts.append(block.at, { kind: "arguments", text: "{}" });
      this.parts.close(block.at);
    }
  }

  /** The fields may come in several events; the finish is emitted at the end, after the last usage. */
  private readMessageDelta(event: Fields): void {
    const delta = asFields(event["delta"]) ?? {};
    assignFields(this.delta, omitNull(delta));
    this.addUsage(event["usage"]);
    this.emitExtras({ ...omit(event, DELTA_FIELDS), ...omit(delta, FINISH_FIELDS) });
  }

  private finish(): void {
    if (this.hasFinished) return;
    this.hasFinished = true;
    for (const index of [...this.blocks.keys()]) this.closeBlock(index);
    // A message that has stopped without a reason has come to its end.
    const native = asText(this.delta["stop_reason"]) ?? "end_turn";
    const finish = decodeFinish(native, asText(this.delta["stop_sequence"]));
    const extras = makeExtras(pickStopDetails(this.delta));
    this.emitter.emit({ kind: "finish", choice: 0, finish, ...extras });
  }
}

/** Returns a block as it starts: an empty input or signature is a placeholder for one that is still to come. */
function omitPlaceholders(part: Part): Part {
  if (part.kind === "tool-call" && part.arguments === "{}") return { ...part, arguments: "" };
  if (part.kind === "reasoning" && part.signature === "") return { ...part, signature: null };
  return part;
}

function readDelta(raw: Fields): PartDelta | null {
  switch (raw["type"]) {
    case "text_delta":
      return readPiece(raw["text"], (text) => ({ kind: "text", text }));
    case "thinking_delta":
      return readPiece(raw["thinking"], (text) => ({ kind: "text", text }));
    case "input_json_delta":
      return readPiece(raw["partial_json"], (text) => ({ kind: "arguments", text }));
    case "signature_delta":
      return readPiece(raw["signature"], (value) => ({ kind: "signature", value }));
    case "citations_delta": {
      const citation = asFields(raw["citation"]);
      return citation === null ? null : { kind: "citation", citation: decodeCitation(citation) };
    }
    default:
      return null;
  }
}

function readPiece(value: unknown, make: (text: string) => PartDelta): PartDelta | null {
  return typeof value === "string" && value !== "" ? make(value) : null;
}

/** Appends a delta to the block's fields of the same names; `partial_json` is appended to its input. */
function appendToNative(block: { value: Record<string, unknown>; json: string }, delta: Fields): void {
  for (const [name, more] of Object.entries(delta)) {
    if (name === "type") continue;
    const before = block.value[name];
    if (name === "partial_json") block.json += typeof more === "string" ? more : "";
    else if (typeof before === "string" && typeof more === "string")
      setField(block.value, name, before + more);
    else setField(block.value, name, more);
  }
}

function closeNative({ json, value }: OpenBlock & { readonly kind: "native" }): Part | null {
  return decodeAnswerBlock(json === "" ? value : { ...value, input: readInput(json) });
}

/** Parses an input; one that was cut off stays as text. */
function readInput(json: string): unknown {
  try {
    return parseInput(json);
  } catch {
    return json;
  }
}

function omitNull(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== null || name === "stop_details"),
  );
}
