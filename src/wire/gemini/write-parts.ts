import type { Fields } from "../../base/json/fields.ts";
import { type AnswerEmitter, PartEmitter } from "../canonical/answer/answer-emitter.ts";
import type { PartDelta } from "../canonical/model/answer.ts";
import { type Citation, type Part, REASONING_ORIGINS, type Signature } from "../canonical/model/parts.ts";
import { decodeFunctionName } from "./function-name.ts";
import { createPartialArguments, type PartialArguments } from "./partial-arguments.ts";

interface OpenPart {
  readonly at: number;
  readonly kind: "text" | "reasoning" | "tool-call";
  isSigned: boolean;
  readonly args: PartialArguments | null;
}

const ORIGIN = REASONING_ORIGINS.gemini;

/** Emits the parts of one candidate. Pieces of text that follow each other become one part. */
export class GeminiPartWriter {
  hasCalls = false;
  private readonly parts: PartEmitter;
  private open: OpenPart | null = null;

  constructor(emitter: AnswerEmitter, choice: number) {
    this.parts = new PartEmitter(emitter, choice);
  }

  /** Whether any part has begun. */
  get hasParts(): boolean {
    return this.parts.hasParts;
  }

  addText(text: string, kind: "text" | "reasoning", signature: string | null): void {
    if (text === "" && signature === null) return;
    const part = this.openText(kind, signature);
    this.parts.append(part.at, { kind: "text", text });
    if (signature === null || part.isSigned) return;
    part.isSigned = true;
    this.parts.append(
      part.at,
      kind === "text" ? createSignatureDelta(signature) : { kind: "signature", value: signature },
    );
  }

  addCall(call: Fields, signature: string | null): void {
    const part = this.openCall(call, signature);
    if (part === null || part.args === null) return;
    if (signature !== null && !part.isSigned) this.parts.append(part.at, createSignatureDelta(signature));
    part.args.addCall(call);
    if (call["willContinue"] !== true) this.close();
  }

  /** Adds a part that comes whole. */
  addWhole(part: Part): void {
    this.close();
    this.parts.emitWhole(part);
  }

  /** Adds citations to the open text, or to an empty one. */
  addCitations(citations: readonly Citation[]): void {
    if (citations.length === 0) return;
    const { at } = this.open?.kind === "text" ? this.open : this.openText("text", null);
    for (const citation of citations) this.parts.append(at, { kind: "citation", citation });
  }

  /** Ends the open part. */
  close(): void {
    if (this.open === null) return;
    const { at, args } = this.open;
    if (args !== null) this.parts.append(at, { kind: "arguments", text: args.toJson() });
    this.parts.close(at);
    this.open = null;
  }

  /** Returns the open text of this kind, or a new one: nothing is appended to a text that has its signature. */
  private openText(kind: "text" | "reasoning", signature: string | null): OpenPart {
    if (this.open?.kind === kind && !this.open.isSigned) return this.open;
    const isSigned = kind === "text" && signature !== null;
    this.open = { at: this.start(emptyText(kind, signature)), kind, isSigned, args: null };
    return this.open;
  }

  /** A call comes whole, or begins with its name and continues in parts without one. */
  private openCall(call: Fields, signature: string | null): OpenPart | null {
    if (typeof call["name"] !== "string" || call["name"] === "") return this.open;
    this.hasCalls = true;
    const at = this.start(emptyCall(call["name"], call["id"], signature));
    this.open = { at, kind: "tool-call", isSigned: signature !== null, args: createPartialArguments() };
    return this.open;
  }

  private start(part: Part): number {
    this.close();
    return this.parts.open(part);
  }
}

/** Returns an empty text with its signature if that is known: some formats have a place for it only before the text. */
function emptyText(kind: "text" | "reasoning", signature: string | null): Part {
  if (kind === "text") return { kind, text: "", ...sign(signature) };
  return { kind, text: "", isSummary: true, signature: null, encrypted: null, id: null, origin: ORIGIN };
}

function emptyCall(name: string, id: unknown, signature: string | null): Part {
  return {
    kind: "tool-call",
    // Gemini 2 sends no ids; the gateway assigns one later.
    id: typeof id === "string" ? id : "",
    ...decodeFunctionName(name),
    tool: "function",
    arguments: "",
    ...sign(signature),
  };
}

function sign(signature: string | null): { readonly signature?: Signature } {
  return signature === null ? {} : { signature: { value: signature, origin: ORIGIN } };
}

function createSignatureDelta(value: string): PartDelta {
  return { kind: "part-signature", value, origin: ORIGIN };
}
