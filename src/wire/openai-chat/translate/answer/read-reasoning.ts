import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import { plainReasoning, REASONING_ORIGINS, type ReasoningPart } from "../../../canonical/model/parts.ts";
import type { DeltaText } from "../../reasoning.ts";
import { decodeDetail } from "../parts/reasoning-details.ts";
import type { OpenText } from "./open-text.ts";
import type { CallReader } from "./read-calls.ts";

const REASONING = "reasoning";

/** Reads the reasoning of one choice: the text, and the details. */
export class ReasoningReader {
  constructor(
    private readonly parts: PartEmitter,
    private readonly openText: OpenText,
    private readonly calls: CallReader,
  ) {}

  /** Reads the reasoning of a delta. */
  readDelta({ reasoning, details }: DeltaText): void {
    const read = (details ?? []).map(asFields).filter((detail) => detail !== null);
    const parts = read.map((raw) => ({ raw, part: decodeDetail(raw) }));
    // The reasoning text repeats that of the details, unless no detail has a text.
    if (reasoning !== null && parts.every(({ part }) => part.text === "")) {
      const at = this.openText.open(REASONING, () => plainReasoning(""));
      this.parts.append(at, { kind: "text", text: reasoning });
    }
    for (const { raw, part } of parts) this.readDetail(raw, part);
  }

  private readDetail(raw: Fields, { extras: _, ...part }: ReasoningPart): void {
    if (part.encrypted !== null) {
      this.readEncrypted(part);
      return;
    }
    const { text, signature } = part;
    if (text === "" && signature === null) return;
    const at = this.openText.open(this.keyOf(raw, part), () => ({ ...part, text: "", signature: null }));
    this.parts.append(at, { kind: "text", text });
    if (signature !== null) this.parts.append(at, { kind: "signature", value: signature });
  }

  /** Returns the key that all pieces of one detail share. The signature of a text in `reasoning` comes as a detail. */
  private keyOf(raw: Fields, { text }: ReasoningPart): string {
    const { key } = this.openText;
    if (text === "" && key?.startsWith(REASONING)) return key;
    return `${REASONING} ${raw["type"]} ${raw["index"] ?? ""}`;
  }

  /** Reads an encrypted detail: Gemini's with an id signs a call, any other is a part. */
  private readEncrypted(part: ReasoningPart): void {
    if (part.origin === REASONING_ORIGINS.gemini && part.id !== null) {
      this.calls.readSignature(part.id, part);
      return;
    }
    this.openText.close();
    this.parts.emitWhole(part);
  }
}
