import type { Answer, AnswerChoice } from "../../../wire/canonical/model/answer.ts";
import { mapSame } from "../../../wire/canonical/model/map-same.ts";
import type { Part } from "../../../wire/canonical/model/parts.ts";
import { type BodyTexts, readDataTexts } from "../../../wire/client-apis/texts/body-texts.ts";

/** The texts of one part: the strings of arguments that are JSON, otherwise the text of the part. */
interface PartTexts {
  readonly texts: readonly string[];
  readonly data: BodyTexts | null;
}

/** The texts of a whole answer, which can be replaced. */
export class AnswerTexts {
  /** In the order of the answer. */
  readonly texts: readonly string[];
  private readonly parts: ReadonlyMap<Part, PartTexts>;

  constructor(private readonly answer: Answer) {
    const parts = new Map<Part, PartTexts>();
    for (const choice of answer.choices) for (const part of choice.parts) parts.set(part, readPart(part));
    this.parts = parts;
    this.texts = [...parts.values()].flatMap(({ texts }) => texts);
  }

  /** Returns the answer in which the texts at these indexes are replaced. Log probabilities are left out, because they repeat them. */
  replace(replacements: ReadonlyMap<number, string>): Answer {
    const changed = new Map<Part, Part>();
    let index = 0;
    for (const [part, { texts, data }] of this.parts) {
      const ofPart = new Map<number, string>();
      for (const at of texts.keys()) {
        const text = replacements.get(index + at);
        if (text !== undefined) ofPart.set(at, text);
      }
      index += texts.length;
      if (ofPart.size > 0) changed.set(part, replacePart(part, data, ofPart));
    }
    const replaceChoice = (choice: AnswerChoice): AnswerChoice => ({
      ...choice,
      parts: mapSame(choice.parts, (part) => changed.get(part) ?? part),
      logprobs: null,
    });
    return { ...this.answer, choices: this.answer.choices.map(replaceChoice) };
  }
}

function readPart(part: Part): PartTexts {
  if (part.kind === "tool-call") {
    const data = part.tool === "function" ? readDataTexts(part.arguments) : null;
    return { texts: data?.texts ?? nonEmpty(part.arguments), data };
  }
  const isText = part.kind === "text" || part.kind === "refusal" || part.kind === "reasoning";
  return { texts: isText ? nonEmpty(part.text) : [], data: null };
}

function nonEmpty(text: string): readonly string[] {
  return text === "" ? [] : [text];
}

function replacePart(part: Part, data: BodyTexts | null, replacements: ReadonlyMap<number, string>): Part {
  const text = data === null ? (replacements.get(0) as string) : data.replace(replacements).toString("utf8");
  return part.kind === "tool-call" ? { ...part, arguments: text } : ({ ...part, text } as Part);
}
