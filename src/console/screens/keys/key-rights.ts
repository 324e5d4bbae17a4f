/** What the signed-in person may do with keys. The API decides; what it would reject is not offered. */
import type { Key, Me } from "../../api/schema.ts";
import { can, isSelf, leads, leadsAny } from "../../state/session.ts";

type OwnedKey = Pick<Key, "kind" | "user_id" | "team_id">;

/** Whether the person may set everything of a key: with the right to manage keys, or as lead of its team. */
export function managesKey({ kind, team_id }: OwnedKey): boolean {
  return can("manage_keys") || (kind === "inference" && leads(team_id));
}

/**
 * Whether the person may change, rotate and revoke a key. A management key of someone else may have the rights of an owner, so it needs
 * the right over owners.
 */
export function mayChangeKey(key: OwnedKey): boolean {
  if (key.kind === "management") return can("manage_keys") && (can("manage_owners") || isSelf(key.user_id));
  return managesKey(key) || (can("own_keys") && isSelf(key.user_id));
}

/** Whether the person makes keys for themselves only, within the bounds of their organization. */
export function makesOwnOnly(): boolean {
  return can("own_keys") && !can("manage_keys");
}

/** How many keys the person can still make within the bounds; null for no bound. */
export function countLeft({ own_keys }: Me): number | null {
  if (own_keys === null || own_keys.count === null) return null;
  return Math.max(0, own_keys.count - own_keys.used);
}

/** Whether the person may make a key. `me` is needed for those who make their own only; null while it is not known. */
export function mayMakeKey(me: Me | null): boolean {
  if (can("manage_keys") || leadsAny()) return true;
  return can("own_keys") && me !== null && countLeft(me) !== 0;
}
