/** The configuration of response objects. A reload replaces it as a whole. */
export interface ResponseSettings {
  /** Whether a response is kept if its request does not say. */
  readonly storesByDefault: boolean;
  /** Whether vendors that can make compactions make them. */
  readonly compactsNatively: boolean;
  /** How long a chain is kept after its last use. Milliseconds. */
  readonly retentionMs: number;
  /** How long a background response may take. Milliseconds. */
  readonly backgroundMs: number;
  /** The size of all objects of an account. Bytes. */
  readonly accountBytes: number;
  /** The size of the items of one chain. Bytes. */
  readonly chainBytes: number;
}
