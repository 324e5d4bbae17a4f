import type { AnswerEvent } from "../canonical/answer.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { findVendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { type CandidateReader, createCandidateReader } from "./read-candidate.ts";
import { readUsage } from "./usage.ts";

/** Reads an answer: one `GenerateContentResponse` that is whole, or those of a stream one after the other. */
export interface ResponseReader {
  step(response: Fields): AnswerEvent[];
  /** All has come. `isWhole`: what has no finish is closed all the same. */
  end(isWhole: boolean): AnswerEvent[];
}

/** More candidates than Gemini gives, so that an index is never a size. */
const MAX_CANDIDATES = 64;

export function createResponseReader(): ResponseReader {
  const candidates = new Map<number, CandidateReader>();
  let counters: Fields = {};
  let usage: TokenUsage | null = null;

  const candidateAt = (index: number): CandidateReader => {
    const known = candidates.get(index) ?? createCandidateReader(index);
    candidates.set(index, known);
    return known;
  };

  /** Counters grow from chunk to chunk, and not all come in each. */
  const countUsage = (response: Fields): AnswerEvent[] => {
    const metadata = asFields(response["usageMetadata"]);
    if (metadata === null) return [];
    counters = { ...counters, ...metadata };
    const counted = readUsage(counters);
    if (counted === null || (usage !== null && isSameUsage(counted, usage))) return [];
    usage = counted;
    return [{ kind: "usage", usage: counted }];
  };

  return {
    step(response) {
      const error = findVendorError(response);
      if (error !== null) return [{ kind: "error", error }];
      const listed = Array.isArray(response["candidates"]) ? response["candidates"] : [];
      const events = listed.flatMap((each, place) => {
        const candidate = asFields(each) ?? {};
        const { index } = candidate;
        const isIndex = typeof index === "number" && index >= 0 && index < MAX_CANDIDATES;
        return candidateAt(isIndex ? index : place).step(candidate);
      });
      const reason = asFields(response["promptFeedback"])?.["blockReason"];
      if (typeof reason === "string" && listed.length === 0) candidateAt(0).block(reason);
      return [...events, ...countUsage(response)];
    },
    end: (isWhole) =>
      [...candidates.values()]
        .filter((candidate) => isWhole || candidate.isFinished)
        .flatMap((candidate) => candidate.end()),
  };
}

function isSameUsage(a: TokenUsage, b: TokenUsage): boolean {
  return Object.entries(a).every(([counter, value]) => b[counter as keyof TokenUsage] === value);
}
