import { fail } from "../../../base/failures/errors.ts";
import {
  type ObjectContent,
  type ObjectHead,
  type ObjectOwner,
  RUNNING,
  type StoredObject,
} from "../records/response-object.ts";
import { type StateMemory, whileReading } from "../records/state-memory.ts";
import { mayAccess } from "./object-access.ts";
import { type ChainDeps, isTurn, openContent } from "./open-chain.ts";

/**
 * Finds a response of a caller, without its contents.
 * @throws GatewayError `not_found`; StoreError.
 */
export async function findResponse(deps: ChainDeps, caller: ObjectOwner, id: string): Promise<ObjectHead> {
  const found = await deps.store.findHead(id, deps.clock.now());
  return found !== null && found.kind === "response" && mayAccess(caller, found) ? found : rejectUnknown(id);
}

/**
 * Reads a response of a caller.
 * @throws GatewayError `not_found`, and as `StateMemory.take`; StoreError.
 */
export async function readResponse(deps: ChainDeps, { caller, id, memory }: Reading): Promise<StoredObject> {
  const { bytes } = await findResponse(deps, caller, id);
  const read = () => deps.store.findObject(id, deps.clock.now());
  return (await whileReading(memory, bytes, read)) ?? rejectUnknown(id);
}

/** Who reads a response. */
export interface Reading {
  readonly caller: ObjectOwner;
  readonly id: string;
  readonly memory: StateMemory;
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
  if (RUNNING.includes(status))
    return fail(
      "conflict",
      `The response ${id} still runs. Cancel it with POST /v1/responses/${id}/cancel first.`,
    );
  await deps.store.deleteObject(id);
}

/**
 * Lists the items that a response was made from, as JSON: those of the chain before it, and its own input. Without a response before it, the
 * chain is only its own input.
 * @throws GatewayError `not_found`, and as `StateMemory.take`; StoreError.
 */
export async function listInputItems(
  deps: ChainDeps,
  { caller, id, memory }: Reading,
): Promise<readonly string[]> {
  const own = await findResponse(deps, caller, id);
  const chain = await whileReading(memory, own.chainBytes, () => readChainOf(deps, own));
  const contents = chain.map((object) => openContent(deps, object));
  return contents.flatMap((content, at) => itemsOf(content, at === contents.length - 1));
}

/** Reads a response and all before it that still exist. In a conversation, turns may have been deleted. */
async function readChainOf(
  { store, clock }: ChainDeps,
  { id, sequence, conversationId }: ObjectHead,
): Promise<readonly StoredObject[]> {
  if (conversationId !== null) {
    const objects = await store.readConversation(conversationId, clock.now());
    return objects.filter((object) => object.id === id || (object.sequence < sequence && isTurn(object)));
  }
  const chain = await store.readChain(id, clock.now());
  if (chain.length > 0) return chain;
  const own = await store.findObject(id, clock.now());
  return own === null ? [] : [own];
}

function itemsOf({ input, output }: ObjectContent, isLast: boolean): readonly string[] {
  return isLast ? input : [...input, ...output];
}
