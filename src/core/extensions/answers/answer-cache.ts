import type { Failure } from "../../../base/failures/errors.ts";
import { sha256 } from "../../../base/secrets/hash.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { cacheOf } from "../../accounts/records/key-defaults.ts";
import type {
  AdmittedGeneration,
  Extension,
  ExtensionPoints,
  GateDecision,
  GatedRequest,
} from "../../generation/call/extension.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import { BoundedText } from "../bounded-text.ts";
import type { AnswerStore, StoredAnswer } from "./answer-store.ts";
import { costOfAnswer, isBinary, replay } from "./replay.ts";
import { type EndedAnswer, RunningAnswers } from "./running-answers.ts";

/** A longer answer is not kept. Bytes. */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** How often a request waits for an equal one whose answer then cannot be used, before it calls a provider itself. */
const MAX_WAITS = 2;

/** The response header that states what the cache did. */
const CACHE_HEADER = "x-gateway-cache";

interface AnswerCacheDeps {
  readonly store: AnswerStore;
  readonly clock: Clock;
}

/**
 * Answers a request with the earlier answer of a request that was equal byte for byte, from the same API key, if the key has `cache`. Of
 * concurrent equal requests only one calls a provider. Requests under zero data retention are never stored (docs/answers.md).
 */
export class AnswerCache implements Extension {
  readonly name = "answer-cache";
  private readonly running = new RunningAnswers();

  constructor(private readonly deps: AnswerCacheDeps) {}

  attach(generation: AdmittedGeneration): ExtensionPoints | null {
    const { principal } = generation.call;
    const ttlS = principal.kind === "anonymous" ? null : cacheOf(principal);
    if (principal.kind === "anonymous" || ttlS === null) return null;
    const directives = readCacheControl(generation.call.headers.get("cache-control"));
    const { request } = generation.call;
    if (generation.zeroRetention || !directives.mayKeep || isBinary(request)) return BYPASS;
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
  /** The generation has ended, perhaps while it waited here. */
  private isOver = false;

  constructor(private readonly parts: CachedGenerationParts) {}

  async beforeRoute({ readBody }: GatedRequest): Promise<GateDecision> {
    const name = nameOf(this.parts.generation, readBody());
    return (await this.find(name)) ?? { kind: "continue", headers: { [CACHE_HEADER]: "miss" } };
  }

  onText(delta: Uint8Array): void {
    this.produced?.text.append(delta);
  }

  onSettled(record: UsageRecord, failure: Failure | null): void {
    const isWhole =
      record.outcome === "completed" && failure === null && this.produced?.text.isTruncated === false;
    if (isWhole) this.keep(record);
    else this.end(record.outcome === "cancelled" ? "given up" : "not kept");
  }

  onAbandoned(): void {
    this.end("given up");
  }

  /** Finds a stored answer, or waits for one that is being produced. Returns null if the request must call a provider. */
  private async find(name: string): Promise<GateDecision | null> {
    const { store, clock, directives, ttlS } = this.parts;
    if (!directives.mayRead) {
      this.begin(name);
      return null;
    }
    const kept = await store.findAnswer(name);
    if (kept !== null) {
      const ageS = Math.max(0, Math.floor((clock.now() - kept.createdAt) / 1_000));
      if (ageS <= Math.min(directives.maxAgeS, ttlS))
        return this.give(kept, { [CACHE_HEADER]: "hit", age: String(ageS) });
    }
    return this.join(name);
  }

  /**
   * Waits for an answer that is being produced. If no request produces it, or the client of that request has left, the first waiter that
   * notices produces it, and the others continue to wait.
   */
  private async join(name: string): Promise<GateDecision | null> {
    for (let waits = 0; waits < MAX_WAITS; ) {
      const running = this.parts.running.find(name);
      if (running === null) {
        this.begin(name);
        return null;
      }
      const ended = await running;
      if (ended === "not kept") waits++;
      else if (ended !== "given up") return this.give(ended, { [CACHE_HEADER]: "joined" });
    }
    this.begin(name);
    return null;
  }

  /** Begins to produce the answer, also for other requests, unless another request does so, or its client has left meanwhile. */
  private begin(name: string): void {
    const { running, generation } = this.parts;
    if (this.isOver || running.find(name) !== null) return;
    running.begin(name);
    this.produced = { name, text: new BoundedText(MAX_KEPT_BYTES, generation.call) };
  }

  private give(answer: StoredAnswer, headers: Readonly<Record<string, string>>): GateDecision {
    return replay(answer, { asId: this.parts.generation.id, by: "answer_cache", headers });
  }

  private keep(record: UsageRecord): void {
    const { produced } = this;
    if (produced === null) return;
    const { store, clock, ttlS } = this.parts;
    const answer = {
      generationId: record.id,
      body: produced.text.toString(),
      createdAt: clock.now(),
      costNanodollars: costOfAnswer(record),
    };
    this.end(answer);
    void store.keepAnswer(produced.name, answer, ttlS * 1_000);
  }

  private end(ended: EndedAnswer): void {
    this.isOver = true;
    const { produced } = this;
    if (produced === null) return;
    this.produced = null;
    this.parts.running.end(produced.name, ended);
  }
}

/** Returns the name of equal requests: of the same key, with the same bytes and headers, and answered by the same deployments. */
function nameOf(generation: AdmittedGeneration, body: Uint8Array): string {
  const { principal } = generation.call;
  const keyId = principal.kind === "anonymous" ? "" : principal.key.id;
  const about = [keyId, generation.describeRequest(), generation.describeChoice()];
  return sha256(`${JSON.stringify(about)} ${sha256(body, "base64url")}`, "base64url");
}

/** What the `Cache-Control` header of a request demands of the answer cache. */
interface CacheDirectives {
  /** The answer may come from the cache. */
  readonly mayRead: boolean;
  /** The answer may be kept. */
  readonly mayKeep: boolean;
  /** The greatest age of a stored answer; infinite if the request sets none. Seconds. */
  readonly maxAgeS: number;
}

const NO_DIRECTIVES: CacheDirectives = { mayRead: true, mayKeep: true, maxAgeS: Number.POSITIVE_INFINITY };

/** Reads a request's `Cache-Control` (RFC 9111, section 5.2.1): `no-store`, `no-cache` and `max-age`. Others are ignored. */
function readCacheControl(header: string | null): CacheDirectives {
  if (header === null) return NO_DIRECTIVES;
  let directives = NO_DIRECTIVES;
  for (const directive of header.toLowerCase().split(",")) {
    const [name, value = ""] = directive.trim().split("=", 2);
    if (name === "no-store") directives = { ...directives, mayRead: false, mayKeep: false };
    else if (name === "no-cache") directives = { ...directives, mayRead: false };
    else if (name === "max-age" && /^"?\d{1,9}"?$/.test(value))
      directives = { ...directives, maxAgeS: Number(value.replaceAll('"', "")) };
  }
  return directives;
}
