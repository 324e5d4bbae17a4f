import { fail } from "../../../base/failures/errors.ts";
import type { Random } from "../../../base/secrets/random.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import { openContent } from "../chains/open-chain.ts";
import type { Metadata } from "../conversations.ts";
import { requireBackground, waitForEnd } from "../jobs/cancelling.ts";
import { type ObjectContent, type ObjectHead, RUNNING } from "../records/response-object.ts";
import type { ResponseSettings } from "../records/response-settings.ts";
import type { ObjectQuery, ResponseStore } from "../records/response-store.ts";
import { ObjectSeal } from "../records/seal-object.ts";

/** What managing responses needs. A command has it without a running gateway. */
export interface ManageDeps {
  readonly store: ResponseStore;
  readonly vault: Vault;
  readonly random: Random;
  readonly clock: Clock;
  readonly settings: () => Pick<ResponseSettings, "accountBytes" | "retentionMs">;
}

/** The maximum number of heads of a chain that one reading returns. */
export const MAX_CHAIN = 200;

/** How often a cancel looks whether the response has ended. Milliseconds. */
const CANCEL_POLL_MS = 250;
/** How long a cancel waits for the gateway that runs the response. Milliseconds. */
const CANCEL_WAIT_MS = 5_000;

/** The heads of a chain from its root on. */
interface ListedChain {
  readonly heads: readonly ObjectHead[];
  /** Whether the chain has more. */
  readonly isTruncated: boolean;
}

/** How much of its limit an account uses. */
interface KeptBytes {
  readonly bytes: number;
  readonly limitBytes: number;
  readonly retentionMs: number;
}

/**
 * Kept responses for those who manage an account, instead of for the keys that own them. Who may see an object is the caller's to check. All
 * methods may throw a `StoreError`.
 */
export class ManagedResponses {
  constructor(private readonly deps: ManageDeps) {}

  list(query: ObjectQuery): Promise<readonly ObjectHead[]> {
    return this.deps.store.listHeads(query, this.deps.clock.now());
  }

  /** Finds an object by its id, or the last one of a conversation by the id of that. */
  find(id: string): Promise<ObjectHead | null> {
    const { store, clock } = this.deps;
    return id.startsWith("conv_") ? store.findLast(id, clock.now()) : store.findHead(id, clock.now());
  }

  async listChain({ rootId }: ObjectHead): Promise<ListedChain> {
    const { store, clock } = this.deps;
    const heads = await store.listChain(rootId, clock.now(), MAX_CHAIN + 1);
    return { heads: heads.slice(0, MAX_CHAIN), isTruncated: heads.length > MAX_CHAIN };
  }

  /** Returns the metadata of a conversation; null if it was deleted, or its master key is not known. */
  async findMetadata(conversationId: string): Promise<Metadata | null> {
    const { store, clock, vault, random } = this.deps;
    const conversation = await store.findConversation(conversationId, clock.now());
    if (conversation === null) return null;
    const seal = ObjectSeal.open(vault, random, conversation);
    return seal === null ? null : (JSON.parse(seal.openText(conversation.ciphertext)) as Metadata);
  }

  /** Decrypts the contents of an object. @throws GatewayError `not_found`. */
  async open(id: string): Promise<ObjectContent> {
    const object = await this.deps.store.findObject(id, this.deps.clock.now());
    return object === null ? rejectUnknownResponse() : openContent(this.deps, object);
  }

  /**
   * Cancels a background response, and waits a short time for its end. The gateway that runs it notices the request by itself, so that any
   * process can cancel it. One that has ended stays as it is.
   * @throws GatewayError `invalid_request` for a response that is not in the background; `not_found`.
   */
  async cancel(found: ObjectHead): Promise<ObjectHead> {
    const { store, clock } = this.deps;
    const { id } = found;
    requireBackground(found, "id");
    await store.requestCancel(id);
    return waitForEnd(clock, {
      longestMs: CANCEL_WAIT_MS,
      find: async () => (await store.findHead(id, clock.now())) ?? rejectUnknownResponse(),
      pause: () => new Promise((resolve) => void clock.after(CANCEL_POLL_MS, resolve)),
    });
  }

  /**
   * Deletes an object. Those that continue it stay, and can no longer be continued.
   * @throws GatewayError `conflict` while it runs; `not_found` if it is gone.
   */
  async delete({ id, status }: ObjectHead): Promise<void> {
    if (RUNNING.includes(status))
      fail(
        "conflict",
        `The response ${id} still runs. Cancel it with POST /api/admin/responses/${id}/cancel first.`,
      );
    if (!(await this.deps.store.deleteObject(id))) rejectUnknownResponse();
  }

  async sumBytes(accountId: string): Promise<KeptBytes> {
    const { accountBytes: limitBytes, retentionMs } = this.deps.settings();
    return { bytes: await this.deps.store.sumBytes(accountId), limitBytes, retentionMs };
  }
}

/** @throws GatewayError `not_found`. */
export function rejectUnknownResponse(): never {
  return fail(
    "not_found",
    "No response with that id is kept: it was not sent with store: true, has expired or was deleted. GET /api/admin/responses lists those of an account.",
  );
}
