import { matchPattern } from "../../base/text/match-pattern.ts";
import type { ProviderKeyRecord } from "./records.ts";

/** A decrypted BYOK key. Its secret is used only in requests to its provider. */
export interface ByokKey extends Pick<ProviderKeyRecord, "id" | "provider" | "models" | "members"> {
  /** Identifies the key and its secret in memory: another one after the secret was replaced. */
  readonly label: string;
  /** Null if it cannot be decrypted. */
  readonly secret: string | null;
}

/** The enabled keys of an account by provider, in the order in which they are tried. */
export type ByokKeys = ReadonlyMap<string, readonly ByokKey[]>;

/** Returns the label of a key with its current secret. It contains the nonce of the ciphertext, which is unique. */
export function labelOf({ id, sealed }: Pick<ProviderKeyRecord, "id" | "sealed">): string {
  return `${id}@${sealed.ciphertext.slice(0, NONCE_CHARS)}`;
}

/** Base64 of 12 bytes. */
const NONCE_CHARS = 16;

/** Returns the BYOK keys of a provider that may be used for a model and a user. `userId` is null for a service key. */
export function findUsable(
  keys: readonly ByokKey[],
  modelId: string,
  userId: string | null,
): readonly ByokKey[] {
  return keys.filter(({ models, members }) => servesModel(models, modelId) && servesUser(members, userId));
}

/** Whether a list of patterns contains a model. Null contains all. */
export function servesModel(models: readonly string[] | null, modelId: string): boolean {
  return models === null || models.some((pattern) => matchPattern(pattern, modelId));
}

function servesUser(members: readonly string[] | null, userId: string | null): boolean {
  return members === null || (userId !== null && members.includes(userId));
}
