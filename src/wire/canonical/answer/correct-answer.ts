import type { Answer, AnswerChoice } from "../model/answer.ts";
import type { Part, ToolCallPart } from "../model/parts.ts";
import { copyLogprobs } from "./collect-answer.ts";
import { type CallIds, correctFinish } from "./normalise-answer.ts";

/**
 * Corrects a whole answer. The result equals that of normalising its events and collecting them, but no events are created. Choices are in
 * the order of their indexes, without duplicates.
 */
export function correctAnswer({ choices, usage, serviceTier, extras }: Answer, ids: CallIds): Answer {
  const distinct = choices.length > 1 ? firstOfEachIndex(choices) : choices;
  const corrected = distinct.map((choice) => correctChoice(choice, ids));
  if (corrected.length > 1) corrected.sort((a, b) => a.index - b.index);
  const answer = { choices: corrected, usage, serviceTier };
  if (extras === undefined) return answer;
  return { ...answer, extras: { format: extras.format, fields: extras.fields } };
}

function correctChoice({ index, parts, finish, logprobs, extras }: AnswerChoice, ids: CallIds): AnswerChoice {
  const corrected: Part[] = [];
  const known = new KnownCalls(ids);
  for (const part of parts) {
    if (part.kind !== "tool-call") corrected.push(withoutEmptyCitations(part));
    else if (!known.isRepeated(part)) corrected.push(known.correct(part));
  }
  const choice = {
    index,
    parts: corrected,
    finish: correctFinish(finish, known.count > 0),
    logprobs: copyLogprobs(logprobs),
  };
  return extras === undefined ? choice : { ...choice, extras };
}

function withoutEmptyCitations(part: Part): Part {
  if (part.kind !== "text" || part.citations?.length !== 0) return part;
  const { citations: _, ...rest } = part;
  return rest;
}

function firstOfEachIndex(choices: readonly AnswerChoice[]): readonly AnswerChoice[] {
  const seen = new Set<number>();
  return choices.filter(({ index }) => {
    const isFirst = !seen.has(index);
    seen.add(index);
    return isFirst;
  });
}

/** The calls of a choice so far. */
class KnownCalls {
  count = 0;
  /** Null before the first one: most answers have none. */
  private sent: Set<string> | null = null;

  constructor(private readonly ids: CallIds) {}

  isRepeated({ id }: ToolCallPart): boolean {
    return id !== "" && this.sent?.has(id) === true;
  }

  /** Returns the call with the id that the client knows, and with arguments. */
  correct(call: ToolCallPart): ToolCallPart {
    const { originalIds, makeCallId } = this.ids;
    this.count++;
    if (call.id !== "") {
      this.sent ??= new Set();
      this.sent.add(call.id);
    }
    const id = call.id === "" ? makeCallId() : (originalIds?.get(call.id) ?? call.id);
    const isBare = call.tool === "function" && call.arguments.trim() === "";
    return id === call.id && !isBare ? call : { ...call, id, arguments: isBare ? "{}" : call.arguments };
  }
}
