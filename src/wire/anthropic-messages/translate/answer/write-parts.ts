import type { Fields } from "../../../../base/json/fields.ts";
import { growPart } from "../../../canonical/answer/collect-answer.ts";
import type { PartDelta } from "../../../canonical/model/answer.ts";
import type {
  Part,
  ReasoningPart,
  RefusalPart,
  Signature,
  TextPart,
  ToolCallPart,
} from "../../../canonical/model/parts.ts";
import { wrapReasoning } from "../../../canonical/model/reasoning-envelope.ts";
import { encodeCitation } from "../parts/citations.ts";
import { encodeText } from "../parts/encode-part.ts";
import { isOwn, keptFields } from "../parts/extras.ts";
import { isFromAnthropic, isSignedOrEncrypted } from "../parts/reasoning-parts.ts";
import { wrapText } from "../parts/tool-input.ts";
import { encodeWholePart, signatureBlock } from "./encode-response.ts";
import type { BlockWriter } from "./write-blocks.ts";

/** Returns the writer of a part. */
export function createPartWriter(blocks: BlockWriter, part: Part): MessagesPartWriter {
  switch (part.kind) {
    case "text":
    case "refusal":
      return new TextWriter(blocks, part);
    case "reasoning":
      return new ReasoningWriter(blocks, part);
    case "tool-call":
      return new CallWriter(blocks, part);
    default:
      return new WholePartWriter(blocks, part);
  }
}

/** Writes the blocks of a part. Each method returns what to send. */
export abstract class MessagesPartWriter {
  /** Whether the part can be split into several blocks, so that no other part has to wait for its end. */
  readonly canYield: boolean = false;
  /** Whether one of its blocks is open. */
  protected isOpen = false;
  /** A signature that came after the start. */
  protected lateSignature: Signature | null = null;

  constructor(protected readonly blocks: BlockWriter) {}

  abstract start(): string;
  abstract append(delta: PartDelta): string;
  abstract end(): string;

  /** Closes the open block for now; the part continues in a further block. */
  suspend(): string {
    return this.close();
  }

  /** Returns whether the end of the part still has something to send after it has yielded. */
  hasPendingEnd(): boolean {
    return this.lateSignature !== null;
  }

  protected open(block: Fields): string {
    this.isOpen = true;
    return this.blocks.open(block);
  }

  protected close(): string {
    if (!this.isOpen) return "";
    this.isOpen = false;
    return this.blocks.close();
  }

  protected keepSignature(delta: PartDelta): string {
    if (delta.kind === "part-signature") this.lateSignature = { value: delta.value, origin: delta.origin };
    return "";
  }
}

class TextWriter extends MessagesPartWriter {
  override readonly canYield = true;
  /** The number of its last block among the text blocks; 0 before it has one. */
  private latest = 0;

  constructor(
    blocks: BlockWriter,
    private readonly part: TextPart | RefusalPart,
  ) {
    super(blocks);
  }

  /**
   * A text that was a block of this format, or has a signature, opens its block at once, even if it stays empty; others open theirs
   * with the first text.
   */
  start(): string {
    const { blocks, part } = this;
    if (part.kind === "refusal") return this.appendText(part.text);
    const signature = blocks.writeAll(signatureBlock(part.signature, { kind: "text" }));
    const opensAtOnce = isOwn(part) || part.signature !== undefined;
    const start = opensAtOnce ? this.open(this.emptyBlock()) : "";
    const text = this.appendText(part.text);
    const cited = (part.citations ?? []).map((citation) => this.append({ kind: "citation", citation }));
    return signature + start + text + cited.join("");
  }

  append(delta: PartDelta): string {
    if (delta.kind === "text") return this.appendText(delta.text);
    if (delta.kind !== "citation") return this.keepSignature(delta);
    if (this.part.kind === "refusal") return "";
    const start = this.isOpen ? "" : this.open(this.emptyBlock());
    return start + this.blocks.append({ type: "citations_delta", citation: encodeCitation(delta.citation) });
  }

  /**
   * Sends a late signature before the next block, so that the text stays the last block if none follows. The signature refers to the text
   * before it, and cannot be sent if another text follows.
   */
  end(): string {
    const { blocks, lateSignature } = this;
    if (lateSignature === null) return this.close();
    if (this.latest === 0 || this.latest !== blocks.texts) blocks.drop();
    else blocks.writeBeforeNext(signatureBlock(lateSignature, { kind: "text-before" }));
    return this.close();
  }

  protected override open(block: Fields): string {
    const start = super.open(block);
    this.latest = this.blocks.texts;
    return start;
  }

  private appendText(text: string): string {
    if (text === "") return "";
    const start = this.isOpen ? "" : this.open(this.emptyBlock());
    return start + this.blocks.append({ type: "text_delta", text });
  }

  private emptyBlock(): Fields {
    const { part } = this;
    return part.kind === "text" ? { ...encodeText(part, undefined), text: "" } : { type: "text", text: "" };
  }
}

class ReasoningWriter extends MessagesPartWriter {
  override readonly canYield = true;
  /** Whether a block of the part was sent. */
  private wasOpened = false;

  constructor(
    blocks: BlockWriter,
    /** The part so far, without texts and signatures that were sent. */
    private part: ReasoningPart,
  ) {
    super(blocks);
  }

  start(): string {
    const { text } = this.part;
    this.part = { ...this.part, text: "" };
    return this.appendText(text);
  }

  append(delta: PartDelta): string {
    if (delta.kind === "text") return this.appendText(delta.text);
    this.part = growPart(this.part, delta) as ReasoningPart;
    return this.keepSignature(delta);
  }

  override suspend(): string {
    const signature = this.isOpen ? this.sendSignature() : "";
    return signature + this.close();
  }

  override hasPendingEnd(): boolean {
    return super.hasPendingEnd() || isSignedOrEncrypted(this.part);
  }

  /** Ends the part. The data that the part's vendor needs back is now complete; the rest of it is sent in a separate block. */
  end(): string {
    const { part } = this;
    if (this.isOpen) {
      const isSeparate = isFromAnthropic(part) && part.encrypted !== null;
      const signature = this.sendSignature() + this.close();
      return isSeparate ? signature + this.sendRedacted(part.encrypted ?? "") : signature;
    }
    if (isFromAnthropic(part) && part.encrypted === null) {
      const isEmpty = this.wasOpened || (part.signature === null && !isOwn(part));
      return isEmpty ? "" : this.openThinking() + this.sendSignature() + this.close();
    }
    if (!isSignedOrEncrypted(part)) return "";
    return this.sendRedacted(isFromAnthropic(part) ? (part.encrypted ?? "") : wrapReasoning(part));
  }

  private appendText(text: string): string {
    if (text === "") return "";
    const start = this.isOpen ? "" : this.openThinking();
    return start + this.blocks.append({ type: "thinking_delta", thinking: text });
  }

  private openThinking(): string {
    this.wasOpened = true;
    return this.open({ type: "thinking", thinking: "", signature: "", ...keptFields(this.part) });
  }

  /** Sends the signature in one delta, because clients keep only the last one. */
  private sendSignature(): string {
    const { part } = this;
    const signature = isFromAnthropic(part) ? part.signature : wrapReasoning(part);
    if (isFromAnthropic(part) || isSignedOrEncrypted(part))
      this.part = { ...part, signature: null, encrypted: null };
    return signature === null ? "" : this.blocks.append({ type: "signature_delta", signature });
  }

  private sendRedacted(data: string): string {
    return this.blocks.writeAll([{ type: "redacted_thinking", data, ...keptFields(this.part) }]);
  }
}

class CallWriter extends MessagesPartWriter {
  /** The input of a tool that takes free text, which is sent as a whole. */
  private freeText: string;

  constructor(
    blocks: BlockWriter,
    private readonly part: ToolCallPart,
  ) {
    super(blocks);
    this.freeText = part.arguments;
  }

  start(): string {
    const { blocks, part } = this;
    const { id, name } = part;
    const block = { type: "tool_use", id, name, input: {}, ...keptFields(part) };
    const start = blocks.writeAll(signatureBlock(part.signature, { kind: "call", id })) + this.open(block);
    return part.tool === "custom" ? start : start + this.appendJson(part.arguments);
  }

  append(delta: PartDelta): string {
    if (delta.kind !== "arguments") return this.keepSignature(delta);
    if (this.part.tool === "function") return this.appendJson(delta.text);
    this.freeText += delta.text;
    return "";
  }

  end(): string {
    const { blocks, lateSignature, part } = this;
    const input = part.tool === "custom" ? this.appendJson(JSON.stringify(wrapText(this.freeText))) : "";
    const end = input + this.close();
    if (lateSignature === null) return end;
    return end + blocks.writeAll(signatureBlock(lateSignature, { kind: "call", id: part.id }));
  }

  private appendJson(json: string): string {
    return json === "" ? "" : this.blocks.append({ type: "input_json_delta", partial_json: json });
  }
}

/** Writes a part that comes whole, such as an image or a block of this format. */
class WholePartWriter extends MessagesPartWriter {
  constructor(
    blocks: BlockWriter,
    private readonly part: Part,
  ) {
    super(blocks);
  }

  start(): string {
    return this.blocks.writeAll(encodeWholePart(this.part));
  }

  append(delta: PartDelta): string {
    return this.keepSignature(delta);
  }

  end(): string {
    return "";
  }
}
