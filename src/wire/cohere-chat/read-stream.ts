import { asFields, type Fields } from "../../base/json/fields.ts";
import { AnswerEmitter, PartEmitter } from "../canonical/answer/answer-emitter.ts";
import { type EventHandler, EventReader } from "../canonical/answer/event-reader.ts";
import type { PartDelta } from "../canonical/model/answer.ts";
import type { AnswerReader } from "../canonical/model/format.ts";
import { type Part, plainReasoning } from "../canonical/model/parts.ts";
import { type ArgumentsHold, createArgumentsHold } from "./arguments.ts";
import { findFailure, readText } from "./decode-response.ts";
import { findFailedFinish, readFinish } from "./finish-reason.ts";
import { readCitations } from "./read-citations.ts";
import { readLogprobs } from "./read-logprobs.ts";
import { readUsage } from "./usage.ts";

/** Returns a reader of Cohere's stream of chat events, which ends with `message-end`. */
export function createReader(): AnswerReader {
  const emitter = new AnswerEmitter();
  return new EventReader(emitter, new ChatHandler(emitter));
}

/** A part that has started and not ended. */
interface OpenPart {
  readonly at: number;
  readonly kind: Part["kind"];
  /** Of a tool call. */
  readonly args: ArgumentsHold | null;
}

const NO_REASONING: Part = plainReasoning("");
const NO_TEXT: Part = { kind: "text", text: "" };

class ChatHandler implements EventHandler {
  private readonly parts: PartEmitter;
  /** By kind and Cohere's index; contents and tool calls are numbered separately. */
  private readonly open = new Map<string, OpenPart>();
  private hasCalls = false;

  constructor(private readonly emitter: AnswerEmitter) {
    this.parts = new PartEmitter(emitter);
  }

  /** `name` is used for events whose data has no type. */
  readEvent(event: Fields, name: string): void {
    const error = findFailure(event);
    if (error !== null) {
      this.emitter.fail(error);
      return;
    }
    const delta = asFields(event["delta"]) ?? {};
    const message = asFields(delta["message"]) ?? {};
    const index = typeof event["index"] === "number" ? event["index"] : 0;
    switch (readText(event["type"]) || name) {
      case "tool-plan-delta":
        this.growText("plan", NO_REASONING, readText(message["tool_plan"]));
        break;
      case "content-start":
        this.closeAll();
        this.growContent(index, event, message);
        break;
      case "content-delta":
        this.growContent(index, event, message);
        break;
      case "content-end":
        this.endContent(`content ${index}`);
        break;
      case "tool-call-start":
        this.startCall(index, message);
        break;
      case "tool-call-delta":
        this.growCall(index, message);
        break;
      case "tool-call-end":
        this.closePart(`call ${index}`);
        break;
      case "citation-start":
        this.cite(message["citations"]);
        break;
      case "message-end":
        this.finish(delta);
        break;
    }
  }

  private growContent(index: number, event: Fields, message: Fields): void {
    const content = asFields(message["content"]) ?? {};
    const key = `content ${index}`;
    const value = readLogprobs(event["logprobs"] ?? asFields(event["delta"])?.["logprobs"]);
    if (value !== null) this.emitter.emit({ kind: "logprobs", choice: 0, value });
    this.growText(key, NO_REASONING, readText(content["thinking"]));
    this.growText(key, NO_TEXT, readText(content["text"]));
  }

  /** Appends to the open part with this key if it is of the kind of `part`, else to a new one. */
  private growText(key: string, part: Part, text: string): void {
    if (text === "") return;
    const known = this.open.get(key);
    const { at } = known?.kind === part.kind ? known : this.openPart(key, part, null);
    this.parts.append(at, { kind: "text", text });
  }

  /** Starts a part. Cohere sends one part after the other, so the parts before it have ended. */
  private openPart(key: string, part: Part, args: ArgumentsHold | null): OpenPart {
    this.closeAll();
    const open = { at: this.parts.open(part), kind: part.kind, args };
    this.open.set(key, open);
    return open;
  }

  /** Keeps a text open until another part begins: its citations come after its end. */
  private endContent(key: string): void {
    if (this.open.get(key)?.kind !== "text") this.closePart(key);
  }

  private startCall(index: number, message: Fields): void {
    const call = readCall(message);
    const fn = asFields(call["function"]) ?? {};
    this.hasCalls = true;
    const id = readText(call["id"]);
    const name = readText(fn["name"]);
    const part: Part = { kind: "tool-call", id, name, tool: "function", arguments: "" };
    this.openPart(`call ${index}`, part, createArgumentsHold());
    this.growCall(index, message);
  }

  private growCall(index: number, message: Fields): void {
    const open = this.open.get(`call ${index}`);
    const piece = readText(asFields(readCall(message)["function"])?.["arguments"]);
    if (open?.args) this.parts.append(open.at, argumentsDelta(open.args.push(piece)));
  }

  private closePart(key: string): void {
    const open = this.open.get(key);
    if (open === undefined) return;
    this.open.delete(key);
    if (open.args !== null) this.parts.append(open.at, argumentsDelta(open.args.end()));
    this.parts.close(open.at);
  }

  private closeAll(): void {
    for (const key of [...this.open.keys()]) this.closePart(key);
  }

  private cite(citations: unknown): void {
    for (const { index, citation } of readCitations(citations)) {
      for (const [key, { kind, at }] of this.open) {
        const isCited = kind === "text" && (index === null || key === `content ${index}`);
        if (isCited) this.parts.append(at, { kind: "citation", citation });
      }
    }
  }

  private finish(delta: Fields): void {
    const native = readText(delta["finish_reason"]) || "COMPLETE";
    const failed = findFailedFinish(native, delta["error"]);
    if (failed !== null) {
      this.emitter.fail(failed);
      return;
    }
    const usage = readUsage(asFields(delta["usage"]));
    this.closeAll();
    this.emitter.end();
    this.emitter.emit({ kind: "finish", choice: 0, finish: readFinish(native, this.hasCalls) });
    if (usage !== null) this.emitter.emit({ kind: "usage", usage });
  }
}

/** Returns the call of an event: a stream has one per event, a whole answer has a list. */
function readCall(message: Fields): Fields {
  const calls = message["tool_calls"];
  return asFields(Array.isArray(calls) ? calls[0] : calls) ?? {};
}

function argumentsDelta(text: string): PartDelta {
  return { kind: "arguments", text };
}
