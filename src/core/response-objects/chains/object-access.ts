import type { AccountPrincipal } from "../../accounts/records/principal.ts";
import type { ObjectOwner } from "../records/response-object.ts";

/** Returns the owner of what a key keeps. */
export function ownerOf({ account, key }: AccountPrincipal): ObjectOwner {
  return { accountId: account.id, userId: key.userId, keyId: key.id };
}

/** Whether a caller may read and continue what an owner has: as the same person if it belongs to one, otherwise with the same key. */
export function mayAccess(caller: ObjectOwner, owner: ObjectOwner): boolean {
  if (caller.accountId !== owner.accountId) return false;
  return owner.userId === null ? caller.keyId === owner.keyId : caller.userId === owner.userId;
}
