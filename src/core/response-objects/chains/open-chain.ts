import { fail } from "../../../base/failures/errors.ts";
import type { Random } from "../../../base/secrets/random.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { DAY_MS } from "../../../base/time/time.ts";
import type { AskedState } from "../../../wire/openai-responses/state/read-state.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import type {
  ChainPlace,
  Conversation,
  Handovers,
  ObjectContent,
  ObjectHead,
  ObjectOwner,
  StoredObject,
} from "../records/response-object.ts";
import { RUNNING } from "../records/response-object.ts";
import type { ResponseSettings } from "../records/response-settings.ts";
import type { ResponseStore } from "../records/response-store.ts";
import { ObjectSeal } from "../records/seal-object.ts";
import { mayAccess } from "./object-access.ts";

/** What reading chains needs. */
export interface ChainDeps {
  readonly store: ResponseStore;
  readonly vault: Vault;
  readonly random: Random;
  readonly clock: Clock;
  readonly settings: () => Pick<ResponseSettings, "retentionMs">;
}

/** The place of a response in its chain. */
export interface ChainEnd {
  /** The object that it continues; null if it is the first one. */
  readonly last: ObjectHead | null;
  /** Where the response stands; null for a chain that begins with it. Its bytes are those of the chain so far. */
  readonly next: ChainPlace | null;
}

/**
 * Finds what a request continues, and reads only its head. A chain lives on when it is used, which is noted once a day.
 * @throws GatewayError `previous_response_not_found`, `not_found`, `conflict`; StoreError.
 */
export async function findChainEnd(
  deps: ChainDeps,
  caller: ObjectOwner,
  { previousId, conversationId }: Pick<AskedState, "previousId" | "conversationId">,
): Promise<ChainEnd> {
  const last =
    conversationId !== null
      ? await findLastOf(deps, caller, conversationId)
      : previousId === null
        ? null
        : await findPrevious(deps, caller, previousId);
  if (last !== null) await touch(deps, last);
  return { last, next: placeAfter(last, conversationId) };
}

async function touch(
  { store, clock, settings }: ChainDeps,
  { rootId, expiresAt }: ObjectHead,
): Promise<void> {
  const latest = clock.now() + settings().retentionMs;
  if (latest - expiresAt >= DAY_MS) await store.touchChain(rootId, latest);
}

/** Returns the place of the object that follows `last`; null for the first one outside of a conversation, whose root is itself. */
function placeAfter(last: ObjectHead | null, conversationId: string | null): ChainPlace | null {
  if (last !== null) {
    const { id, rootId, sequence, chainBytes } = last;
    return { rootId, sequence: sequence + 1, previousId: id, conversationId, chainBytes };
  }
  if (conversationId === null) return null;
  return { rootId: conversationId, sequence: 0, previousId: null, conversationId, chainBytes: 0 };
}

async function findPrevious(
  { store, clock }: ChainDeps,
  caller: ObjectOwner,
  id: string,
): Promise<ObjectHead> {
  const previous = await store.findHead(id, clock.now());
  if (previous === null || previous.kind !== "response" || !mayAccess(caller, previous))
    return rejectPrevious(id);
  if (RUNNING.includes(previous.status))
    return fail("conflict", `The response ${id} still runs. Continue it when it has ended.`, {
      metadata: { field: "previous_response_id" },
    });
  return previous;
}

/** What was read of a chain up to its end. */
export interface ChainItems {
  /** In their order, as JSON. */
  readonly items: readonly string[];
  readonly handovers: Handovers;
}

const NOTHING: ChainItems = { items: [], handovers: {} };

/** Whether an object is a turn of its conversation: the items of a response that has failed or was cancelled are no part of it. */
export function isTurn({ status }: ObjectHead): boolean {
  return status !== "failed" && status !== "cancelled";
}

/** Reads the items of a chain up to its end. @throws GatewayError `previous_response_not_found`; StoreError. */
export async function readItems(deps: ChainDeps, { last, next }: ChainEnd): Promise<ChainItems> {
  if (last === null) return NOTHING;
  const { store, clock } = deps;
  const conversationId = next?.conversationId ?? null;
  const objects =
    conversationId === null
      ? await store.readChain(last.id, clock.now())
      : (await store.readConversation(conversationId, clock.now())).filter(isTurn);
  if (conversationId === null && objects.length === 0) rejectPrevious(last.id);
  const contents = objects.map((object) => openContent(deps, object));
  return {
    items: contents.flatMap(({ input, output }) => [...input, ...output]),
    handovers: Object.assign({}, ...contents.map(({ handovers }) => handovers)) as Handovers,
  };
}

/** The first words are those of OpenAI. @throws GatewayError, as the specification of Open Responses demands ("WebSocket Errors", 2026-04-24). */
export function rejectPrevious(id: string): never {
  return fail(
    "previous_response_not_found",
    `Previous response with id '${id.slice(0, 100)}' not found. It was not sent with store: true, has expired, was deleted, or belongs to another key. Without store, a response is kept on its WebSocket until the next one. Send the whole conversation in input.`,
    { metadata: { field: "previous_response_id" } },
  );
}

/**
 * Finds a conversation of a caller. `field` is the parameter with its id.
 * @throws GatewayError `not_found`; StoreError.
 */
export async function requireConversation(
  { store, clock }: Pick<ChainDeps, "store" | "clock">,
  caller: ObjectOwner,
  { id, field }: { readonly id: string; readonly field: string },
): Promise<Conversation> {
  const found = await store.findConversation(id, clock.now());
  if (found !== null && mayAccess(caller, found)) return found;
  return fail("not_found", `There is no conversation ${JSON.stringify(id.slice(0, 100))}.`, {
    metadata: { field },
  });
}

/** Finds the last object of a conversation; null if that is empty. */
async function findLastOf(deps: ChainDeps, caller: ObjectOwner, id: string): Promise<ObjectHead | null> {
  await requireConversation(deps, caller, { id, field: "conversation" });
  const last = await deps.store.findLast(id, deps.clock.now());
  return last !== null && RUNNING.includes(last.status) ? rejectLocked(id) : last;
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
