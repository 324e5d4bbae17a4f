import { GatewayError } from "../../../base/failures/errors.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import type { ItemsById } from "../../../wire/openai-responses/state/join-input.ts";
import { type ObjectOwner, sumBytes } from "../records/response-object.ts";
import { mayAccess } from "./object-access.ts";
import { type ChainDeps, openContent } from "./open-chain.ts";

/** What a request refers to, and where that is looked for first. */
interface References {
  /** The ids of items, each as often as the input refers to it. */
  readonly ids: readonly string[];
  /** The items of the chain, as JSON. */
  readonly chain: readonly string[];
  /** The size that the items may have together. Bytes. */
  readonly maxBytes: number;
}

const NO_ITEMS: ItemsById = new Map();

/**
 * Finds items by their ids, in the chain or in other objects of the caller. Unknown ones are absent.
 * @throws GatewayError `payload_too_large`; StoreError.
 */
export async function findReferenced(
  deps: ChainDeps,
  caller: ObjectOwner,
  { ids, chain, maxBytes }: References,
): Promise<ItemsById> {
  if (ids.length === 0) return NO_ITEMS;
  const wanted = new Set(ids);
  const found = new Map<string, string>();
  const look = (items: readonly string[]): void => {
    for (const item of items) {
      const id = tryParseFields(item)?.["id"];
      if (typeof id === "string" && wanted.delete(id)) found.set(id, item);
    }
  };
  look(chain);
  await lookInObjects(deps, caller, { wanted, maxBytes, look });
  return sumBytes(ids.map((id) => found.get(id) ?? "")) > maxBytes ? rejectReferences(maxBytes) : found;
}

/** Looks in other objects than those of the chain. Each is decrypted on its own. */
async function lookInObjects(
  deps: ChainDeps,
  caller: ObjectOwner,
  {
    wanted,
    maxBytes,
    look,
  }: {
    readonly wanted: ReadonlySet<string>;
    readonly maxBytes: number;
    readonly look: (items: readonly string[]) => void;
  },
): Promise<void> {
  if (wanted.size === 0) return;
  const { store, clock } = deps;
  const heads = await store.findByItems(caller, [...wanted], clock.now());
  if (heads.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) rejectReferences(maxBytes);
  for (const { id } of heads) {
    const object = await store.findObject(id, clock.now());
    if (object === null || !mayAccess(caller, object)) continue;
    const { input, output } = openContent(deps, object);
    look([...input, ...output]);
  }
}

function rejectReferences(maxBytes: number): never {
  throw new GatewayError({
    code: "payload_too_large",
    message: `The items that input refers to, or the responses that they belong to, have more than ${maxBytes} bytes (responses.chain_bytes). Refer to fewer items, or continue the response with previous_response_id.`,
    metadata: { field: "input" },
  });
}
