import { rejectField } from "../../base/failures/errors.ts";
import type { RequestState } from "../../wire/client-apis/request/inference-request.ts";
import { CompactionAnswer } from "../../wire/openai-responses/state/compaction.ts";
import {
  type AddedItem,
  type ItemsById,
  type JoinedState,
  withoutOwnId,
} from "../../wire/openai-responses/state/join-input.ts";
import { findReferenced } from "./chains/find-referenced.ts";
import { type ChainEnd, type ChainItems, findChainEnd, openContent, readItems } from "./chains/open-chain.ts";
import { openCompaction, openItem, sealCompaction, sinceCompaction } from "./chains/own-compactions.ts";
import { deleteResponse, listInputItems, type Reading, readResponse } from "./chains/read-objects.ts";
import { Conversations } from "./conversations.ts";
import { ResponseJobs } from "./jobs/response-jobs.ts";
import type { KeepDeps } from "./keep/keep-deps.ts";
import { type KeptRequest, KeptResponse } from "./keep/kept-response.ts";
import { rejectFull, rejectLongChain } from "./keep/limits.ts";
import {
  type ObjectContent,
  type ObjectOwner,
  RECORD_BYTES,
  type StoredObject,
  sumBytes,
} from "./records/response-object.ts";
import { type StateMemory, whileReading } from "./records/state-memory.ts";

/** A request that continues or keeps responses. */
export interface StatefulRequest {
  readonly owner: ObjectOwner;
  readonly model: string;
  readonly state: RequestState;
  readonly isStreamed: boolean;
  /** Every endpoint of its model makes compactions itself. */
  readonly compactsNatively: boolean;
  /** Nothing of it may be stored. */
  readonly zeroRetention: boolean;
  readonly memory: StateMemory;
  /** See `AnswerKeeper.sentHash`. */
  readonly sentHash: string | null;
}

/** A chain from its last compaction on, and the items that a request refers to. */
interface ReadChain extends ChainItems {
  readonly referenced: ItemsById;
}

/** What a request continues, and the items that it adds to it. */
interface Continued extends Pick<KeptRequest, "added" | "chainEnd" | "isKept" | "isJoined"> {
  readonly chain: ReadChain;
}

const NO_CHAIN: ReadChain = { items: [], handovers: {}, referenced: new Map() };

/** A request with state whose chain was read. */
export interface OpenedState {
  /** Its body with the items of its chain. */
  readonly body: Buffer;
  /** Whether the client asked for a stream. Background responses are always made as one. */
  readonly isStreamed: boolean;
  readonly response: KeptResponse;
}

/** A response with its decrypted contents. */
export interface FoundResponse {
  readonly head: StoredObject;
  readonly content: ObjectContent;
}

/** The responses that the gateway keeps (ADR 32). */
export class ResponseObjects {
  readonly conversations: Conversations;
  readonly jobs: ResponseJobs;

  constructor(private readonly deps: KeepDeps) {
    this.jobs = new ResponseJobs(deps);
    this.conversations = new Conversations(deps);
  }

  /** Whether a request that does not say so keeps its response. */
  get storesByDefault(): boolean {
    return this.deps.settings().storesByDefault;
  }

  /**
   * Reads what a request continues, and checks that its response can be kept.
   * @throws GatewayError `invalid_request` under zero data retention, `payload_too_large` beyond a limit, as `findChainEnd`, and as
   * `StateMemory.take`; StoreError.
   */
  async open(request: StatefulRequest): Promise<OpenedState> {
    const { owner, memory, state } = request;
    const isKept = this.decideKept(request);
    const chainEnd = await findChainEnd(this.deps, owner, state.asked);
    const chainBytes = chainEnd.last?.chainBytes ?? 0;
    const opened = await whileReading(memory, chainBytes, () => this.join(request, { isKept, chainEnd }));
    memory.take(opened.body.length + opened.response.inputBytes);
    return opened;
  }

  /**
   * Prepares a request that repeats another one, whose answer it gets. Reads nothing of what it continues, which the first request may have
   * changed, or may be using. Its response cannot begin.
   * @throws GatewayError `invalid_request` under zero data retention, and as `StateMemory.take`.
   */
  openRepeated(request: StatefulRequest): OpenedState {
    const isKept = this.decideKept(request);
    const nothing = { chain: NO_CHAIN, added: [], chainEnd: { last: null, next: null }, isKept };
    const opened = this.prepare(request, { ...nothing, isJoined: false });
    request.memory.take(opened.body.length);
    return opened;
  }

  /** Reads the chain, and joins the request with it. */
  private async join(
    request: StatefulRequest,
    { isKept, chainEnd }: { readonly isKept: boolean; readonly chainEnd: ChainEnd },
  ): Promise<OpenedState> {
    const chain = await this.readChain(request, chainEnd);
    const added = request.state.listAdded(chain.referenced);
    if (isKept) await this.requireRoom(request, chainEnd, added);
    return this.prepare(request, { chain, added, chainEnd, isKept, isJoined: true });
  }

  private prepare(request: StatefulRequest, { chain, ...continued }: Continued): OpenedState {
    const { state, owner, model, isStreamed, sentHash } = request;
    const { asked } = state;
    const isNative = request.compactsNatively && this.deps.settings().compactsNatively;
    const compacts = asked.compacts && !isNative;
    const compaction = compacts ? new CompactionAnswer(this.sealFor(owner)) : null;
    const body = state.join({ ...this.listJoined(request, chain), compacts });
    const kept = { ...continued, owner, asked, model, body, compaction, sentHash };
    return { body, isStreamed, response: new KeptResponse(this.deps, kept) };
  }

  private async readChain({ owner, state: { asked } }: StatefulRequest, end: ChainEnd): Promise<ReadChain> {
    const { items: chain, handovers } = await readItems(this.deps, end);
    const maxBytes = this.deps.settings().chainBytes;
    const referenced = await findReferenced(this.deps, owner, { ids: asked.references, chain, maxBytes });
    return { items: sinceCompaction(chain), handovers, referenced };
  }

  /** Returns what a request continues, as a vendor gets it. */
  private listJoined(
    { owner: { accountId }, state: { asked } }: StatefulRequest,
    { items, handovers, referenced }: ReadChain,
  ): Omit<JoinedState, "compacts"> {
    const deps = { vault: this.deps.vault, accountId };
    const open = (item: string) => withoutOwnId(openItem(deps, item, handovers));
    const replaced = new Map([...referenced].map(([id, item]) => [id, open(item)]));
    for (const content of asked.compactions) replaced.set(content, openCompaction(deps, content, handovers));
    return { earlier: items.map(open), replaced };
  }

  private sealFor({ accountId }: ObjectOwner): (handover: string) => string {
    return (handover) => sealCompaction(this.deps, accountId, handover);
  }

  /** Finds a response of a caller. @throws GatewayError `not_found`, and as `StateMemory.take`; StoreError. */
  async find(reading: Reading): Promise<FoundResponse> {
    const head = await readResponse(this.deps, reading);
    return { head, content: openContent(this.deps, head) };
  }

  /** Deletes a response as `deleteResponse`. */
  delete(caller: ObjectOwner, id: string): Promise<void> {
    return deleteResponse(this.deps, caller, id);
  }

  /** Lists the items that a response was made from as `listInputItems`. */
  listInputItems(reading: Reading): Promise<readonly string[]> {
    return listInputItems(this.deps, reading);
  }

  private decideKept({ state: { asked }, zeroRetention }: StatefulRequest): boolean {
    const { store, isBackground, conversationId } = asked;
    const isAsked = store === true || isBackground || (conversationId !== null && store !== false);
    if (!zeroRetention) return isAsked || (store === null && this.storesByDefault);
    if (!isAsked) return false;
    return rejectField(
      isBackground ? "background" : store === true ? "store" : "conversation",
      "must be left out: this request is under zero data retention (provider.zdr, or a policy)",
    );
  }

  private async requireRoom(
    { owner, state }: StatefulRequest,
    { next }: ChainEnd,
    added: readonly AddedItem[],
  ): Promise<void> {
    const { accountBytes, chainBytes } = this.deps.settings();
    // Its response repeats other fields of the request, such as tools.
    const items = sumBytes(added.map(({ item }) => item));
    const bytes = RECORD_BYTES + Math.max(items, state.bytes);
    if ((next?.chainBytes ?? 0) + bytes > chainBytes) rejectLongChain(chainBytes);
    if ((await this.deps.store.sumBytes(owner.accountId)) + bytes > accountBytes) rejectFull(accountBytes);
  }
}
