import { asFields, asObjects, type Fields, omit, setField } from "../../../../base/json/fields.ts";
import { type AnswerEmitter, PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import type { Citation, Part } from "../../../canonical/model/parts.ts";
import type { ChunkChoice, ChunkDelta } from "../../read-chunk.ts";
import { decodeCitation } from "../parts/citations.ts";
import { decodePart, keepNative } from "../parts/decode-part.ts";
import { decodeExtraContent, readExtraContent } from "../parts/signatures.ts";
import { decodeFinish, keepChoice } from "./decode-response.ts";
import { OpenText, startText } from "./open-text.ts";
import { CallReader } from "./read-calls.ts";
import { ReasoningReader } from "./read-reasoning.ts";

/** Fields of a delta that become parts. */
const PART_FIELDS: ReadonlySet<string> = new Set(["annotations", "audio", "images"]);
const SIGNED_PART_FIELDS = new Set(PART_FIELDS).add("extra_content");

/** Reads the deltas of one choice and emits its parts. */
export class ChoiceReader {
  private readonly parts: PartEmitter;
  private readonly openText: OpenText;
  private readonly calls: CallReader;
  private readonly reasoning: ReasoningReader;
  private hasCited = false;
  private finish: string | null = null;
  /** Unknown fields of the choice and of its message. */
  private readonly choiceFields: Record<string, unknown> = {};
  private readonly messageFields: Record<string, unknown> = {};

  constructor(
    private readonly emitter: AnswerEmitter,
    private readonly index: number,
  ) {
    this.parts = new PartEmitter(emitter, index);
    this.openText = new OpenText(this.parts);
    this.calls = new CallReader(this.parts, this.openText);
    this.reasoning = new ReasoningReader(this.parts, this.openText, this.calls);
  }

  /** Whether the vendor has given a finish reason. */
  get hasFinish(): boolean {
    return this.finish !== null;
  }

  /** Reads a choice of a chunk. */
  step({ delta, finish, others: { logprobs = null, ...others } }: ChunkChoice): void {
    if (logprobs !== null) this.emitter.emit({ kind: "logprobs", choice: this.index, value: logprobs });
    this.reasoning.readDelta(delta);
    this.readTexts(delta);
    this.calls.readPieces(delta.calls);
    this.readWhole(delta.others);
    keep(this.choiceFields, others);
    const isSigned = readExtraContent(delta.others["extra_content"]) !== null;
    keep(this.messageFields, omit(delta.others, isSigned ? SIGNED_PART_FIELDS : PART_FIELDS));
    // A second finish is dropped, because clients ran tools twice on it.
    this.finish ??= finish;
  }

  /**
   * Ends all open parts, and finishes the choice if its finish reason has arrived or the answer is complete (`isWhole`). The pages in
   * `listed` are cited unless the choice has citations.
   */
  close(isWhole: boolean, listed: readonly Citation[]): void {
    if (isWhole) this.finish ??= "stop";
    if (this.finish === null) return;
    if (!this.hasCited) for (const citation of listed) this.cite(citation);
    this.openText.close();
    this.calls.end();
    const finish = decodeFinish(this.finish, this.choiceFields);
    const extras = keepChoice(this.choiceFields, this.messageFields);
    this.emitter.emit({ kind: "finish", choice: this.index, finish, ...extras });
  }

  private readTexts({ content, refusal, others }: ChunkDelta): void {
    if (content) this.appendText("text", content, startText);
    const { signature } = decodeExtraContent(others["extra_content"]);
    if (signature !== undefined) {
      this.parts.append(this.openText.open("text", startText), { kind: "part-signature", ...signature });
    }
    if (refusal !== "") this.appendText("refusal", refusal, () => ({ kind: "refusal", text: "" }));
  }

  private appendText(key: string, text: string, begin: () => Part): void {
    this.parts.append(this.openText.open(key, begin), { kind: "text", text });
  }

  /** Reads content that arrives in one piece: citations, images and pieces of spoken answers. */
  private readWhole(delta: Fields): void {
    for (const raw of asObjects(delta["annotations"])) {
      const citation = decodeCitation(raw);
      if (citation === null) keep(this.messageFields, { annotations: [raw] });
      else this.cite(citation);
    }
    const audio = asFields(delta["audio"]);
    const whole = [
      ...asObjects(delta["images"]).map(decodePart),
      ...(audio === null ? [] : [keepNative(audio, "audio", { place: "audio" })]),
    ];
    for (const part of whole) {
      this.openText.close();
      this.parts.emitWhole(part);
    }
  }

  private cite(citation: Citation): void {
    this.hasCited = true;
    this.parts.append(this.openText.open("text", startText), { kind: "citation", citation });
  }
}

/** Keeps unknown fields. Lists are concatenated, other values are replaced. */
function keep(kept: Record<string, unknown>, fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    const before = kept[name];
    if (value === null) continue;
    if (!Array.isArray(value)) setField(kept, name, value);
    // Copied, because it will grow.
    else if (!Array.isArray(before)) setField(kept, name, [...value]);
    else for (const one of value) before.push(one);
  }
}
