/** A secret as it is kept: what is in it opens with that master key alone. */
export interface SealedSecret {
  readonly masterKeyId: string;
  /** Nonce, tag and ciphertext, base64. */
  readonly box: string;
}

/** A key at a provider that an account brings. Its secret is not among it but sealed. */
export interface ProviderKeyRecord {
  readonly id: string;
  /** Whose it is: a user or an organization. */
  readonly accountId: string;
  /** Slug. */
  readonly provider: string;
  readonly name: string;
  /** The secret's last characters, to tell keys apart by. */
  readonly lastFour: string;
  readonly sealed: SealedSecret;
  /** Keys of one provider are tried from the lowest on. */
  readonly order: number;
  readonly enabled: boolean;
  /** Patterns of the models that it serves, `*` for any characters; null: all. */
  readonly models: readonly string[] | null;
  /** Users that it serves; null: whoever the account pays for. */
  readonly members: readonly string[] | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastUsedAt: number | null;
  readonly lastError: KeyFailure | null;
}

/** Why a provider did not take a key, or did not answer with it. */
export interface KeyFailure {
  /** For people, without secrets. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What using a key has come to. */
export interface KeyUse {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly usedAt: number;
  /** Null where nothing was wrong. */
  readonly error: KeyFailure | null;
}
