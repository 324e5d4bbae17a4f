import { asFields, asText, type Fields, tryParseLatin1 } from "../../base/json/fields.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { AnswerEmitter, PartEmitter } from "../canonical/answer/answer-emitter.ts";
import type { AnswerEvent, PartDelta } from "../canonical/model/answer.ts";
import type { AnswerReader } from "../canonical/model/format.ts";
import { type Part, plainReasoning, REASONING_ORIGINS } from "../canonical/model/parts.ts";
import { EVENT_NOT_JSON, failedFinish } from "../conversation/errors/broken-answers.ts";
import { brokenAnswer } from "../conversation/errors/vendor-error.ts";
import { decodeCitation, readTier, redactedReasoning } from "./decode-response.ts";
import { type Frame, FrameSplitter } from "./event-frames.ts";
import { isFailedFinish, readFinish } from "./finish-reason.ts";
import { readException } from "./read-exception.ts";
import { readUsage } from "./usage.ts";

/** Returns a reader of ConverseStream. */
export function createReader(): AnswerReader {
  return new StreamReader();
}

/** A part that has started and not ended. */
interface OpenPart {
  readonly at: number;
  readonly kind: Part["kind"];
  /** For a tool call: whether arguments have arrived. */
  hasArguments: boolean;
}

const NO_TEXT: Part = { kind: "text", text: "" };
/** A signature comes after its reasoning, too late to set the origin; of all models behind Converse only Claude signs. */
const NO_REASONING: Part = { ...plainReasoning(""), origin: REASONING_ORIGINS.anthropic };

/** The usage may come before or after the stop; a block may lack its start, and the last blocks their stop. */
class StreamReader implements AnswerReader {
  private readonly emitter = new AnswerEmitter();
  private readonly parts = new PartEmitter(this.emitter);
  private readonly frames = new FrameSplitter(BOUNDS.eventBytes);
  /** Open parts by the index of Bedrock's block; null for a block that is ignored. */
  private readonly open = new Map<number, OpenPart | null>();
  private hasCalls = false;
  private hasFinished = false;
  private hasUsage = false;

  get isDone(): boolean {
    return this.emitter.error !== null || (this.hasFinished && this.hasUsage);
  }

  step(piece: string): readonly AnswerEvent[] {
    if (this.isDone) return [];
    const { complete, problem } = this.frames.push(piece);
    for (const frame of complete) if (!this.isDone) this.readFrame(frame);
    if (problem !== null && !this.isDone)
      this.emitter.fail(brokenAnswer(`the upstream's stream is broken: ${problem}`));
    return this.emitter.take();
  }

  end(): readonly AnswerEvent[] {
    return [];
  }

  private readFrame({ headers, payload }: Frame): void {
    const body = tryParseLatin1(payload);
    const type = headers.get(":message-type");
    if (type === "exception") {
      this.emitter.fail(readException(headers.get(":exception-type") ?? "", body));
    } else if (type === "error") {
      const message = headers.get(":error-message");
      this.emitter.fail(readException(headers.get(":error-code") ?? "", { message }));
    } else if (body === null) {
      this.emitter.fail(EVENT_NOT_JSON);
    } else {
      this.readEvent(headers.get(":event-type") ?? "", body);
    }
  }

  private readEvent(type: string, body: Fields): void {
    if (type === "metadata") {
      this.readMetadata(body);
      return;
    }
    if (this.hasFinished) return;
    const index = typeof body["contentBlockIndex"] === "number" ? body["contentBlockIndex"] : 0;
    switch (type) {
      case "contentBlockStart":
        this.startBlock(index, asFields(body["start"]) ?? {});
        break;
      case "contentBlockDelta":
        this.growBlock(index, asFields(body["delta"]) ?? {});
        break;
      case "contentBlockStop":
        this.closeBlock(index);
        break;
      case "messageStop":
        this.finish(body);
        break;
    }
  }

  private readMetadata(body: Fields): void {
    const usage = readUsage(asFields(body["usage"]));
    const tier = readTier(body);
    this.hasUsage ||= usage !== null;
    if (tier !== null) this.emitter.emit({ kind: "service-tier", tier });
    if (usage !== null) this.emitter.emit({ kind: "usage", usage });
  }

  /** Only the blocks of tools are described at their start; others are known by their first delta. */
  private startBlock(index: number, start: Fields): void {
    this.closeBlock(index);
    const use = asFields(start["toolUse"]);
    if (use?.["type"] === "server_tool_use" || start["toolResult"] !== undefined) {
      this.open.set(index, null);
      return;
    }
    if (use === null) return;
    this.hasCalls = true;
    const id = asText(use["toolUseId"]) ?? "";
    const name = asText(use["name"]) ?? "";
    this.openPart(index, { kind: "tool-call", id, name, tool: "function", arguments: "" });
  }

  private openPart(index: number, part: Part): OpenPart {
    const open = { at: this.parts.open(part), kind: part.kind, hasArguments: false };
    this.open.set(index, open);
    return open;
  }

  private growBlock(index: number, delta: Fields): void {
    if (this.open.get(index) === null) return;
    const use = asFields(delta["toolUse"]);
    const reasoning = asFields(delta["reasoningContent"]);
    const citation = asFields(delta["citation"]);
    if (use !== null) this.growCall(index, asText(use["input"]) ?? "");
    else if (reasoning !== null) this.growReasoning(index, reasoning);
    else if (citation !== null) {
      this.growPart(index, NO_TEXT, { kind: "citation", citation: decodeCitation(citation) });
    } else this.growPart(index, NO_TEXT, { kind: "text", text: asText(delta["text"]) ?? "" });
  }

  /** Appends to the block's open part if it is of the kind of `part`, else to a new one. */
  private growPart(index: number, part: Part, delta: PartDelta): void {
    if ("text" in delta && delta.text === "") return;
    let open = this.open.get(index);
    if (open?.kind !== part.kind) {
      this.closeBlock(index);
      open = this.openPart(index, part);
    }
    this.parts.append(open.at, delta);
  }

  private growCall(index: number, text: string): void {
    const open = this.open.get(index);
    if (open?.kind !== "tool-call" || text === "") return;
    open.hasArguments = true;
    this.parts.append(open.at, { kind: "arguments", text });
  }

  private growReasoning(index: number, reasoning: Fields): void {
    const redacted = asText(reasoning["redactedContent"]) ?? "";
    if (redacted !== "") {
      this.closeBlock(index);
      this.parts.emitWhole(redactedReasoning(redacted));
      return;
    }
    const signature = asText(reasoning["signature"]) ?? "";
    this.growPart(index, NO_REASONING, { kind: "text", text: asText(reasoning["text"]) ?? "" });
    if (signature !== "") this.growPart(index, NO_REASONING, { kind: "signature", value: signature });
  }

  private closeBlock(index: number): void {
    const open = this.open.get(index);
    this.open.delete(index);
    if (!open) return;
    const lacksArguments = open.kind === "tool-call" && !open.hasArguments;
    if (lacksArguments) this.parts.append(open.at, { kind: "arguments", text: "{}" });
    this.parts.close(open.at);
  }

  private finish(body: Fields): void {
    const native = asText(body["stopReason"]) || "end_turn";
    if (isFailedFinish(native)) {
      this.emitter.fail(failedFinish(native));
      return;
    }
    for (const index of [...this.open.keys()]) this.closeBlock(index);
    const fields = asFields(body["additionalModelResponseFields"]);
    const stopSequence = asFields(fields?.["delta"])?.["stop_sequence"];
    this.hasFinished = true;
    const finish = readFinish(native, this.hasCalls, stopSequence);
    this.emitter.emit({ kind: "finish", choice: 0, finish });
  }
}
