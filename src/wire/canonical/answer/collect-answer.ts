import { assignFields, setField } from "../../../base/json/fields.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import type { Answer, AnswerChoice, AnswerEvent, Finish, PartDelta } from "../model/answer.ts";
import type { Citation, Extras, Part } from "../model/parts.ts";

interface Choice {
  readonly index: number;
  readonly parts: Part[];
  finish: Finish | null;
  logprobs: LogprobLists | null;
  extras: Extras | undefined;
}

type LogprobLists = Record<string, unknown[]>;

const UNFINISHED: Finish = { reason: "stop", native: "", stopSequence: null };

/**
 * Collects the events of a stream into a whole answer, the inverse of `replayAnswer`. Error events are ignored; the caller handles
 * them.
 */
export function collectAnswer(events: Iterable<AnswerEvent>): Answer {
  const collector = new AnswerCollector();
  for (const event of events) collector.add(event);
  return collector.finish();
}

class AnswerCollector {
  private readonly choices = new Map<number, Choice>();
  private usage: TokenUsage | null = null;
  private serviceTier: string | null = null;
  private extras: Extras | undefined;

  add(event: AnswerEvent): void {
    switch (event.kind) {
      case "part-start":
        this.choiceAt(event.choice).parts[event.at] = makeGrowable(event.part);
        break;
      case "part-delta": {
        const { parts } = this.choiceAt(event.choice);
        const part = parts[event.at];
        if (part !== undefined) parts[event.at] = growPartInPlace(part, event.delta);
        break;
      }
      case "logprobs":
        this.addLogprobs(this.choiceAt(event.choice), event.value);
        break;
      case "finish":
        this.choiceAt(event.choice).finish = event.finish;
        this.choiceAt(event.choice).extras = event.extras;
        break;
      case "usage":
        this.usage = event.usage;
        break;
      case "service-tier":
        this.serviceTier = event.tier;
        break;
      case "extras":
        this.extras = joinExtras(this.extras, event.extras);
        break;
    }
  }

  finish(): Answer {
    const { usage, serviceTier, extras } = this;
    const choices = [...this.choices.values()].sort((a, b) => a.index - b.index).map(closeChoice);
    return { choices, usage, serviceTier, ...(extras === undefined ? {} : { extras }) };
  }

  private addLogprobs(choice: Choice, value: unknown): void {
    choice.logprobs = joinLogprobs(choice.logprobs, value);
  }

  private choiceAt(index: number): Choice {
    let choice = this.choices.get(index);
    if (choice === undefined) {
      choice = { index, parts: [], finish: null, logprobs: null, extras: undefined };
      this.choices.set(index, choice);
    }
    return choice;
  }
}

/** Merges extras that came in pieces. `before` belongs to the caller and is changed in place. */
export function joinExtras(before: Extras | undefined, more: Extras): Extras {
  if (before?.format !== more.format)
    return { format: more.format, fields: { ...before?.fields, ...more.fields } };
  assignFields(before.fields, more.fields);
  return before;
}

function closeChoice({ index, parts, finish, logprobs, extras }: Choice): AnswerChoice {
  const closed = { index, parts, finish: finish ?? UNFINISHED, logprobs };
  return extras === undefined ? closed : { ...closed, extras };
}

/** Returns a part with a delta applied. A delta that does not fit the kind of the part changes nothing. */
export function growPart(part: Part, delta: PartDelta): Part {
  switch (delta.kind) {
    case "text":
      return "text" in part ? { ...part, text: part.text + delta.text } : part;
    case "arguments":
      return part.kind === "tool-call" ? { ...part, arguments: part.arguments + delta.text } : part;
    case "signature":
      return part.kind === "reasoning" ? { ...part, signature: (part.signature ?? "") + delta.value } : part;
    case "encrypted":
      return part.kind === "reasoning" ? { ...part, encrypted: delta.value } : part;
    case "citation":
      return part.kind === "text"
        ? { ...part, citations: [...(part.citations ?? []), delta.citation] }
        : part;
    case "part-signature":
      return part.kind === "text" || part.kind === "tool-call"
        ? { ...part, signature: { value: delta.value, origin: delta.origin } }
        : part;
  }
}

/** Returns a part whose lists may be changed in place by `growPartInPlace`. */
export function makeGrowable(part: Part): Part {
  return part.kind === "text" && part.citations !== undefined
    ? { ...part, citations: [...part.citations] }
    : part;
}

/**
 * Applies a delta like `growPart`, to a part from `makeGrowable`: its list of citations grows in place, so that each costs constant
 * time.
 */
export function growPartInPlace(part: Part, delta: PartDelta): Part {
  if (delta.kind !== "citation" || part.kind !== "text" || part.citations === undefined) {
    return growPart(part, delta);
  }
  (part.citations as Citation[]).push(delta.citation);
  return part;
}

/** Returns a copy of the lists of log probabilities; null if there are none. */
export function copyLogprobs(value: unknown): unknown {
  return value === null ? null : joinLogprobs(null, value);
}

/** Appends log probabilities, which come in lists: `{content: [...]}`. */
function joinLogprobs(before: LogprobLists | null, value: unknown): LogprobLists | null {
  if (typeof value !== "object" || value === null) return before;
  const joined: LogprobLists = before ?? {};
  for (const [key, list] of Object.entries(value)) {
    if (!Array.isArray(list)) continue;
    const known = joined[key];
    if (known === undefined) setField(joined, key, [...list]);
    else for (const one of list) known.push(one);
  }
  return joined;
}

/** Yields a whole answer as the events of a stream, one delta per part. */
export function* replayAnswer(answer: Answer): Generator<AnswerEvent> {
  if (answer.extras !== undefined) yield { kind: "extras", extras: answer.extras };
  if (answer.serviceTier !== null) yield { kind: "service-tier", tier: answer.serviceTier };
  if (answer.usage !== null) yield { kind: "usage", usage: answer.usage };
  for (const choice of answer.choices) {
    for (const [at, part] of choice.parts.entries()) yield* replayPart(choice.index, at, part);
    if (choice.logprobs !== null) yield { kind: "logprobs", choice: choice.index, value: choice.logprobs };
    const { extras, finish, index } = choice;
    yield { kind: "finish", choice: index, finish, ...(extras === undefined ? {} : { extras }) };
  }
}

function* replayPart(choice: number, at: number, part: Part): Generator<AnswerEvent> {
  const { head, deltas } = splitPart(part);
  yield { kind: "part-start", choice, at, part: head };
  for (const delta of deltas) yield { kind: "part-delta", choice, at, delta };
  yield { kind: "part-end", choice, at };
}

/** Splits a part into its start and the deltas that complete it. */
function splitPart(part: Part): { readonly head: Part; readonly deltas: readonly PartDelta[] } {
  switch (part.kind) {
    case "text": {
      const { citations = [], ...rest } = part;
      return {
        head: { ...rest, text: "" },
        deltas: [
          ...textDelta(part.text),
          ...citations.map((citation): PartDelta => ({ kind: "citation", citation })),
        ],
      };
    }
    case "refusal":
      return { head: { ...part, text: "" }, deltas: textDelta(part.text) };
    case "reasoning":
      return {
        head: { ...part, text: "", signature: null, encrypted: null },
        deltas: [
          ...textDelta(part.text),
          ...(part.signature === null ? [] : [{ kind: "signature", value: part.signature } as const]),
          ...(part.encrypted === null ? [] : [{ kind: "encrypted", value: part.encrypted } as const]),
        ],
      };
    case "tool-call":
      return {
        head: { ...part, arguments: "" },
        deltas: part.arguments === "" ? [] : [{ kind: "arguments", text: part.arguments }],
      };
    default:
      return { head: part, deltas: [] };
  }
}

function textDelta(text: string): PartDelta[] {
  return text === "" ? [] : [{ kind: "text", text }];
}
