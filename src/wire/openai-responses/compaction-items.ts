import { rejectField } from "../../base/failures/errors.ts";
import { isWord, itemsOf, type JsonNode, memberOf } from "../../base/json/scan.ts";
import type { ConversationRequest } from "../canonical/model/request.ts";

/** The item at the end of an input with which Codex asks for a `compaction` item in place of an answer. */
export const TRIGGER = "compaction_trigger";

/** Whether a scanned request asks for a compaction. `text` is the body, bytes as Latin-1. */
export function hasTrigger(text: string, root: JsonNode): boolean {
  return isWord(text, memberOf(itemsOf(root, "input").at(-1), "type"), TRIGGER);
}

/** What each item would lose at a target that does not know it. */
const PROBLEMS: Readonly<Record<string, string>> = {
  [TRIGGER]: `has a ${TRIGGER} that is not its last item, or that this provider does not know. Send it at the end`,
  compaction:
    "contains a compaction that only the vendor which made it can read. Continue with a model of that vendor, or set responses.compaction to portable and compact again",
};

/**
 * Rejects a request with items about compaction for a target that does not know them: an answer to it would silently miss the conversation
 * before. The gateway's own compactions are messages already.
 * @throws GatewayError `invalid_request`.
 */
export function rejectCompactionItems({ messages }: ConversationRequest): void {
  for (const { parts } of messages)
    for (const part of parts) {
      // A compaction of Anthropic's is a text.
      const problem = part.kind === "native" && part.text === undefined ? PROBLEMS[part.type] : undefined;
      if (problem !== undefined) rejectField("input", problem);
    }
}
