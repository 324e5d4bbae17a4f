import { asFields, asList, assignFields, type Fields } from "../../base/json/fields.ts";
import type { AnswerEmitter } from "../canonical/answer/answer-emitter.ts";
import { findVendorError } from "../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { CandidateReader } from "./read-candidate.ts";
import { readUsage } from "./usage.ts";

/** More candidates than Gemini returns, so that an index never allocates memory. */
const MAX_CANDIDATES = 64;

/** Reads one whole `GenerateContentResponse`, or those of a stream one after the other. */
export class ResponseReader {
  private readonly candidates = new Map<number, CandidateReader>();
  private readonly counters: Record<string, unknown> = {};
  /** The number of search queries by candidate. Each response of a stream repeats those before it. */
  private readonly queries = new Map<number, number>();
  private usage: TokenUsage | null = null;

  constructor(private readonly emitter: AnswerEmitter) {}

  read(response: Fields): void {
    const error = findVendorError(response);
    if (error !== null) {
      this.emitter.fail(error);
      return;
    }
    const candidates = asList(response["candidates"]);
    for (const [position, candidate] of candidates.entries())
      this.readCandidate(asFields(candidate) ?? {}, position);
    const reason = asFields(response["promptFeedback"])?.["blockReason"];
    if (typeof reason === "string" && candidates.length === 0) this.candidateAt(0).block(reason);
    assignFields(this.counters, asFields(response["usageMetadata"]));
    if (this.usage === null) this.emitUsage();
  }

  /** Returns the usage so far; null if nothing has been counted. */
  countSoFar(): TokenUsage | null {
    let searches = 0;
    for (const count of this.queries.values()) searches += count;
    return readUsage(this.counters, searches);
  }

  /** Ends the candidates that have finished; all of them if the answer is known to be whole. */
  end(isWhole: boolean): void {
    this.emitUsage();
    for (const candidate of this.candidates.values()) if (isWhole || candidate.isFinished) candidate.end();
  }

  private readCandidate(candidate: Fields, position: number): void {
    const { index } = candidate;
    const isIndex = typeof index === "number" && index >= 0 && index < MAX_CANDIDATES;
    const at = isIndex ? index : position;
    const count = countQueries(candidate);
    if (count !== null) this.queries.set(at, count);
    this.candidateAt(at).read(candidate);
  }

  private candidateAt(index: number): CandidateReader {
    const known = this.candidates.get(index) ?? new CandidateReader(this.emitter, index);
    this.candidates.set(index, known);
    return known;
  }

  /**
   * Emits the usage if it has changed. The counters grow from chunk to chunk; they are emitted with the first chunk that counts,
   * because some clients want them at the beginning, and at the end.
   */
  private emitUsage(): void {
    const usage = this.countSoFar();
    if (usage === null || (this.usage !== null && isSameUsage(usage, this.usage))) return;
    this.usage = usage;
    this.emitter.emit({ kind: "usage", usage });
  }
}

/** Returns the number of Google Search queries of a candidate; null if it does not report them. */
function countQueries(candidate: Fields): number | null {
  const queries = asFields(candidate["groundingMetadata"])?.["webSearchQueries"];
  return Array.isArray(queries) ? queries.filter((query) => query !== "").length : null;
}

function isSameUsage(a: TokenUsage, b: TokenUsage): boolean {
  return Object.entries(a).every(([counter, value]) => b[counter as keyof TokenUsage] === value);
}
