import { asObjects } from "../../../../base/json/fields.ts";
import type { PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import { REASONING_ORIGINS, type ReasoningPart } from "../../../canonical/model/parts.ts";
import { ToolCallTracker } from "../../tool-call-tracker.ts";
import { isWholeObject, nameOf, type ToolCallOut, textOf } from "../../tool-calls.ts";
import { readExtraContent } from "../parts/signatures.ts";
import type { OpenText } from "./open-text.ts";

interface OpenCall {
  readonly at: number;
  readonly tool: "function" | "custom";
  readonly id: string;
  text: string;
  isOpen: boolean;
  /** The length of its text when it was last checked for completeness. */
  checkedChars: number;
}

/** Reads the tool calls of one choice, and their thought signatures. */
export class CallReader {
  // Missing ids stay empty; `createNormaliser` makes them.
  private readonly tracker = new ToolCallTracker(() => "", null);
  /** All calls, by the tracker's index. */
  private readonly calls: OpenCall[] = [];
  /** The open calls, by id. */
  private readonly openCalls = new Map<string, OpenCall>();
  /** Open calls that may have become complete since the last check. */
  private readonly unchecked = new Set<OpenCall>();
  /** Details that may sign a call that has not started, by the call's id. */
  private readonly waitingSignatures = new Map<string, ReasoningPart[]>();

  constructor(
    private readonly parts: PartEmitter,
    private readonly openText: OpenText,
  ) {}

  /** Reads the pieces of calls in a delta. */
  readPieces(pieces: unknown): void {
    for (const raw of asObjects(pieces)) {
      const [out] = this.tracker.step([raw]);
      if (out?.id !== undefined) this.start(out.id, out);
      const vendorIndex = raw["index"];
      const index =
        out?.index ?? (typeof vendorIndex === "number" ? this.tracker.indexOf(vendorIndex) : null);
      const call = index === null ? undefined : this.calls[index];
      if (!call?.isOpen) continue;
      // A call that was held back has it from the piece that began it.
      const signature = readExtraContent(out?.["extra_content"] ?? raw["extra_content"]);
      if (signature !== null) this.sign(call, signature);
      this.append(call, out === undefined ? "" : textOf(out));
    }
  }

  /** Attaches a detail with Gemini's signature to the call with its id, now or when that call starts. */
  readSignature(id: string, part: ReasoningPart): void {
    const call = this.openCalls.get(id);
    const waiting = this.waitingSignatures.get(id);
    if (call !== undefined) this.sign(call, part.encrypted as string);
    else if (waiting === undefined) this.waitingSignatures.set(id, [part]);
    else waiting.push(part);
  }

  /** Ends all calls. Signatures without their call become reasoning. */
  end(): void {
    for (const call of this.calls) if (call.isOpen) this.close(call);
    for (const part of [...this.waitingSignatures.values()].flat()) this.parts.emitWhole(part);
    this.waitingSignatures.clear();
  }

  private start(id: string, out: ToolCallOut): void {
    this.openText.close();
    this.closeComplete();
    const tool = out.type ?? "function";
    const at = this.parts.open({ kind: "tool-call", id, name: nameOf(out), tool, arguments: "" });
    const call: OpenCall = { at, tool, id, text: "", isOpen: true, checkedChars: 0 };
    this.calls.push(call);
    this.openCalls.set(id, call);
    for (const { encrypted } of this.waitingSignatures.get(id) ?? []) this.sign(call, encrypted as string);
    this.waitingSignatures.delete(id);
  }

  /** Vendors may interleave calls, so only a call with complete arguments has certainly ended. */
  private closeComplete(): void {
    for (const call of this.unchecked) {
      call.checkedChars = call.text.length;
      if (isWholeObject(call.text)) this.close(call);
    }
    this.unchecked.clear();
  }

  private append(call: OpenCall, text: string): void {
    call.text += text;
    // Checked again only after its text has doubled, so that all checks together are linear in its length.
    if (call.tool === "function" && call.text.length > 2 * call.checkedChars) this.unchecked.add(call);
    this.parts.append(call.at, { kind: "arguments", text });
  }

  private sign(call: OpenCall, value: string): void {
    this.parts.append(call.at, { kind: "part-signature", value, origin: REASONING_ORIGINS.gemini });
  }

  private close(call: OpenCall): void {
    call.isOpen = false;
    this.unchecked.delete(call);
    if (this.openCalls.get(call.id) === call) this.openCalls.delete(call.id);
    this.parts.close(call.at);
  }
}
