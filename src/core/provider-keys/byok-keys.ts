import { matchPattern } from "../../base/text/match-pattern.ts";
import type { ProviderKeyRecord } from "./records.ts";

/** A decrypted BYOK key. Its secret is used only in requests to its provider. */
export interface ByokKey extends Pick<ProviderKeyRecord, "id" | "provider" | "models" | "members" | "teams"> {
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

/** Whose request it is: the user and the team of the API key. Null for a service key, and for a key without a team. */
interface Caller {
  readonly userId: string | null;
  readonly teamId: string | null;
}

/** Returns the BYOK keys of a provider that may be used for a model and a caller. */
export function findUsable(
  keys: readonly ByokKey[],
  modelId: string,
  { userId, teamId }: Caller,
): readonly ByokKey[] {
  return keys.filter(
    ({ models, members, teams }) =>
      servesModel(models, modelId) && contains(members, userId) && contains(teams, teamId),
  );
}

/** Whether a list of patterns contains a model. Null contains all. */
export function servesModel(models: readonly string[] | null, modelId: string): boolean {
  return models === null || models.some((pattern) => matchPattern(pattern, modelId));
}

/** Whether a list of ids contains one. Null contains all, also the absence of an id. */
function contains(ids: readonly string[] | null, id: string | null): boolean {
  return ids === null || (id !== null && ids.includes(id));
}
