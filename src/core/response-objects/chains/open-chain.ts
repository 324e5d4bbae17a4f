import { fail } from "../../../base/failures/errors.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import type { Random } from "../../../base/secrets/random.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { ItemsById } from "../../../wire/openai-responses/state/join-input.ts";
import type { AskedState } from "../../../wire/openai-responses/state/read-state.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import type {
  ChainPlace,
  ObjectContent,
  ObjectHead,
  ObjectOwner,
  StoredObject,
} from "../records/response-object.ts";
import { RUNNING } from "../records/response-object.ts";
import type { ResponseStore } from "../records/response-store.ts";
import { ObjectSeal } from "../records/seal-object.ts";
import { mayAccess } from "./object-access.ts";
import { sinceCompaction } from "./own-compactions.ts";

/** What reading chains needs. */
export interface ChainDeps {
  readonly store: ResponseStore;
  readonly vault: Vault;
  readonly random: Random;
  readonly clock: Clock;
}

/** The chain that a request continues. */
export interface OpenedChain {
  /** Its items in their order, as JSON. */
  readonly items: readonly string[];
  /** The items that the request refers to, by id. */
  readonly referenced: ItemsById;
  /** Where the next object of the chain stands; null for a chain that begins. Its bytes are those of the chain so far. */
  readonly next: ChainPlace | null;
  /** When the chain expires unless it is used. Milliseconds since the epoch; null for a chain that begins. */
  readonly expiresAt: number | null;
}

const NO_REFERENCED: ItemsById = new Map();

/**
 * Reads the chain and the items that a request refers to.
 * @throws GatewayError `previous_response_not_found`, `not_found`, `conflict`; StoreError.
 */
export async function openChain(
  deps: ChainDeps,
  caller: ObjectOwner,
  asked: Pick<AskedState, "previousId" | "conversationId" | "references">,
): Promise<OpenedChain> {
  const { previousId, conversationId, references } = asked;
  const objects =
    conversationId !== null
      ? await readConversation(deps, caller, conversationId)
      : previousId === null
        ? []
        : await readResponses(deps, caller, previousId);
  const contents = objects.map((object) => openContent(deps, object));
  const all = contents.flatMap(({ input, output }) => [...input, ...output]);
  const items = sinceCompaction(all);
  const last = objects.at(-1);
  return {
    items,
    referenced: references.length === 0 ? NO_REFERENCED : await findReferenced(deps, caller, references, all),
    next: placeAfter(last, conversationId),
    expiresAt: last?.expiresAt ?? null,
  };
}

/** Returns the place of the object that follows `last`; null for the first one outside of a conversation, whose root is itself. */
function placeAfter(last: ObjectHead | undefined, conversationId: string | null): ChainPlace | null {
  if (last !== undefined) {
    const { id, rootId, sequence, chainBytes } = last;
    return { rootId, sequence: sequence + 1, previousId: id, conversationId, chainBytes };
  }
  if (conversationId === null) return null;
  return { rootId: conversationId, sequence: 0, previousId: null, conversationId, chainBytes: 0 };
}

async function readResponses(
  { store, clock }: ChainDeps,
  caller: ObjectOwner,
  id: string,
): Promise<readonly StoredObject[]> {
  const chain = await store.readChain(id, clock.now());
  const last = chain.at(-1);
  if (last === undefined || last.kind !== "response" || !mayAccess(caller, last)) return rejectPrevious(id);
  if (RUNNING.includes(last.status))
    return fail("conflict", `The response ${id} still runs. Continue it when it has ended.`, {
      metadata: { field: "previous_response_id" },
    });
  return chain;
}

/** The first words are those of OpenAI. @throws GatewayError, as the specification of Open Responses demands ("WebSocket Errors", 2026-04-24). */
export function rejectPrevious(id: string): never {
  return fail(
    "previous_response_not_found",
    `Previous response with id '${id.slice(0, 100)}' not found. It was not sent with store: true, has expired, was deleted, or belongs to another key. Without store, a response is kept on its WebSocket until the next one. Send the whole conversation in input.`,
    { metadata: { field: "previous_response_id" } },
  );
}

async function readConversation(
  deps: ChainDeps,
  caller: ObjectOwner,
  id: string,
): Promise<readonly StoredObject[]> {
  const { store, clock } = deps;
  const now = clock.now();
  const conversation = await store.findConversation(id, now);
  if (conversation === null || !mayAccess(caller, conversation))
    return fail("not_found", `There is no conversation ${JSON.stringify(id.slice(0, 100))}.`, {
      metadata: { field: "conversation" },
    });
  const last = await store.findLast(id, now);
  if (last === null) return [];
  if (RUNNING.includes(last.status)) return rejectLocked(id);
  return store.readConversation(id, now);
}

/** @throws GatewayError `conflict`: two responses of one conversation cannot be made at the same time. */
export function rejectLocked(id: string): never {
  return fail(
    "conflict",
    `The conversation ${id} is in use by another response. Wait until that has ended.`,
    {
      metadata: { field: "conversation" },
    },
  );
}

/**
 * Decrypts the contents of an object.
 * @throws GatewayError `not_found` if its master key is not known.
 */
export function openContent({ vault, random }: ChainDeps, object: StoredObject): ObjectContent {
  const seal = ObjectSeal.open(vault, random, object);
  if (seal === null)
    return fail(
      "not_found",
      `The response ${object.id} was encrypted with a master key that this gateway does not have.`,
    );
  return seal.openContent(object.ciphertext);
}

/** Finds items by their ids, in the chain or in other objects of the caller. Unknown ones are absent. */
async function findReferenced(
  deps: ChainDeps,
  caller: ObjectOwner,
  ids: readonly string[],
  chain: readonly string[],
): Promise<ItemsById> {
  const wanted = new Set(ids);
  const found = new Map<string, string>();
  const look = (items: readonly string[]): void => {
    for (const item of items) {
      const id = tryParseFields(item)?.["id"];
      if (typeof id === "string" && wanted.delete(id)) found.set(id, item);
    }
  };
  look(chain);
  if (wanted.size === 0) return found;
  const objects = await deps.store.findByItems(caller, [...wanted], deps.clock.now());
  for (const object of objects) {
    if (!mayAccess(caller, object)) continue;
    const { input, output } = openContent(deps, object);
    look([...input, ...output]);
  }
  return found;
}
