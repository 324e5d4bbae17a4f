import { detailOf, type Failure, failureOf, GatewayError } from "../../../base/failures/errors.ts";
import type { Fields } from "../../../base/json/fields.ts";
import {
  type EndedResponse,
  type LastEvent,
  readWhole,
  type StateFields,
  StateStream,
} from "../../../wire/openai-responses/state/answer-state.ts";
import { describeBegun } from "../../../wire/openai-responses/state/begun-response.ts";
import type { CompactionAnswer } from "../../../wire/openai-responses/state/compaction.ts";
import { type AddedItem, listInput } from "../../../wire/openai-responses/state/join-input.ts";
import type { AskedState } from "../../../wire/openai-responses/state/read-state.ts";
import type { AnswerKeeper } from "../../generation/call/extension.ts";
import { listItemIds, nameItem } from "../chains/name-items.ts";
import { type ChainEnd, rejectLocked } from "../chains/open-chain.ts";
import { listHandovers } from "../chains/own-compactions.ts";
import {
  type ChainPlace,
  type ObjectContent,
  type ObjectOwner,
  type ResponseStatus,
  type StoredObject,
  sizeOf,
  sumBytes,
} from "../records/response-object.ts";
import { ObjectSeal } from "../records/seal-object.ts";
import type { KeepDeps } from "./keep-deps.ts";
import { keepTrying } from "./keep-trying.ts";
import { KeptStream } from "./kept-stream.ts";
import { rejectFull } from "./limits.ts";

/** A request whose response may be kept. */
export interface KeptRequest {
  readonly owner: ObjectOwner;
  readonly asked: AskedState;
  readonly model: string;
  /** The items that the request adds to its chain. */
  readonly added: readonly AddedItem[];
  readonly chainEnd: ChainEnd;
  /** The joined body. */
  readonly body: Uint8Array;
  /** Whether the response is kept at all. */
  readonly isKept: boolean;
  /** Makes a compaction of the answer; null if it stays an answer. */
  readonly compaction: CompactionAnswer | null;
  /** See `AnswerKeeper.sentHash`. */
  readonly sentHash: string | null;
  /**
   * Whether the request was joined with what it continues. A request whose idempotency key is in use was not: it gets the answer of the
   * first one, which may just be adding its turn to the same conversation.
   */
  readonly isJoined: boolean;
}

/** One response of a request with state, from its admission to its end. */
export class KeptResponse implements AnswerKeeper {
  /** What the answer says of its state. */
  readonly fields: StateFields;
  /** The items that the request adds, each with an id, until the response is stored. */
  private input: readonly string[];
  /** The request until it begins: it and its body are not held while its answer is made. */
  private unsent: Pick<KeptRequest, "added" | "body"> | null;
  /** The record that was added before the answer; null if there is none. */
  private begun: StoredObject | null = null;
  private seal: ObjectSeal | null = null;
  private readonly accepted = Promise.withResolvers<StoredObject>();
  private readonly ended = Promise.withResolvers<void>();
  private recorded: Promise<void> | null = null;
  private readonly request: Omit<KeptRequest, "added" | "body">;

  constructor(
    private readonly deps: KeepDeps,
    { added, body, ...request }: KeptRequest,
  ) {
    const { asked, isKept } = request;
    this.request = request;
    this.unsent = { added, body };
    this.fields = {
      store: isKept,
      background: asked.isBackground,
      previous_response_id: asked.previousId,
      conversation: asked.conversationId === null ? null : { id: asked.conversationId },
    };
    this.input = isKept ? added.map(({ item }) => nameItem(item, deps.ids)) : [];
  }

  /** The size of the items that it holds until it is stored. Bytes. */
  get inputBytes(): number {
    return sumBytes(this.input);
  }

  /** Reads the events of its answer. */
  openEvents(): StateStream {
    return new StateStream(this.fields, this.request.compaction);
  }

  /** Keeps a stream that its client reads. A job reads the stream itself. */
  openStream(id: string): KeptStream | null {
    return this.isBackground ? null : new KeptStream(id, this, this.openEvents());
  }

  /** Reads a whole answer, bytes as Latin-1; null if it should be a compaction and is none. */
  shapeWhole(text: string): LastEvent | null {
    const { compaction } = this.request;
    const whole = readWhole(text, this.fields);
    return compaction === null ? whole : compaction.shapeWhole(whole);
  }

  /** Whether its client does not wait for it. */
  get isBackground(): boolean {
    return this.request.asked.isBackground;
  }

  get isKept(): boolean {
    return this.request.isKept;
  }

  get sentHash(): string | null {
    return this.request.sentHash;
  }

  /** Who keeps it. */
  get owner(): ObjectOwner {
    return this.request.owner;
  }

  /** Whether it began. One whose request is a repetition does not: the answer and the object are those of the first request. */
  get hasBegun(): boolean {
    return this.unsent === null;
  }

  /** Returns the record of the running response. @throws Error before it has begun. */
  requireBegun(): StoredObject {
    if (this.begun === null) throw new Error("the response has not begun");
    return this.begun;
  }

  /** Returns what the record and its events are encrypted with. @throws Error before it has begun. */
  requireSeal(): ObjectSeal {
    if (this.seal === null) throw new Error("the response has not begun");
    return this.seal;
  }

  /** Returns the contents of the running response. @throws Error before it has begun. */
  describeContent(): ObjectContent {
    return this.requireSeal().openContent(this.requireBegun().ciphertext);
  }

  /** Adds the running response if it has to be found before its answer: by its conversation, or as a job. */
  async begin(id: string, readBody: () => Uint8Array): Promise<Failure | null> {
    const { asked, isKept, isJoined } = this.request;
    if (!isJoined) return REPEATED_TOO_EARLY;
    const { unsent } = this;
    this.unsent = null;
    if (!isKept || unsent === null) return null;
    const sent = readBody();
    if (sent !== unsent.body) this.takeMasked(sent, unsent.added);
    if (!asked.isBackground && asked.conversationId === null) return null;
    const response = JSON.stringify(describeBegun(sent, this.describeState(id)));
    const object = this.describe(id, { status: "in_progress", output: [], response });
    try {
      await this.add(object, listItemIds(this.input));
      this.begun = object;
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return failureOf(error);
      // It may be stored nevertheless.
      await this.remove(id);
      throw error;
    }
  }

  /** Called when a provider is about to be asked. A job is accepted then. */
  onAttempt(): void {
    if (this.begun !== null) this.accepted.resolve(this.begun);
  }

  /** Resolves to the record of the running response once it is admitted and its money is held. */
  whenAccepted(): Promise<StoredObject> {
    return this.accepted.promise;
  }

  answerAfter(recorded: Promise<void>): void {
    this.recorded = recorded;
  }

  /** Resolves when the client may get a background response that was accepted, or whose generation has ended. */
  async whenRecorded(): Promise<void> {
    await this.recorded;
  }

  whenEnded(): Promise<void> {
    return this.ended.promise;
  }

  async isStored(id: string): Promise<boolean> {
    return (await this.deps.store.findHead(id, this.deps.clock.now())) !== null;
  }

  /**
   * Stores a response that has ended, before its client gets the end. Returns whether it is stored. A failure is logged: the answer was paid
   * for, and its client gets it. The answer to a repeated request is stored already.
   */
  async end(id: string, ended: EndedResponse): Promise<boolean> {
    const status = ended.status as ResponseStatus;
    try {
      if (!this.request.isKept) return false;
      return this.hasBegun ? await this.store(id, status, ended) : !this.leavesConversation(status);
    } catch (error) {
      this.deps.log.warn("a response could not be stored", {
        generation_id: id,
        detail: detailOf(error),
      });
      this.begun = null;
      // It may be stored nevertheless.
      await this.remove(id);
      return false;
    } finally {
      this.ended.resolve();
    }
  }

  /** Whether an answer is not kept because it failed: its items are no part of its conversation. */
  private leavesConversation(status: ResponseStatus): boolean {
    return this.request.asked.conversationId !== null && !this.isBackground && status === "failed";
  }

  /** Replaces the items that the request has added by those that are sent, in which guardrails have masked texts. */
  private takeMasked(body: Uint8Array, added: readonly AddedItem[]): void {
    const sent = added.length === 0 ? [] : listInput(Buffer.from(body));
    this.input = added.flatMap(({ index }) => {
      const item = sent.at(index);
      return item === undefined ? [] : [nameItem(item, this.deps.ids)];
    });
  }

  /** Removes the record of a response that has not ended with an answer, so that its place in a conversation is free. Never rejects. */
  async abandon(): Promise<void> {
    const { begun } = this;
    this.begun = null;
    if (begun !== null) await this.remove(begun.id);
    this.ended.resolve();
  }

  /** Removes a record. If the store is unavailable, it is tried again without its client. */
  private async remove(id: string): Promise<void> {
    const { deps } = this;
    const remove = () => deps.store.deleteObject(id);
    const what = "the record of a failed response could not be deleted";
    await remove().catch(() => void keepTrying(deps, { responseId: id, what }, remove));
  }

  /** The fields of a response that are known before its answer. */
  describeState(id: string): Fields {
    const created = Math.floor(this.deps.clock.now() / 1000);
    const { model } = this.request;
    return { id, object: "response", created_at: created, status: "in_progress", model, ...this.fields };
  }

  /**
   * Stores the end of a response, and how many bytes its events have. Returns false if it has ended already. Rejects with a GatewayError or
   * StoreError.
   */
  async store(
    id: string,
    status: ResponseStatus,
    ended: Pick<EndedResponse, "output" | "response"> & { readonly eventBytes?: number },
  ): Promise<boolean> {
    if (this.leavesConversation(status)) {
      await this.abandon();
      return false;
    }
    const { deps, begun } = this;
    const object = this.describe(id, { ...ended, status });
    const itemIds = [...listItemIds(this.input), ...listItemIds(ended.output)];
    if (begun === null) await this.add(object, itemIds);
    else {
      if (!(await deps.store.changeObject(begun, object, itemIds))) return false;
      this.begun = null;
    }
    return true;
  }

  /** @throws GatewayError `conflict`, `payload_too_large`; StoreError. */
  private async add(object: StoredObject, itemIds: readonly string[]): Promise<void> {
    const { store, settings } = this.deps;
    const { accountBytes } = settings();
    switch (await store.addObject(object, itemIds, accountBytes)) {
      case "added":
        return;
      case "taken":
        return rejectLocked(object.conversationId ?? "");
      case "full":
        return rejectFull(accountBytes);
    }
  }

  private expiresAt(): number {
    return this.deps.clock.now() + this.deps.settings().retentionMs;
  }

  private describe(
    id: string,
    {
      status,
      output,
      response,
      eventBytes = 0,
    }: Pick<ObjectContent, "output" | "response"> & {
      readonly status: ResponseStatus;
      readonly eventBytes?: number;
    },
  ): StoredObject {
    const { deps, request, begun } = this;
    const { owner, asked, model, chainEnd } = request;
    const now = deps.clock.now();
    const isRunning = status === "in_progress";
    this.seal ??= ObjectSeal.create(deps.vault, deps.random, { id, accountId: owner.accountId });
    const sealed = { vault: deps.vault, accountId: owner.accountId };
    const handovers = listHandovers(sealed, [...this.input, ...output]);
    const content: ObjectContent = { input: this.input, output, response, handovers };
    const bytes = sizeOf(content);
    return {
      id,
      kind: "response",
      ...owner,
      ...placeOf(id, chainEnd.next, bytes),
      status,
      model,
      isBackground: asked.isBackground,
      gatewayId: isRunning ? deps.gatewayId : null,
      isCancelRequested: false,
      bytes: bytes + eventBytes,
      createdAt: begun?.createdAt ?? now,
      endedAt: isRunning ? null : now,
      expiresAt: this.expiresAt(),
      sealed: this.seal.sealed,
      ciphertext: this.seal.sealContent(content),
    };
  }
}

/** The first request with an idempotency key was running when this one arrived, and has released the key before this one could wait for it. */
const REPEATED_TOO_EARLY: Failure = {
  code: "conflict",
  message: "The first request with this Idempotency-Key has just failed, at no cost. Send the request again.",
  metadata: { field: "Idempotency-Key" },
};

function placeOf(id: string, next: ChainPlace | null, bytes: number): ChainPlace {
  return next === null
    ? { rootId: id, sequence: 0, previousId: null, conversationId: null, chainBytes: bytes }
    : { ...next, chainBytes: next.chainBytes + bytes };
}
