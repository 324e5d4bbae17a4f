import type { SealedSecret } from "../../provider-keys/records.ts";
import type { StepReport } from "../../usage/records/retention.ts";
import type { Conversation, EventGroup, ObjectHead, ObjectOwner, StoredObject } from "./response-object.ts";

/** Whether an object was added. `taken`: the conversation has an object at this place already. `full`: the account has no room left. */
export type AddOutcome = "added" | "taken" | "full";

/** A running response, and the gateway at which it runs; null if it was released. */
export type Run = Pick<ObjectHead, "id" | "gatewayId">;

/** A running response, as its gateway looks for what others have done to it. */
export type RunningResponse = Pick<ObjectHead, "id" | "isCancelRequested">;

/** What changes when a response goes on or ends. */
export interface ObjectChange
  extends Pick<StoredObject, "status" | "gatewayId" | "bytes" | "chainBytes" | "endedAt" | "ciphertext"> {}

/** What selects heads of an account, the newest first. */
export interface ObjectQuery {
  readonly accountId: string;
  readonly userId: string | null;
  readonly keyId: string | null;
  readonly conversationId: string | null;
  readonly isBackground: boolean | null;
  readonly status: ObjectHead["status"] | null;
  /** Only objects before this id; null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** The ciphertext of a data key that another master key has sealed. */
export interface SealedRow {
  readonly id: string;
  readonly accountId: string;
  readonly sealed: SealedSecret;
}

/**
 * Stores response objects, conversations and the events of running responses. All methods may reject with a `StoreError`. An object that
 * has expired is not found. Ids of items belong to the object that has them. Several processes may share a store.
 */
export interface ResponseStore {
  /**
   * Adds an object with the ids of its items, and its bytes to those of the account, in one transaction. Adds nothing if the account would
   * then have more than `maxAccountBytes`, or if its place in a conversation is taken. An object that is there already counts as added.
   */
  addObject(object: StoredObject, itemIds: readonly string[], maxAccountBytes: number): Promise<AddOutcome>;
  /**
   * Changes an object and adds ids of items, if it still runs where `run` says. Returns whether it does. The limit of the account is not
   * applied: the response exists already.
   */
  changeObject(run: Run, change: ObjectChange, itemIds: readonly string[]): Promise<boolean>;
  /**
   * Replaces the contents of an object of kind `items` or of an ended response, after an item was deleted from it, if they are still those of
   * `before`. Returns whether they were. `chainBytes` of this and of later objects stay: they are upper bounds afterwards.
   */
  replaceContent(
    before: Pick<StoredObject, "id" | "ciphertext">,
    content: Pick<StoredObject, "ciphertext" | "bytes">,
    removedItemIds: readonly string[],
  ): Promise<boolean>;
  findObject(id: string, now: number): Promise<StoredObject | null>;
  /** Finds an object without reading its contents. */
  findHead(id: string, now: number): Promise<ObjectHead | null>;
  /** Reads an object and all before it in its chain by one statement, the root first; empty if it is not found, or one before it is missing. */
  readChain(id: string, now: number): Promise<readonly StoredObject[]>;
  /** Reads the objects of a conversation in their order. Those that were deleted are absent. */
  readConversation(id: string, now: number): Promise<readonly StoredObject[]>;
  /** Lists the heads of all objects with a root, those of branches too, by their sequence from the root on, and then by time. */
  listChain(rootId: string, now: number, limit: number): Promise<readonly ObjectHead[]>;
  /** Returns the last object of a conversation, whose successor has the next place; null if it is empty. */
  findLast(conversationId: string, now: number): Promise<ObjectHead | null>;
  /** Returns, for each of these ids of items, the newest object of an owner that has the item, or of a conversation. Each is returned once. */
  findByItems(
    owner: ObjectOwner,
    itemIds: readonly string[],
    now: number,
    conversationId?: string,
  ): Promise<readonly ObjectHead[]>;
  listHeads(query: ObjectQuery, now: number): Promise<readonly ObjectHead[]>;
  /** Deletes an object with its events and ids of items. Returns whether it existed. Objects after it in the chain stay, and can no longer be joined. */
  deleteObject(id: string): Promise<boolean>;
  /** Lets a chain expire at `expiresAt`, unless it expires later already. */
  touchChain(rootId: string, expiresAt: number): Promise<void>;
  /** Returns how many bytes the objects and conversations of an account have. */
  sumBytes(accountId: string): Promise<number>;

  /** Adds a conversation as `addObject` adds an object: `added`, or `full`. One that is there already counts as added. */
  addConversation(conversation: Conversation, maxAccountBytes: number): Promise<AddOutcome>;
  findConversation(id: string, now: number): Promise<Conversation | null>;
  /** Replaces the metadata of a conversation. The limit of the account is not applied. Returns whether there is one. */
  changeConversation(id: string, content: Pick<Conversation, "ciphertext" | "bytes">): Promise<boolean>;
  /** Deletes up to `limit` objects of kind `items` of a conversation. Returns how many were deleted. */
  deleteItemsOf(conversationId: string, limit: number): Promise<number>;
  /** Deletes a conversation. Its objects stay, as OpenAI's API documents. */
  deleteConversation(id: string): Promise<boolean>;

  /** Requests that a running response is cancelled. Returns whether it runs. */
  requestCancel(id: string): Promise<boolean>;
  /** Returns the responses that run at a gateway. */
  listRunning(gatewayId: string): Promise<readonly RunningResponse[]>;
  /** Returns the gateways at which responses run. */
  listRunningGateways(): Promise<readonly string[]>;
  /** Releases the responses of a gateway that is gone. It can neither change them nor add events afterwards, if it still exists. */
  releaseRunning(gatewayId: string): Promise<void>;
  /** Returns running responses that were released, also by a backup, after an id, at most `limit`. */
  listReleased(afterId: string | null, limit: number): Promise<readonly StoredObject[]>;
  /** Adds events of a response if it still runs where `run` says. Returns whether it does. Groups that are there already are kept. */
  addEvents(run: Run, groups: readonly EventGroup[]): Promise<boolean>;
  /** Returns the groups of a response's events from the one that contains the event `from` on, in their order, at most `limit`. */
  readEvents(responseId: string, from: number, limit: number): Promise<readonly EventGroup[]>;

  /** Returns when the first chain expires; null if nothing is stored. Milliseconds since the epoch. */
  findNextExpiry(): Promise<number | null>;
  /** Lets up to `limit` chains that expire after `latest` expire then. Returns how many. */
  limitExpiry(latest: number, limit: number): Promise<number>;
  /** Deletes up to `limit` expired objects and conversations. Returns how many were deleted. */
  deleteExpired(now: number, limit: number): Promise<number>;
  /** Deletes up to `limit` of all objects and conversations of a closed account. Returns how many were deleted. */
  deleteOfAccount(accountId: string, limit: number): Promise<number>;
  /** Lists the ids of the accounts with objects or conversations, after an id. */
  listAccounts(afterId: string | null, limit: number): Promise<readonly string[]>;
  /**
   * Returns space of deleted objects to the system, in one bounded step. Space of the days from `firstKept` on stays for new objects. Days
   * are counted from the epoch.
   */
  releaseSpace(firstKept: number): Promise<StepReport>;

  /** Lists rows whose data keys are sealed with other master keys, after an id. Ids of all kinds of rows are in one order. */
  listSealedByOthers(
    masterKeyId: string,
    afterId: string | null,
    limit: number,
  ): Promise<readonly SealedRow[]>;
  /** Replaces a sealed data key if it is still the former one. */
  reseal(id: string, before: SealedSecret, after: SealedSecret): Promise<boolean>;
  listMasterKeysInUse(): Promise<readonly string[]>;
}
