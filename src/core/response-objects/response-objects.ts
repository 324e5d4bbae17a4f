import { GatewayError, rejectField } from "../../base/failures/errors.ts";
import type { RequestState } from "../../wire/client-apis/request/inference-request.ts";
import { CompactionAnswer } from "../../wire/openai-responses/state/compaction.ts";
import { type JoinedState, withoutOwnId } from "../../wire/openai-responses/state/join-input.ts";
import { type OpenedChain, openChain, openContent } from "./chains/open-chain.ts";
import { openCompaction, openCompactions, sealCompaction } from "./chains/own-compactions.ts";
import { deleteResponse, findResponse, listInputItems } from "./chains/read-objects.ts";
import { Conversations } from "./conversations.ts";
import { ResponseJobs } from "./jobs/response-jobs.ts";
import type { KeepDeps } from "./keep/keep-deps.ts";
import { KeptResponse, rejectFull } from "./keep/kept-response.ts";
import type { ObjectContent, ObjectOwner, StoredObject } from "./records/response-object.ts";

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
}

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
   * @throws GatewayError `invalid_request` under zero data retention, `payload_too_large` beyond a limit, and as `openChain`; StoreError.
   */
  async open(request: StatefulRequest): Promise<OpenedState> {
    const { state, owner, model } = request;
    const { asked } = state;
    const isKept = this.decideKept(request);
    const chain = await openChain(this.deps, owner, asked);
    const added = state.listAdded(chain.referenced);
    if (isKept) await this.requireRoom(request, chain, added);
    const isNative = request.compactsNatively && this.deps.settings().compactsNatively;
    const compacts = asked.compacts && !isNative;
    const compaction = compacts ? new CompactionAnswer(this.sealFor(owner)) : null;
    const body = state.join({ ...this.listJoined(request, chain), compacts });
    return {
      body,
      isStreamed: request.isStreamed,
      response: new KeptResponse(this.deps, { owner, asked, model, added, chain, body, isKept, compaction }),
    };
  }

  /** Returns what a request continues, as a vendor gets it. */
  private listJoined(
    { owner: { accountId }, state: { asked } }: StatefulRequest,
    { items, referenced }: OpenedChain,
  ): Omit<JoinedState, "compacts"> {
    const replaced = new Map([...referenced].map(([id, item]) => [id, withoutOwnId(item)]));
    for (const content of asked.compactions)
      replaced.set(content, openCompaction(this.deps, accountId, content));
    return { earlier: openCompactions(this.deps, accountId, items).map(withoutOwnId), replaced };
  }

  private sealFor({ accountId }: ObjectOwner): (handover: string) => string {
    return (handover) => sealCompaction(this.deps, accountId, handover);
  }

  /** Finds a response of a caller. @throws GatewayError `not_found`; StoreError. */
  async find(caller: ObjectOwner, id: string): Promise<FoundResponse> {
    const head = await findResponse(this.deps, caller, id);
    return { head, content: openContent(this.deps, head) };
  }

  /** Deletes a response as `deleteResponse`. */
  delete(caller: ObjectOwner, id: string): Promise<void> {
    return deleteResponse(this.deps, caller, id);
  }

  /** Lists the items that a response was made from as `listInputItems`. */
  listInputItems(caller: ObjectOwner, id: string): Promise<readonly string[]> {
    return listInputItems(this.deps, caller, id);
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
    { owner }: StatefulRequest,
    { next }: OpenedChain,
    added: readonly string[],
  ): Promise<void> {
    const { accountBytes, chainBytes } = this.deps.settings();
    const bytes = added.reduce((sum, item) => sum + Buffer.byteLength(item), 0);
    if ((next?.chainBytes ?? 0) + bytes > chainBytes) rejectLongChain(chainBytes);
    if ((await this.deps.store.sumBytes(owner.accountId)) + bytes > accountBytes) rejectFull(accountBytes);
  }
}

/** @throws GatewayError `payload_too_large`. */
function rejectLongChain(chainBytes: number): never {
  throw new GatewayError({
    code: "payload_too_large",
    message: `The conversation has reached ${chainBytes} bytes (responses.chain_bytes). Compact it with POST /v1/responses/compact, or begin a new one.`,
    metadata: { field: "input" },
  });
}
