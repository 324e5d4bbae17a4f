import { type AnswerEmitter, PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import type { Citation, Part } from "../../../canonical/model/parts.ts";
import { asFields, asObjects, asText, type Fields, omit, setField } from "../../../json/fields.ts";
import { OWN_CHOICE_FIELDS, OWN_MESSAGE_FIELDS } from "../../own-fields.ts";
import { readDeltaText } from "../../reasoning.ts";
import { listCalls } from "../../tool-calls.ts";
import { decodeCitation } from "../parts/citations.ts";
import { decodePart, keepNative } from "../parts/decode-part.ts";
import { decodeExtraContent, readExtraContent } from "../parts/signatures.ts";
import { decodeFinish, keepChoice } from "./decode-response.ts";
import { OpenText, startText } from "./open-text.ts";
import { CallReader } from "./read-calls.ts";
import { ReasoningReader } from "./read-reasoning.ts";

const OTHER_CHOICE_FIELDS: ReadonlySet<string> = new Set([...OWN_CHOICE_FIELDS, "logprobs"]);
const OTHER_DELTA_FIELDS: ReadonlySet<string> = new Set([
  ...OWN_MESSAGE_FIELDS,
  "refusal",
  "annotations",
  "audio",
  "images",
]);
const SIGNED_DELTA_FIELDS = new Set(OTHER_DELTA_FIELDS).add("extra_content");

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
  step(choice: Fields): void {
    const delta = asFields(choice["delta"]) ?? asFields(choice["message"]) ?? {};
    const logprobs = choice["logprobs"] ?? null;
    if (logprobs !== null) this.emitter.emit({ kind: "logprobs", choice: this.index, value: logprobs });
    const text = readDeltaText(delta);
    this.reasoning.readDelta(text);
    this.readTexts(text.content, delta);
    this.calls.readPieces(listCalls(delta));
    this.readWhole(delta);
    keep(this.choiceFields, omit(choice, OTHER_CHOICE_FIELDS));
    const isSigned = readExtraContent(delta["extra_content"]) !== null;
    keep(this.messageFields, omit(delta, isSigned ? SIGNED_DELTA_FIELDS : OTHER_DELTA_FIELDS));
    // A second finish is dropped, because clients ran tools twice on it.
    this.finish ??= asText(choice["finish_reason"]);
  }

  /**
   * Ends all open parts and finishes the choice, if the finish reason has come or `isWhole` says that the answer is complete.
   * The pages in `listed` are cited unless the choice has citations of its own.
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

  private readTexts(content: string | null, delta: Fields): void {
    if (content) this.appendText("text", content, startText);
    const { signature } = decodeExtraContent(delta["extra_content"]);
    if (signature !== undefined) {
      this.parts.append(this.openText.open("text", startText), { kind: "part-signature", ...signature });
    }
    const refusal = asText(delta["refusal"]);
    if (refusal) this.appendText("refusal", refusal, () => ({ kind: "refusal", text: "" }));
  }

  private appendText(key: string, text: string, begin: () => Part): void {
    this.parts.append(this.openText.open(key, begin), { kind: "text", text });
  }

  /** Reads what comes in one piece: citations, images and pieces of spoken answers. */
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
