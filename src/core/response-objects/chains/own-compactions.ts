import { fail } from "../../../base/failures/errors.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import { encodeHandover, OWN_COMPACTION } from "../../../wire/openai-responses/state/compaction.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import type { Handovers } from "../records/response-object.ts";

/** What sealing a compaction needs. */
interface SealDeps {
  readonly vault: Vault;
  readonly ids: IdSource;
}

/** What opening compactions of an account needs. */
interface OpenDeps {
  readonly vault: Vault;
  readonly accountId: string;
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

function readEnvelope(content: string): Envelope | null {
  const json = Buffer.from(content.slice(OWN_COMPACTION.length), "base64url").toString("utf8");
  const { id, key, text } = tryParseFields(json) ?? {};
  const isWhole = typeof id === "string" && typeof key === "string" && typeof text === "string";
  return isWhole ? { id, key, text } : null;
}

/** Returns the handover of a compaction; null for that of another account, or one whose master key is gone. */
function openEnvelope({ vault, accountId }: OpenDeps, { id, key, text }: Envelope): string | null {
  return vault.open({ masterKeyId: key, ciphertext: text }, { id, accountId });
}

const NO_HANDOVERS: Handovers = {};

/**
 * Returns the item that the encrypted content of a compaction stands for, as JSON. `known` are handovers that need no key.
 * @throws GatewayError `invalid_request` for that of another account, or one whose master key is gone.
 */
export function openCompaction(deps: OpenDeps, content: string, known = NO_HANDOVERS): string {
  const envelope = readEnvelope(content);
  const handover = envelope === null ? null : (known[envelope.id] ?? openEnvelope(deps, envelope));
  if (handover !== null) return encodeHandover(handover);
  return fail(
    "invalid_request",
    "input contains a compaction that this account cannot read: it was changed, belongs to another account, or its master key is gone. Send the conversation without it.",
    { metadata: { field: "input" } },
  );
}

const MARK = '"compaction"';

/** Returns the encrypted content of an item, which is JSON, if it is a compaction; otherwise null. */
function readCompaction(item: string): string | null {
  if (!item.includes(MARK)) return null;
  const { type, encrypted_content: content } = tryParseFields(item) ?? {};
  return type === "compaction" && typeof content === "string" ? content : null;
}

/** Returns the envelopes of those items, which are JSON, that are compactions of the gateway. */
function listEnvelopes(items: readonly string[]): readonly Envelope[] {
  return items.flatMap((item) => {
    const content = readCompaction(item);
    const envelope = content?.startsWith(OWN_COMPACTION) ? readEnvelope(content) : null;
    return envelope === null ? [] : [envelope];
  });
}

/**
 * Returns the handovers of the gateway's compactions among items, which are JSON. They are kept with the items under their data key, so that
 * the items are read after a rotation of the master key. Those that cannot be read are absent.
 */
export function listHandovers(deps: OpenDeps, items: readonly string[]): Handovers {
  const opened = listEnvelopes(items).map((envelope) => [envelope.id, openEnvelope(deps, envelope)] as const);
  return Object.fromEntries(opened.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Returns the handovers of compactions that are still among items, which are JSON. */
export function leaveHandovers(handovers: Handovers, items: readonly string[]): Handovers {
  const left = new Set(listEnvelopes(items).map(({ id }) => id));
  return Object.fromEntries(Object.entries(handovers).filter(([id]) => left.has(id)));
}

/** Returns the items of a chain from its last compaction on, in whose place the conversation before it was put. */
export function sinceCompaction(items: readonly string[]): readonly string[] {
  const last = items.findLastIndex((item) => readCompaction(item) !== null);
  return last < 0 ? items : items.slice(last);
}

/** Returns an item, which is JSON. One of the gateway's compactions is a message again. @throws GatewayError as `openCompaction`. */
export function openItem(deps: OpenDeps, item: string, known: Handovers): string {
  const content = readCompaction(item);
  return content?.startsWith(OWN_COMPACTION) ? openCompaction(deps, content, known) : item;
}
