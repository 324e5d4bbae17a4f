import type { Shown } from "../accounts/resource-fields.ts";
import type { PROVIDER_KEY_SETTINGS } from "./provider-key-fields.ts";

/** A secret as it is kept: what is in it opens with that master key alone. */
export interface SealedSecret {
  readonly masterKeyId: string;
  /** Nonce, tag and ciphertext, base64. */
  readonly box: string;
}

/** An account's own provider key (BYOK), with its secret encrypted. `PROVIDER_KEY_SETTINGS` declares the fields that can be changed. */
export interface ProviderKeyRecord extends Shown<typeof PROVIDER_KEY_SETTINGS> {
  readonly id: string;
  /** Whose it is: a user or an organization. */
  readonly accountId: string;
  /** Slug. */
  readonly provider: string;
  /** The secret's last characters, to tell keys apart by. */
  readonly lastFour: string;
  readonly sealed: SealedSecret;
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
