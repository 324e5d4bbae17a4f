import { fail } from "../../../base/failures/errors.ts";
import type { ObjectContent, ObjectOwner, StoredObject } from "../records/response-object.ts";
import { mayAccess } from "./object-access.ts";
import { type ChainDeps, openContent } from "./open-chain.ts";

/**
 * Finds a response of a caller.
 * @throws GatewayError `not_found`; StoreError.
 */
export async function findResponse(deps: ChainDeps, caller: ObjectOwner, id: string): Promise<StoredObject> {
  const found = await deps.store.findObject(id, deps.clock.now());
  return found !== null && found.kind === "response" && mayAccess(caller, found) ? found : rejectUnknown(id);
}

function rejectUnknown(id: string): never {
  return fail(
    "not_found",
    `There is no response ${JSON.stringify(id.slice(0, 100))}. It was not sent with store: true, has expired, was deleted, or belongs to another key.`,
    { metadata: { field: "response_id" } },
  );
}

/**
 * Deletes a response of a caller. Later responses that continue it can no longer be continued.
 * @throws GatewayError `not_found`, `conflict` while it runs; StoreError.
 */
export async function deleteResponse(deps: ChainDeps, caller: ObjectOwner, id: string): Promise<void> {
  const { status } = await findResponse(deps, caller, id);
  if (status === "queued" || status === "in_progress")
    return fail(
      "conflict",
      `The response ${id} still runs. Cancel it with POST /v1/responses/${id}/cancel first.`,
    );
  await deps.store.deleteObject(id);
}

/**
 * Lists the items that a response was made from, as JSON: those of the chain before it, and its own input.
 * @throws GatewayError `not_found`; StoreError.
 */
export async function listInputItems(
  deps: ChainDeps,
  caller: ObjectOwner,
  id: string,
): Promise<readonly string[]> {
  const own = await findResponse(deps, caller, id);
  const chain = await readChainOf(deps, own);
  const contents = (chain.length === 0 ? [own] : chain).map((object) => openContent(deps, object));
  return contents.flatMap((content, at) => itemsOf(content, at === contents.length - 1));
}

/** Reads a response and all before it. In a conversation, turns may have been deleted. */
async function readChainOf({ store, clock }: ChainDeps, own: StoredObject): Promise<readonly StoredObject[]> {
  const { id, sequence, conversationId } = own;
  if (sequence === 0) return [own];
  if (conversationId === null) return store.readChain(id, clock.now());
  const objects = await store.readConversation(conversationId, clock.now());
  return objects.filter((object) => object.sequence <= sequence);
}

function itemsOf({ input, output }: ObjectContent, isLast: boolean): readonly string[] {
  return isLast ? input : [...input, ...output];
}
