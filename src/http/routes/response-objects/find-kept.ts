import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { rejectUnknownResponse } from "../../../core/response-objects/manage/managed-responses.ts";
import type { ObjectHead } from "../../../core/response-objects/records/response-object.ts";
import { leadsTeam, mayRead, readScopeOf } from "../../api/access.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { hasRight, requireRight } from "../../middleware/authorize.ts";

/** An object that the principal may read. */
interface ReadableObject {
  readonly head: ObjectHead;
  /** The team of its key; null for a key without one. */
  readonly teamId: string | null;
}

/**
 * Finds an object by its id, or the last one of a conversation, if the principal may read the requests of its key. The error does not reveal
 * whether there is one.
 * @throws GatewayError `not_found`; StoreError.
 */
export async function findKept(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  id: string,
): Promise<ReadableObject> {
  const head = await deps.resources.responses.find(id);
  if (head === null) return rejectUnknownResponse();
  const teamId = (await findTeams(deps, [head])).get(head.keyId) ?? null;
  return mayRead(principal, { ...head, teamId }) ? { head, teamId } : rejectUnknownResponse();
}

/** Returns those objects that the principal may read: one person may use keys of several teams in a chain. */
export async function onlyReadable(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  heads: readonly ObjectHead[],
): Promise<readonly ObjectHead[]> {
  if (readScopeOf(principal) === null) return heads.filter((head) => mayRead(principal, head));
  const teams = await findTeams(deps, heads);
  return heads.filter((head) => mayRead(principal, { ...head, teamId: teams.get(head.keyId) ?? null }));
}

/** Returns the teams of keys by the ids of these. A key never changes its team. */
async function findTeams(
  { resources: { keyStores } }: StoreDeps,
  heads: readonly ObjectHead[],
): Promise<ReadonlyMap<string, string>> {
  const teams = new Map<string, string>();
  for (const keyId of new Set(heads.map((head) => head.keyId))) {
    const teamId = (await keyStores.keys.findKey(keyId))?.teamId ?? null;
    if (teamId !== null) teams.set(keyId, teamId);
  }
  return teams;
}

/** Returns whether a principal may cancel and delete an object that it may read: with `manage`, as a lead of its team, or if it is its own. */
export function mayChange(principal: ManagementPrincipal, { head, teamId }: ReadableObject): boolean {
  if (hasRight(principal, "manage") || leadsTeam(principal, teamId)) return true;
  const isOwn = principal.kind === "key" && head.userId !== null && head.userId === principal.key.userId;
  return isOwn && hasRight(principal, "call");
}

/**
 * Finds an object that the principal may change.
 * @throws GatewayError as `findKept`; `permission_denied`.
 */
export async function findChangeable(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  id: string,
): Promise<ObjectHead> {
  const found = await findKept(deps, principal, id);
  if (!mayChange(principal, found)) requireRight(principal, "manage");
  return found.head;
}
