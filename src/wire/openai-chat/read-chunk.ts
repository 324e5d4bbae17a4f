import { asFields, asObjects, type Fields, omit } from "../../base/json/fields.ts";
import type { ServedModes, TokenUsage } from "../conversation/usage.ts";
import { OWN_CHOICE_FIELDS, OWN_MESSAGE_FIELDS } from "./own-fields.ts";
import { type DeltaText, readDeltaText } from "./reasoning.ts";
import { listCalls } from "./tool-calls.ts";
import { findUsage, followModes } from "./usage.ts";

/** A chunk of a stream. */
export interface Chunk {
  readonly raw: Fields;
  readonly choices: readonly ChunkChoice[];
  /** Null where it has none. */
  readonly usage: TokenUsage | null;
  /** The mode in which the answer is served, if this chunk or an earlier one names it. */
  readonly modes: ServedModes | undefined;
}

/** The part of a chunk about one choice. */
export interface ChunkChoice {
  /** A vendor that leaves the index out has one choice, 0. */
  readonly index: number;
  readonly delta: ChunkDelta;
  /** The vendor's finish reason; null if it gives none. */
  readonly finish: string | null;
  /** Fields of the choice that the gateway does not write itself. */
  readonly others: Fields;
}

/** The content that a chunk adds to a choice. */
export interface ChunkDelta extends DeltaText {
  readonly raw: Fields;
  /** Whether the vendor sends it as `message`. */
  readonly isMessage: boolean;
  /** As the vendor sent them. */
  readonly calls: readonly unknown[];
  /** "" for none. */
  readonly refusal: string;
  /** Fields that the gateway does not write itself, without nulls. */
  readonly others: Fields;
}

/** A refusal is forwarded unchanged unless it is empty. */
const OWN_DELTA_FIELDS: ReadonlySet<string> = new Set([...OWN_MESSAGE_FIELDS, "refusal"]);

/** Reads a chunk that is no error. `before`: the mode that earlier chunks have named. */
export function readChunk(raw: Fields, before: ServedModes | undefined): Chunk {
  const choices = asObjects(raw["choices"]).map(readChoice);
  const modes = followModes(before, raw);
  return { raw, choices, usage: findUsage(raw, modes), modes };
}

function readChoice(raw: Fields): ChunkChoice {
  const { index, finish_reason: reason } = raw;
  const delta = asFields(raw["delta"]);
  return {
    index: typeof index === "number" ? index : 0,
    delta: readDelta(delta ?? asFields(raw["message"]) ?? NO_DELTA, delta === null),
    finish: typeof reason === "string" ? reason : null,
    others: omit(raw, OWN_CHOICE_FIELDS),
  };
}

const NO_DELTA: Fields = {};

function readDelta(raw: Fields, isMessage: boolean): ChunkDelta {
  const { refusal } = raw;
  const { content, reasoning, details } = readDeltaText(raw);
  const calls = listCalls(raw);
  const others = omit(raw, OWN_DELTA_FIELDS);
  for (const name in others) if (others[name] === null) delete others[name];
  return {
    raw,
    isMessage,
    content,
    reasoning,
    details,
    calls,
    refusal: typeof refusal === "string" ? refusal : "",
    others,
  };
}
