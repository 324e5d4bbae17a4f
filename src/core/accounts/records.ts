/** An API key as stored: its secret is not among it. */
export interface KeyRecord {
  readonly id: string;
  /** Inference keys call models; management keys manage and never infer. */
  readonly kind: "inference" | "management";
  /** Who pays. There is one account until accounts are managed. */
  readonly accountId: string;
  readonly name: string;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  /** The secret's first and last characters, to tell keys apart by. */
  readonly hint: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** The account that all keys belong to until accounts are managed. */
export const DEFAULT_ACCOUNT_ID = "acct_default";

/** Who makes a request. */
export type Caller =
  | { readonly kind: "key"; readonly key: KeyRecord }
  /** No key: free models only, limited by address. `addressHash` is a keyed hash. */
  | { readonly kind: "anonymous"; readonly addressHash: string };
