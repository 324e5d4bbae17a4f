import { isDeepStrictEqual } from "node:util";
import { assignFields, asText, type Fields, omit, setField } from "../../../../base/json/fields.ts";
import { BOUNDS } from "../../../../base/numbers/bounds.ts";
import { AnswerEmitter } from "../../../canonical/answer/answer-emitter.ts";
import { type EventHandler, EventReader } from "../../../canonical/answer/event-reader.ts";
import type { AnswerReader } from "../../../canonical/model/format.ts";
import { failedFinish, TOO_MANY_CHOICES } from "../../../conversation/errors/broken-answers.ts";
import { findEventError } from "../../../conversation/errors/vendor-error.ts";
import type { ServedModes } from "../../../conversation/usage.ts";
import { isFailedFinish } from "../../finish-reason.ts";
import { OWN_ANSWER_FIELDS } from "../../own-fields.ts";
import { type ChunkChoice, readChunk } from "../../read-chunk.ts";
import { decodeListed } from "../parts/citations.ts";
import { ChoiceReader } from "./read-choice.ts";

/**
 * Returns a reader of a vendor's stream that is as lenient as the passthrough relay: indexes and ids may be missing, calls may
 * come twice, and usage may come anywhere. A choice finishes at the end of the stream, because text may follow its finish reason.
 */
export function createReader(): AnswerReader {
  const emitter = new AnswerEmitter();
  return new EventReader(emitter, new ChunkHandler(emitter));
}

/** Returns a reader of a vendor's stream whose events `convert` turns into chunks of this format. */
export function createConvertingReader(convert: (event: Fields) => Fields): AnswerReader {
  const emitter = new AnswerEmitter();
  const handler = new ChunkHandler(emitter);
  return new EventReader(emitter, {
    readEvent: (event, name) => handler.readEvent(convert(event), name),
    readDone: () => handler.readDone(),
    readEnd: () => handler.readEnd(),
    isWhole: () => handler.isWhole(),
  });
}

/** `service_tier` has an event of its own; `obfuscation` is padding. */
const OTHER_FIELDS: ReadonlySet<string> = new Set([...OWN_ANSWER_FIELDS, "service_tier", "obfuscation"]);

class ChunkHandler implements EventHandler {
  private readonly choices = new Map<number, ChoiceReader>();
  /** Fields of the answer as a whole, with their latest values. */
  private readonly answerFields: Record<string, unknown> = {};
  private tier: string | null = null;
  private hasUsage = false;
  private modes: ServedModes | undefined;

  constructor(private readonly emitter: AnswerEmitter) {}

  readEvent(raw: Fields, name: string): void {
    const error = findEventError(raw, name);
    if (error !== null) {
      this.emitter.fail(error);
      return;
    }
    this.readAnswerFields(raw);
    const { choices, usage, modes } = readChunk(raw, this.modes);
    this.modes = modes;
    if (usage !== null) {
      this.hasUsage = true;
      this.emitter.emit({ kind: "usage", usage });
    }
    for (const choice of choices) this.readChoice(choice);
  }

  readDone(): void {
    // Usage and an end marker make an answer complete even if the vendor gives no finish reason.
    this.close(this.hasUsage);
  }

  readEnd(): void {
    this.close(false);
  }

  isWhole(): boolean {
    return this.choices.size > 0 && this.choices.values().every((choice) => choice.hasFinish);
  }

  private readChoice(choice: ChunkChoice): void {
    if (this.emitter.error !== null) return;
    const reader = this.choiceAt(choice.index);
    if (reader === null) {
      this.emitter.fail(TOO_MANY_CHOICES);
      return;
    }
    const { finish } = choice;
    const hasFailed = finish !== null && isFailedFinish(finish);
    reader.step(hasFailed ? { ...choice, finish: null } : choice);
    if (hasFailed) this.emitter.fail(failedFinish(finish));
  }

  /** Returns the reader of the choice, a new one where it begins; null above the bound. */
  private choiceAt(index: number): ChoiceReader | null {
    const known = this.choices.get(index);
    if (known !== undefined) return known;
    if (this.choices.size >= BOUNDS.choices) return null;
    const reader = new ChoiceReader(this.emitter, index);
    this.choices.set(index, reader);
    return reader;
  }

  /** Emits the fields of the answer as a whole, if they are new. */
  private readAnswerFields(chunk: Fields): void {
    const tier = asText(chunk["service_tier"]);
    if (tier !== null && tier !== this.tier) {
      this.tier = tier;
      this.emitter.emit({ kind: "service-tier", tier });
    }
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(omit(chunk, OTHER_FIELDS))) {
      if (value !== null && !isDeepStrictEqual(value, this.answerFields[name])) setField(fields, name, value);
    }
    if (Object.keys(fields).length === 0) return;
    assignFields(this.answerFields, fields);
    this.emitter.emit({ kind: "extras", extras: { format: "openai-chat", fields } });
  }

  /** Ends the choices that have finished, or all of them. The first choice cites the pages that the whole answer lists. */
  private close(isWhole: boolean): void {
    const listed = decodeListed(this.answerFields);
    for (const [index, choice] of this.choices) choice.close(isWhole, index === 0 ? listed : []);
  }
}
