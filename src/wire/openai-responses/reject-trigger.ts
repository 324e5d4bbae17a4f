import { rejectField } from "../../base/failures/errors.ts";
import { isWord, itemsOf, type JsonNode, memberOf } from "../../base/json/scan.ts";
import type { ConversationRequest } from "../canonical/model/request.ts";

/** The item at the end of an input with which Codex asks for a `compaction` item in place of an answer. */
const TRIGGER = "compaction_trigger";

/** Whether a scanned request asks for a compaction. `text` is the body, bytes as Latin-1. */
export function hasTrigger(text: string, root: JsonNode): boolean {
  return isWord(text, memberOf(itemsOf(root, "input").at(-1), "type"), TRIGGER);
}

/**
 * Rejects a request for a compaction, for a target that would answer it with a message. Codex takes anything but one `compaction` item for a
 * fatal error, repeats the request after most statuses, and reports a 400 once and goes on
 * (https://github.com/openai/codex, codex-rs/core/src/compact_remote_v2.rs, 2026-11-28).
 * @throws GatewayError `invalid_request`.
 */
export function rejectTrigger({ messages }: ConversationRequest): void {
  const isTrigger = ({ parts }: ConversationRequest["messages"][number]) =>
    parts.some((part) => part.kind === "native" && part.type === TRIGGER);
  if (messages.some(isTrigger))
    rejectField(
      "input",
      `ends with a ${TRIGGER}, which only OpenAI's models answer with a compaction. Codex summarizes conversations itself if the name of its model provider is another than "OpenAI" (model_providers.*.name in config.toml)`,
    );
}
