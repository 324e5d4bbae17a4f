import type { Failure } from "../../../base/failures/errors.ts";
import type { Log } from "../../../base/failures/log.ts";
import { sha256 } from "../../../base/secrets/hash.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { DAY_MS } from "../../../base/time/time.ts";
import type {
  AdmittedGeneration,
  AnswerKeeper,
  Extension,
  ExtensionPoints,
  GateDecision,
  GatedRequest,
} from "../../generation/call/extension.ts";
import {
  describeBadName,
  describeTooManyNames,
  isIdempotencyName,
  MAX_NAMES,
  OTHER_REQUEST,
} from "../../idempotency/idempotency-name.ts";
import type {
  IdempotencyClaim,
  IdempotencyKey,
  StoredResponseStore,
} from "../../idempotency/stored-response-store.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import { BoundedText } from "../bounded-text.ts";
import { PendingWrites } from "../pending-writes.ts";
import { MAX_KEPT_BYTES } from "./answer-cache.ts";
import type { AnswerStore, StoredAnswer } from "./answer-store.ts";
import { costOfAnswer, isBinary, replay, replayResponse } from "./replay.ts";
import { RunningAnswers } from "./running-answers.ts";

interface RepeatableAnswersDeps {
  /** Records in the database who has used which idempotency key. No request is charged twice, even if everything else is lost. */
  readonly claims: StoredResponseStore;
  /** Keeps the answers themselves. */
  readonly store: AnswerStore;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

/** The header of a repeatable request. */
export const IDEMPOTENCY_HEADER = "idempotency-key";

/**
 * Answers a request with an `Idempotency-Key` once: a repetition within a day gets the same answer, or an error if that was not kept, and
 * is never charged. Requests without the header take no part (docs/answers.md).
 */
export class RepeatableAnswers implements Extension {
  readonly name = "repeatable-answers";
  private readonly running = new RunningAnswers();
  private readonly pending: PendingWrites;

  constructor(private readonly deps: RepeatableAnswersDeps) {
    this.pending = new PendingWrites(deps.log, NOT_STORED);
  }

  attach(generation: AdmittedGeneration): ExtensionPoints | null {
    const { principal, headers } = generation.call;
    if (principal.kind === "anonymous") return null;
    const name = headers.get(IDEMPOTENCY_HEADER);
    return name === null ? null : this.repeat(generation, { scope: principal.key.id, name });
  }

  private repeat(generation: AdmittedGeneration, key: IdempotencyKey): ExtensionPoints {
    return new RepeatableGeneration({
      ...this.deps,
      running: this.running,
      generation,
      key,
      onWriting: (writing) => this.pending.add(writing, generation.id),
    });
  }

  /**
   * Returns whether the name of an idempotency key is in use, by the same request or another one. Null stands for the name of a request
   * without the header. Rejects with a `StoreError`.
   */
  async isRepeated(key: IdempotencyKey | null): Promise<boolean> {
    if (key === null || !isIdempotencyName(key.name)) return false;
    return this.deps.claims.isClaimed(key, this.deps.clock.now() - DAY_MS);
  }

  /** Resolves when what is known of ended generations is stored. */
  drain(): Promise<void> {
    return this.pending.drain();
  }
}

const NOT_STORED = "the use of an idempotency key was not stored; its repetition will be rejected";

interface RepeatableParts extends RepeatableAnswersDeps {
  readonly running: RunningAnswers;
  readonly generation: AdmittedGeneration;
  readonly key: IdempotencyKey;
  /** Called with what is being written after the generation has ended. */
  readonly onWriting: (writing: Promise<void>) => void;
}

/** One generation with an idempotency key. */
class RepeatableGeneration implements ExtensionPoints {
  /** The name of its answer. */
  private readonly name: string;
  private text: BoundedText | null = null;
  /** The generation has ended, perhaps while its key was being claimed. */
  private isOver = false;

  constructor(private readonly parts: RepeatableParts) {
    const { scope, name } = parts.key;
    this.name = sha256(`repeatable ${JSON.stringify([scope, name])}`, "base64url");
  }

  async beforeRoute({ readBody }: GatedRequest): Promise<GateDecision> {
    const { key, claims, generation, running } = this.parts;
    if (!isIdempotencyName(key.name)) return { kind: "reject", failure: describeBadName() };
    const { call } = generation;
    const bodyHash = this.keeps?.sentHash ?? sha256(readBody(), "hex");
    const fingerprint = sha256(`${generation.describeRequest()} ${bodyHash}`, "hex");
    const claim = await this.claim(fingerprint);
    if (claim.kind === "full") return { kind: "reject", failure: describeTooManyNames() };
    if (claim.kind === "repeated") return this.repeat(claim, fingerprint);
    if (this.isOver) {
      await claims.releaseKey(key);
      return { kind: "continue" };
    }
    running.begin(this.name);
    const isReplayed = !isBinary(call.request) && !this.isJob;
    this.text = new BoundedText(isReplayed ? MAX_KEPT_BYTES : 0, call);
    return { kind: "continue" };
  }

  private get keeps(): AnswerKeeper | null {
    return this.parts.generation.call.keeps ?? null;
  }

  /** Whether it is a background response, which repetitions get as it is at that moment. */
  private get isJob(): boolean {
    return this.keeps?.isBackground ?? false;
  }

  private claim(fingerprint: string): Promise<IdempotencyClaim> {
    const { key, claims, clock } = this.parts;
    const at = clock.now();
    return claims.claimKey(key, { fingerprint, at, expiredAt: at - DAY_MS, maxNames: MAX_NAMES });
  }

  /** A job is accepted now, and its outcome is its response, whatever becomes of it. */
  beforeAttempt(): null {
    if (this.isJob && this.text !== null) this.keepJob();
    return null;
  }

  onText(delta: Uint8Array): void {
    this.text?.append(delta);
  }

  onSettled(record: UsageRecord, failure: Failure | null): void {
    this.isOver = true;
    const { text } = this;
    if (text === null) return;
    const isFree = failure !== null && record.costNanodollars === 0;
    if (isFree) {
      this.onAbandoned();
      return;
    }
    if (this.isJob) {
      this.keepJob();
      return;
    }
    // What was charged must not be charged again. A broken stream is returned again as it was. A failure instead of an answer, such as
    // that of a guardrail, has no text to return.
    const isWhole = record.outcome !== "cancelled" && !text.isTruncated;
    const body = isWhole && !this.parts.generation.zeroRetention ? text.toString() : "";
    this.keep(record, body === "" ? null : body);
  }

  /** The request has cost nothing, so it may be repeated. */
  onAbandoned(): void {
    this.isOver = true;
    if (this.text === null) return;
    this.text = null;
    const { claims, key, running, onWriting } = this.parts;
    onWriting(claims.releaseKey(key).finally(() => running.end(this.name, "given up")));
  }

  private keepJob(): void {
    this.text = null;
    const { claims, key, generation, running, onWriting } = this.parts;
    const body = JSON.stringify({ generation_id: generation.id });
    const writing = claims.storeResponse(key, { status: 200, body });
    const known = writing.finally(() => running.end(this.name, "not kept"));
    // A client that has got the response can repeat its request at any gateway.
    this.keeps?.answerAfter(known.catch(() => {}));
    onWriting(known);
  }

  private keep(record: UsageRecord, body: string | null): void {
    const { id, status } = record;
    const { claims, store, clock, key, running, onWriting } = this.parts;
    const { keeps } = this;
    const costNanodollars = costOfAnswer(record);
    const answer = body === null ? null : { generationId: id, body, createdAt: clock.now(), costNanodollars };
    const write = async () => {
      if (keeps?.isKept === true) await waitAtMost(clock, STORING_MS, keeps.whenEnded());
      if (answer !== null) await store.keepAnswer(this.name, answer, DAY_MS);
      await claims.storeResponse(key, { status: status ?? 200, body: JSON.stringify({ generation_id: id }) });
    };
    onWriting(write().finally(() => running.end(this.name, answer ?? "not kept")));
  }

  private async repeat(
    { fingerprint, answer }: Extract<IdempotencyClaim, { kind: "repeated" }>,
    expected: string,
  ): Promise<GateDecision> {
    if (fingerprint !== expected) return reject(OTHER_REQUEST);
    const ended = (await this.parts.running.find(this.name)) ?? "not kept";
    const kept = typeof ended === "string" ? await this.findAnswer() : ended;
    if (kept !== null) return this.give(kept);
    // The generation that was waited for here may have stored its outcome after the claim was read.
    const known = answer ?? (await this.findOutcome(expected));
    if (known === null) return reject(UNKNOWN_OUTCOME);
    const { generation_id: id } = JSON.parse(known.body ?? "{}") as { readonly generation_id?: string };
    if (id !== undefined && this.isJob && (await this.keeps?.isStored(id)) === true)
      return replayResponse(id, { by: "idempotency_key", headers: REPLAYED });
    return reject(
      `The request with this Idempotency-Key was answered and charged as ${id ?? "another generation"}, but its answer was not kept. Use a new key to ask again.`,
    );
  }

  /** The answer of a job is read from its response. */
  private async findAnswer(): Promise<StoredAnswer | null> {
    return this.isJob ? null : this.parts.store.findAnswer(this.name);
  }

  private async findOutcome(fingerprint: string) {
    const claim = await this.claim(fingerprint);
    if (claim.kind === "repeated") return claim.answer;
    // The other request was abandoned, so the key is free again.
    if (claim.kind === "first") await this.parts.claims.releaseKey(this.parts.key);
    return null;
  }

  private give(answer: StoredAnswer): GateDecision {
    const asId = this.keeps?.isKept === true ? answer.generationId : this.parts.generation.id;
    return replay(answer, { asId, by: "idempotency_key", headers: REPLAYED });
  }
}

const REPLAYED = { "idempotent-replayed": "true" };

/**
 * How long a repetition waits until the response of the first request is stored, under the id that the repetition gets. It is stored when its
 * client reads the end of its answer. Milliseconds.
 */
const STORING_MS = 10_000;

/** Resolves with `work`, or after a time. */
async function waitAtMost(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  await Promise.race([work, promise]);
  timer.cancel();
}

function reject(message: string): GateDecision {
  const metadata = { field: "Idempotency-Key" };
  return { kind: "reject", failure: { code: "conflict", message, metadata } };
}

const UNKNOWN_OUTCOME =
  "The request with this Idempotency-Key is still running on another gateway, or was interrupted. Repeat it later. If it is rejected again, look for its generation before you use a new key.";
