import { matchPattern } from "../../base/match-pattern.ts";
import type { ProviderKeyRecord } from "./records.ts";

/** One of an account's own keys, opened. The secret goes into requests to its provider and nowhere else. */
export interface ByokKey extends Pick<ProviderKeyRecord, "id" | "provider" | "models" | "members"> {
  /** Tells keys apart in memory; another one once the secret was replaced. */
  readonly label: string;
  /** Null where it cannot be opened. */
  readonly secret: string | null;
}

/** The keys of an account that are enabled, by provider, in the order they are tried. */
export type ByokKeys = ReadonlyMap<string, readonly ByokKey[]>;

/** The label of a key with the secret that it has now: each sealing begins with a nonce of its own. */
export function labelOf({ id, sealed }: Pick<ProviderKeyRecord, "id" | "sealed">): string {
  return `${id}@${sealed.box.slice(0, NONCE_CHARS)}`;
}

/** Base64 of 12 bytes. */
const NONCE_CHARS = 16;

/** Own keys of a provider that serve this model for this user; `userId` is null for a service key. */
export function findUsable(
  own: ByokKeys,
  provider: string,
  modelId: string,
  userId: string | null,
): readonly ByokKey[] {
  const keys = own.get(provider) ?? NONE;
  return keys.filter(({ models, members }) => servesModel(models, modelId) && servesUser(members, userId));
}

const NONE: readonly ByokKey[] = [];

/** Whether a list of patterns has a model; null has all. */
export function servesModel(models: readonly string[] | null, modelId: string): boolean {
  return models === null || models.some((pattern) => matchPattern(pattern, modelId));
}

function servesUser(members: readonly string[] | null, userId: string | null): boolean {
  return members === null || (userId !== null && members.includes(userId));
}
