import type { AnswerEvent } from "../canonical/answer.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { findVendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { type CandidateReader, createCandidateReader } from "./read-candidate.ts";
import { readUsage } from "./usage.ts";

/** Reads an answer: one `GenerateContentResponse` that is whole, or those of a stream one after the other. */
export interface ResponseReader {
  step(response: Fields): AnswerEvent[];
  /** What the counters say by now; null where they say nothing. */
  countSoFar(): TokenUsage | null;
  /** All has come. `isWhole`: what has no finish is closed all the same. */
  end(isWhole: boolean): AnswerEvent[];
}

/** More candidates than Gemini gives, so that an index is never a size. */
const MAX_CANDIDATES = 64;

export function createResponseReader(): ResponseReader {
  const candidates = new Map<number, CandidateReader>();
  const counters: Record<string, unknown> = {};
  let usage: TokenUsage | null = null;
  /** Queries by candidate: of several in a stream the last ones tell all. */
  const queries = new Map<number, number>();

  const candidateAt = (index: number): CandidateReader => {
    const known = candidates.get(index) ?? createCandidateReader(index);
    candidates.set(index, known);
    return known;
  };

  const countSoFar = (): TokenUsage | null => {
    let searches = 0;
    for (const count of queries.values()) searches += count;
    return readUsage(counters, searches);
  };

  /**
   * Counters grow from chunk to chunk, and not all come in each. They are told with the first that counts, which some
   * clients want at the beginning, and at the end.
   */
  const tellUsage = (): AnswerEvent[] => {
    const counted = countSoFar();
    if (counted === null || (usage !== null && isSameUsage(counted, usage))) return [];
    usage = counted;
    return [{ kind: "usage", usage: counted }];
  };

  return {
    countSoFar,
    step(response) {
      const error = findVendorError(response);
      if (error !== null) return [{ kind: "error", error }];
      const listed = Array.isArray(response["candidates"]) ? response["candidates"] : [];
      const events = listed.flatMap((each, place) => {
        const candidate = asFields(each) ?? {};
        const { index } = candidate;
        const isIndex = typeof index === "number" && index >= 0 && index < MAX_CANDIDATES;
        const at = isIndex ? index : place;
        const count = countQueries(candidate);
        if (count !== null) queries.set(at, count);
        return candidateAt(at).step(candidate);
      });
      const reason = asFields(response["promptFeedback"])?.["blockReason"];
      if (typeof reason === "string" && listed.length === 0) candidateAt(0).block(reason);
      Object.assign(counters, asFields(response["usageMetadata"]));
      if (usage === null) events.push(...tellUsage());
      return events;
    },
    end: (isWhole) => [
      ...tellUsage(),
      ...[...candidates.values()]
        .filter((candidate) => isWhole || candidate.isFinished)
        .flatMap((candidate) => candidate.end()),
    ],
  };
}

/** What Google searched for; null where a candidate does not say. */
function countQueries(candidate: Fields): number | null {
  const queries = asFields(candidate["groundingMetadata"])?.["webSearchQueries"];
  return Array.isArray(queries) ? queries.filter((query) => query !== "").length : null;
}

function isSameUsage(a: TokenUsage, b: TokenUsage): boolean {
  return Object.entries(a).every(([counter, value]) => b[counter as keyof TokenUsage] === value);
}
