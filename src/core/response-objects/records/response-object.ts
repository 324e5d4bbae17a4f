import type { SealedSecret } from "../../provider-keys/records.ts";

/** How far a response is. `completed` and all that follow are final. */
export type ResponseStatus = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** The states of a response that still runs. */
export const RUNNING: readonly ResponseStatus[] = ["queued", "in_progress"];

/** What an object is: a response, or items that were added to a conversation without one. */
export type ObjectKind = "response" | "items";

/** Who may read and continue an object: its person if it has one, otherwise its key. */
export interface ObjectOwner {
  readonly accountId: string;
  /** The person of the key; null for a key without one. */
  readonly userId: string | null;
  readonly keyId: string;
}

/** Where an object stands. A chain is an object, the object before it, and so on up to its root. */
export interface ChainPlace {
  /** The id of the first object of the chain, or of its conversation. */
  readonly rootId: string;
  /** The distance from the root; 0 for the first object. */
  readonly sequence: number;
  /** The object before; null for the first one. */
  readonly previousId: string | null;
  /** Null if the chain is no conversation. */
  readonly conversationId: string | null;
  /** The size of the chain up to and including this object, without events. Bytes. */
  readonly chainBytes: number;
}

/** What is known of an object without decrypting it. */
export interface ObjectHead extends ObjectOwner, ChainPlace {
  /** The id of the generation; of items, an id of their own. */
  readonly id: string;
  readonly kind: ObjectKind;
  readonly status: ResponseStatus;
  /** The id of the model that was requested; null for items. */
  readonly model: string | null;
  readonly isBackground: boolean;
  /** The gateway that runs the response; null if it has ended. */
  readonly gatewayId: string | null;
  /** Whether its cancellation was requested. The gateway that runs it notices. */
  readonly isCancelRequested: boolean;
  /** What the account's limit counts for it: `RECORD_BYTES`, its contents and its events. Bytes. */
  readonly bytes: number;
  /** A store returns the time in the id instead, if the id has one. Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Null while it runs. Milliseconds since the epoch. */
  readonly endedAt: number | null;
  /**
   * When the chain is deleted if it is not used again. All objects of a chain have the same time: an object that is added with a later one
   * extends it for all. Milliseconds since the epoch.
   */
  readonly expiresAt: number;
}

/** The texts of the gateway's compactions, by their ids. */
export type Handovers = Readonly<Record<string, string>>;

/** The contents of an object. Items are kept as the JSON that was sent, so that nothing of them is lost. */
export interface ObjectContent {
  /** The items that its request added, each with an id. */
  readonly input: readonly string[];
  /** The items of the answer. */
  readonly output: readonly string[];
  /** The response as the client got it, without `output`; null for items, and before a response has begun. */
  readonly response: string | null;
  /** The texts of the gateway's compactions among the items. */
  readonly handovers: Handovers;
}

/** What an object or a conversation takes besides its contents: its row, its places in indexes, and its data key. Bytes. */
export const RECORD_BYTES = 1024;

/** Returns the size of texts in UTF-8. Bytes. */
export function sumBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Returns what an object takes with its contents, without events. Bytes. */
export function sizeOf({ input, output, response, handovers }: ObjectContent): number {
  return RECORD_BYTES + sumBytes([...input, ...output, response ?? "", ...Object.values(handovers)]);
}

/** An object as it is stored. */
export interface StoredObject extends ObjectHead {
  /** The data key, encrypted with a master key. It stays the same as long as the object exists. */
  readonly sealed: SealedSecret;
  /** `ObjectContent`, encrypted with the data key (`sealContent`). */
  readonly ciphertext: Uint8Array;
}

/** A conversation, to which responses and items are added. */
export interface Conversation extends ObjectOwner {
  readonly id: string;
  /** The data key, encrypted with a master key. */
  readonly sealed: SealedSecret;
  /** The caller's key-value pairs as JSON, encrypted with the data key. */
  readonly ciphertext: Uint8Array;
  /** What the account's limit counts for it: `RECORD_BYTES`, and its metadata. */
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** That of its chain. Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Events of a running response that were written together. */
export interface EventGroup {
  /** The sequence numbers of the first and of the last event. */
  readonly first: number;
  readonly last: number;
  /** Server-sent events, encrypted with the data key of the response. */
  readonly ciphertext: Uint8Array;
}
