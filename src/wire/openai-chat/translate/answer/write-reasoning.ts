import type { Fields } from "../../../../base/json/fields.ts";
import type { PartDelta } from "../../../canonical/model/answer.ts";
import type { ReasoningPart } from "../../../canonical/model/parts.ts";
import { encodeReasoning, SUMMARY_BREAK } from "../../reasoning.ts";
import { encodeDetails } from "../parts/reasoning-details.ts";
import { encodeSignatureDetail, type SignedPart } from "../parts/signatures.ts";
import type { ChatPartWriter } from "./part-writer.ts";

/** Numbers the `reasoning_details` of one choice, and records the latest one. */
export class ReasoningDetails {
  /** The number of details so far, which is the index of the next one. */
  count = 0;
  /** Whether the latest reasoning was a summary; null before there was any. */
  private latestIsSummary: boolean | null = null;

  /** Encodes a part as details. */
  encode(part: ReasoningPart): Fields[] {
    const details = encodeDetails(part, this.count);
    this.count += details.length;
    return details;
  }

  /** Encodes the thought signature of a text or call as a detail; null if there is none for this format. */
  encodeSignature(part: SignedPart): Fields | null {
    const detail = encodeSignatureDetail(part, this.count);
    if (detail !== null) this.count++;
    return detail;
  }

  /** Returns the separator before reasoning in the joined text: a break where a further part of a summary begins. */
  separate({ isSummary }: ReasoningPart, begins: boolean): string {
    const isFurther = begins && isSummary && this.latestIsSummary === true;
    this.latestIsSummary = isSummary;
    return isFurther ? SUMMARY_BREAK : "";
  }
}

export class ReasoningWriter implements ChatPartWriter {
  readonly isText = false;
  /** The part as it started, without its text. */
  private readonly head: ReasoningPart;
  /** Its index among the details; null until something of it was sent. */
  private index: number | null = null;
  /** The signature so far. It is sent whole, because clients keep only the last piece. */
  private signature: string;

  constructor(
    private readonly part: ReasoningPart,
    private readonly details: ReasoningDetails,
  ) {
    const { extras: _, ...bare } = part;
    this.head = { ...bare, text: "", encrypted: null };
    this.signature = part.signature ?? "";
  }

  start(): Fields | null {
    const { details, part } = this;
    const { text, encrypted } = part;
    if (encrypted === null) return text === "" ? null : this.encodeText(text);
    if (text !== "") this.index = details.count;
    const encoded = details.encode({ ...this.head, signature: null, text, encrypted });
    const reasoning = text === "" ? null : details.separate(part, true) + text;
    return encodeReasoning({ content: null, reasoning, details: encoded });
  }

  append(delta: PartDelta): Fields | null {
    switch (delta.kind) {
      case "text":
        return delta.text === "" ? null : this.encodeText(delta.text);
      case "signature":
        this.signature += delta.value;
        return null;
      case "encrypted": {
        const encrypted = { ...this.head, signature: null, encrypted: delta.value };
        return { reasoning_details: this.details.encode(encrypted) };
      }
      default:
        return null;
    }
  }

  end(): Fields | null {
    if (this.signature === "") return null;
    this.index ??= this.details.count++;
    return { reasoning_details: encodeDetails({ ...this.head, signature: this.signature }, this.index) };
  }

  private encodeText(text: string): Fields {
    const lead = this.details.separate(this.head, this.index === null);
    this.index ??= this.details.count++;
    const details = encodeDetails({ ...this.head, text, signature: null }, this.index);
    return encodeReasoning({ content: null, reasoning: lead + text, details });
  }
}
