import type { Fields } from "../../../base/json/fields.ts";
import type { RelayFinish, RelayIdentity } from "../../canonical/answer/relay.ts";
import { FINISH_WORDS } from "../../canonical/model/finish-words.ts";
import { correctStopReason, decodeFinish } from "../finish-reason.ts";

const TEXT_BLOCKS: ReadonlySet<string> = new Set(["text", "thinking", "redacted_thinking"]);

/** Returns whether a block has no text, or none yet. Tool calls are never empty. */
export function isEmptyBlock({ type, text, thinking }: Fields): boolean {
  return TEXT_BLOCKS.has(String(type)) && !text && !thinking;
}

/** Returns a block with the id by which the client knows its tool call; other blocks as they are. */
export function mapCallId(identity: RelayIdentity, block: Fields): Fields {
  if (block["type"] !== "tool_use") return block;
  const vendorId = block["id"];
  if (typeof vendorId !== "string" || vendorId === "") return { ...block, id: identity.makeCallId() };
  const id = identity.originalIds?.get(vendorId);
  return id === undefined ? block : { ...block, id };
}

/** Returns whether a block is a call: of the client's tool, or of one that the vendor runs. */
export function isCall({ type }: Fields): boolean {
  return typeof type === "string" && type.endsWith("tool_use");
}

/** Returns a stop reason as records have it. `hasCalls`: the answer has calls (`isCall`). */
export function readRelayFinish(native: string, hasCalls: boolean): RelayFinish {
  const { reason } = decodeFinish(correctStopReason(native, hasCalls), null);
  return { client: FINISH_WORDS[reason], native };
}

/** Stop reasons that do not explain an answer without content. */
export const SILENT_REASONS: ReadonlySet<string> = new Set(["end_turn", "stop_sequence"]);
