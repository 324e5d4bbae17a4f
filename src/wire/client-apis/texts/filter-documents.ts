import { tryParseFields } from "../../../base/json/fields.ts";
import { collectAnswer } from "../../canonical/answer/collect-answer.ts";
import { type AnswerFilter, filterEvents } from "../../canonical/answer/filter-answer.ts";
import type { AnswerEvent } from "../../canonical/model/answer.ts";
import { type BodyTexts, readAnswerTexts } from "./body-texts.ts";

/** A filter, and the pause between parts of a long text. */
export interface Filtering {
  readonly filter: AnswerFilter;
  readonly pause: () => Promise<void>;
}

/** A text, and where its filtered form goes. */
interface Place {
  readonly text: string;
  /** It continues the texts of earlier documents, as the pieces of a stream do. */
  readonly continues: boolean;
  readonly replace: (text: string) => void;
}

/**
 * Filters the texts of JSON documents that are forwarded: of an answer, or of the events of one. Each text is filtered alone, but the
 * `delta` of events is one text. Resolves to the documents themselves if the filter blocks.
 */
export async function filterDocuments(
  documents: readonly Buffer[],
  filtering: Filtering,
): Promise<readonly Buffer[]> {
  const read = documents.map((document) => ({ document, body: readAnswerTexts(document) }));
  const changed = read.map(() => new Map<number, string>());
  const places = read.flatMap(({ document, body }, at) => listPlaces(document, body, changed[at]!));
  await filterPlaces(places, filtering);
  return read.map(({ document, body }, at) =>
    changed[at]!.size === 0 ? document : body.replace(changed[at]!),
  );
}

/** Filters a text that is an answer by itself. */
export async function filterPlainText(text: string, filtering: Filtering): Promise<string> {
  let result = text;
  const replace = (changed: string): void => {
    result = changed;
  };
  await filterPlaces([{ text, continues: false, replace }], filtering);
  return result;
}

function listPlaces(document: Buffer, { texts }: BodyTexts, changed: Map<number, string>): Place[] {
  const delta = tryParseFields(document.toString("utf8"))?.["delta"];
  return texts.map((text, index) => ({
    text,
    continues: text === delta,
    replace: (other) => changed.set(index, other),
  }));
}

async function filterPlaces(places: readonly Place[], { filter, pause }: Filtering): Promise<void> {
  let pieces = 0;
  // The pieces of one text are the parts of the first choice. Every other text is a separate choice.
  const addresses = places.map(({ continues }, at) =>
    continues ? { choice: 0, at: pieces++ } : { choice: at + 1, at: 0 },
  );
  const events = places.flatMap(({ text }, index) => eventsOf(text, addresses[index]!));
  const finishes = [...new Set(addresses.map(({ choice }) => choice))].map(finishOf);
  const filtered = await filterEvents([...events, ...finishes], filter, pause);
  if (filter.block !== null) return;
  const choices = new Map(collectAnswer(filtered).choices.map((choice) => [choice.index, choice]));
  for (const [index, { text, replace }] of places.entries()) {
    const { choice, at } = addresses[index]!;
    const part = choices.get(choice)?.parts[at];
    const result = part?.kind === "text" ? part.text : "";
    if (result !== text) replace(result);
  }
}

interface Address {
  readonly choice: number;
  readonly at: number;
}

function eventsOf(text: string, address: Address): AnswerEvent[] {
  return [
    { kind: "part-start", ...address, part: { kind: "text", text: "" } },
    { kind: "part-delta", ...address, delta: { kind: "text", text } },
    { kind: "part-end", ...address },
  ];
}

function finishOf(choice: number): AnswerEvent {
  return { kind: "finish", choice, finish: { reason: "stop", native: "stop", stopSequence: null } };
}
