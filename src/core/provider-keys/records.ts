import type { Shown } from "../accounts/fields/resource-fields.ts";
import type { PROVIDER_KEY_SETTINGS } from "./provider-key-fields.ts";

/** An encrypted secret, as stored. */
export interface SealedSecret {
  readonly masterKeyId: string;
  /** Nonce, tag and ciphertext, base64. */
  readonly ciphertext: string;
}

/** A BYOK key, with its secret encrypted. `PROVIDER_KEY_SETTINGS` declares the fields that can be changed. */
export interface ProviderKeyRecord extends Shown<typeof PROVIDER_KEY_SETTINGS> {
  readonly id: string;
  /** The owner: a user or an organization. */
  readonly accountId: string;
  /** Slug. */
  readonly provider: string;
  /** The last characters of the secret, by which users distinguish keys. */
  readonly lastFour: string;
  readonly sealed: SealedSecret;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastUsedAt: number | null;
  readonly lastError: KeyFailure | null;
}

/** Why a provider rejected a key or did not answer. */
export interface KeyFailure {
  /** A readable message without secrets. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The last use of a key and its outcome. */
export interface ProviderKeyUse {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly usedAt: number;
  /** Null if it succeeded. */
  readonly error: KeyFailure | null;
}
