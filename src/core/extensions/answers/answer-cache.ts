import type { Clock } from "../../../base/clock.ts";
import type { Failure } from "../../../base/errors.ts";
import { sha256 } from "../../../base/hash.ts";
import type {
  AdmittedGeneration,
  Extension,
  ExtensionPoints,
  GateDecision,
  GatedRequest,
} from "../../generation/extension.ts";
import type { UsageRecord } from "../../usage/records.ts";
import { recordSteps } from "../../usage/route-step.ts";
import { BoundedText } from "../bounded-text.ts";
import type { AnswerStore, StoredAnswer } from "./answer-store.ts";
import { type CacheDirectives, readCacheControl } from "./cache-control.ts";
import { isBinary, replay } from "./replay.ts";
import { RunningAnswers } from "./running-answers.ts";

/** A longer answer is not kept. Bytes. */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** How often a request waits for an equal one that then cannot be given again, before it asks a provider itself. */
const MAX_WAITS = 2;

/** The response header that says what the cache did. */
const CACHE_HEADER = "x-gateway-cache";

export interface AnswerCacheDeps {
  readonly store: AnswerStore;
  readonly clock: Clock;
}

/**
 * Answers requests that are byte for byte equal to an earlier one of the same API key with the earlier answer, for keys that ask for it
 * (`cache`). Equal requests at the same time ask a provider once. Requests under zero data retention are never kept (docs/answers.md).
 */
export class AnswerCache implements Extension {
  readonly name = "answer-cache";
  private readonly running = new RunningAnswers();

  constructor(private readonly deps: AnswerCacheDeps) {}

  attach(generation: AdmittedGeneration): ExtensionPoints | null {
    const { principal } = generation.call;
    if (principal.kind === "anonymous" || principal.key.cache === null) return null;
    const directives = readCacheControl(generation.call.headers.get("cache-control"));
    const { request } = generation.call;
    if (generation.zeroRetention || !directives.mayKeep || isBinary(request)) return BYPASS;
    const ttlS = principal.key.cache;
    return new CachedGeneration({ ...this.deps, running: this.running, generation, directives, ttlS });
  }
}

const BYPASS: ExtensionPoints = {
  beforeRoute: async () => ({ kind: "continue", headers: { [CACHE_HEADER]: "bypass" } }),
};

interface CachedGenerationParts extends AnswerCacheDeps {
  readonly running: RunningAnswers;
  readonly generation: AdmittedGeneration;
  readonly directives: CacheDirectives;
  /** How long answers are kept. Seconds. */
  readonly ttlS: number;
}

/** One generation of a key with a cache. */
class CachedGeneration implements ExtensionPoints {
  /** The answer that it produces for others, too; null if it produces none. */
  private produced: { readonly name: string; readonly text: BoundedText } | null = null;

  constructor(private readonly parts: CachedGenerationParts) {}

  async beforeRoute({ readBody }: GatedRequest): Promise<GateDecision> {
    const name = nameOf(this.parts.generation, readBody());
    const found = await this.find(name);
    if (found !== null) return found;
    const { running, generation } = this.parts;
    if (running.find(name) === null) {
      running.begin(name);
      this.produced = { name, text: new BoundedText(MAX_KEPT_BYTES, generation.call) };
    }
    return { kind: "continue", headers: { [CACHE_HEADER]: "miss" } };
  }

  onText(delta: Uint8Array): void {
    this.produced?.text.append(delta);
  }

  onSettled(record: UsageRecord, failure: Failure | null): void {
    const isWhole =
      record.outcome === "completed" && failure === null && this.produced?.text.isTruncated === false;
    this.end(isWhole ? record : null);
  }

  onAbandoned(): void {
    this.end(null);
  }

  /** Finds a stored answer, or waits for one that is being produced. */
  private async find(name: string): Promise<GateDecision | null> {
    const { store, clock, directives, ttlS, running } = this.parts;
    if (!directives.mayRead) return null;
    const kept = await store.findAnswer(name);
    if (kept !== null) {
      const ageS = Math.max(0, Math.floor((clock.now() - kept.createdAt) / 1_000));
      if (ageS <= Math.min(directives.maxAgeS, ttlS))
        return this.give(kept, { [CACHE_HEADER]: "hit", age: String(ageS) });
    }
    for (let waits = 0; waits < MAX_WAITS; waits++) {
      const produced = await running.find(name);
      if (produced === null) continue;
      return this.give(produced, { [CACHE_HEADER]: "joined" });
    }
    return null;
  }

  private give(answer: StoredAnswer, headers: Readonly<Record<string, string>>): GateDecision {
    return replay(answer, this.parts.generation.id, headers);
  }

  private end(record: UsageRecord | null): void {
    const { produced } = this;
    if (produced === null) return;
    this.produced = null;
    const { store, clock, running, ttlS } = this.parts;
    const answer =
      record === null
        ? null
        : { generationId: record.id, body: produced.text.toString(), createdAt: clock.now() };
    running.end(produced.name, answer);
    if (answer !== null) void store.keepAnswer(produced.name, answer, ttlS * 1_000);
  }
}

/** Names equal requests: of the same key, to the same route, with the same bytes, and with the same versions of named routes. */
function nameOf({ call, namedRoutes }: AdmittedGeneration, body: Uint8Array): string {
  const { principal, route, headers } = call;
  const keyId = principal.kind === "anonymous" ? "" : principal.key.id;
  const about = [
    keyId,
    route,
    headers.get("x-gateway-organization"),
    headers.get("anthropic-beta"),
    recordSteps(namedRoutes),
  ];
  return sha256(`${JSON.stringify(about)} ${sha256(body, "base64url")}`, "base64url");
}
