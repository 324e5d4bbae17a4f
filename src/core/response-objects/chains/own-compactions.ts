import { fail } from "../../../base/failures/errors.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import { encodeHandover, OWN_COMPACTION } from "../../../wire/openai-responses/state/compaction.ts";
import type { Vault } from "../../provider-keys/vault.ts";

/** What sealing a compaction needs. */
interface SealDeps {
  readonly vault: Vault;
  readonly ids: IdSource;
}

/** What the encrypted content of a compaction has after its beginning, as base64url of JSON. */
interface Envelope {
  readonly id: string;
  readonly key: string;
  readonly text: string;
}

/** Returns the compaction item of a handover, as JSON. It is encrypted with the master key, and only its account can send it back. */
export function sealCompaction({ vault, ids }: SealDeps, accountId: string, handover: string): string {
  const id = ids.next("cmp");
  const { masterKeyId, ciphertext } = vault.seal(handover, { id, accountId });
  const envelope: Envelope = { id, key: masterKeyId, text: ciphertext };
  const content = OWN_COMPACTION + Buffer.from(JSON.stringify(envelope)).toString("base64url");
  return JSON.stringify({ type: "compaction", id, encrypted_content: content });
}

/**
 * Returns the item that the encrypted content of a compaction stands for, as JSON.
 * @throws GatewayError `invalid_request` for that of another account, or one whose master key is gone.
 */
export function openCompaction(
  { vault }: Pick<SealDeps, "vault">,
  accountId: string,
  content: string,
): string {
  const json = Buffer.from(content.slice(OWN_COMPACTION.length), "base64url").toString("utf8");
  const { id, key, text } = tryParseFields(json) ?? {};
  const isWhole = typeof id === "string" && typeof key === "string" && typeof text === "string";
  const handover = isWhole ? vault.open({ masterKeyId: key, ciphertext: text }, { id, accountId }) : null;
  if (handover !== null) return encodeHandover(handover);
  return fail(
    "invalid_request",
    "input contains a compaction that this account cannot read: it was changed, belongs to another account, or its master key is gone. Send the conversation without it.",
    { metadata: { field: "input" } },
  );
}

const MARK = '"compaction"';

/** Returns the encrypted content of an item, which is JSON, if it is one of the gateway's own compactions; otherwise null. */
function readCompaction(item: string): string | null {
  if (!item.includes(MARK)) return null;
  const { type, encrypted_content: content } = tryParseFields(item) ?? {};
  return type === "compaction" && typeof content === "string" ? content : null;
}

/** Returns the items of a chain from its last compaction on, in whose place the conversation before it was put. */
export function sinceCompaction(items: readonly string[]): readonly string[] {
  const last = items.findLastIndex((item) => readCompaction(item) !== null);
  return last < 0 ? items : items.slice(last);
}

/** Returns items in which the gateway's own compactions are messages again. @throws GatewayError as `openCompaction`. */
export function openCompactions(
  deps: Pick<SealDeps, "vault">,
  accountId: string,
  items: readonly string[],
): readonly string[] {
  return items.map((item) => {
    const content = readCompaction(item);
    return content?.startsWith(OWN_COMPACTION) ? openCompaction(deps, accountId, content) : item;
  });
}
