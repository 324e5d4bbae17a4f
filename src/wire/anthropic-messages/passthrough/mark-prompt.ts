import {
  isFilled,
  isTrue,
  isWord,
  itemsOf,
  type JsonNode,
  lookUp,
  memberOf,
  wordTable,
} from "../../../base/json/scan.ts";
import { appendMember, type Splice } from "../../../base/json/splice.ts";
import {
  type CacheMarking,
  type MarkableMessage,
  type MarkedBlock,
  placeTurnMarks,
} from "../../conversation/cache-marking.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

const FIELD = "cache_control";
const MARK = '{"type":"ephemeral"}';

/** Types of blocks that may be marked, if they have no empty text. */
const MARKABLE = wordTable<true>({
  text: true,
  image: true,
  document: true,
  tool_use: true,
  tool_result: true,
});

/** Returns the edits that mark a request for the vendor's cache. The request has no marks. */
export function markPrompt(
  request: ScannedMessagesRequest,
  { shared, turns }: CacheMarking,
): readonly Splice[] {
  const splices = shared ? markShared(request) : [];
  return turns ? [...splices, ...markTurns(request)] : splices;
}

function markShared({ text, root }: ScannedMessagesRequest): readonly Splice[] {
  const system = memberOf(root, "system");
  const block = system === undefined ? -1 : listBlocks(text, system).lastIndexOf(true);
  if (system !== undefined && block >= 0) return markBlock(system, block);
  // Tools that are loaded later are no part of the beginning of the prompt, and cannot be marked.
  const tool = itemsOf(root, "tools").findLast((one) => !isTrue(text, memberOf(one, "defer_loading")));
  return tool === undefined ? [] : [appendMember(tool, FIELD, MARK)];
}

function markTurns({ text, root }: ScannedMessagesRequest): readonly Splice[] {
  const messages = itemsOf(root, "messages");
  const contentOf = (at: number) => memberOf(messages[at], "content") as JsonNode;
  const markable = messages.map(
    (message, at): MarkableMessage => ({
      isAssistant: isWord(text, memberOf(message, "role"), "assistant"),
      blocks: listBlocks(text, contentOf(at)),
    }),
  );
  return placeTurnMarks(markable).flatMap(({ message, block }: MarkedBlock) =>
    markBlock(contentOf(message), block),
  );
}

/** Returns for each block of a content whether it may be marked. A plain text is one block. */
function listBlocks(text: string, content: JsonNode): readonly boolean[] {
  if (content.kind === "string") return [isFilled(content)];
  return (content.items ?? []).map((block) => {
    const words = memberOf(block, "text");
    return (
      lookUp(text, memberOf(block, "type"), MARKABLE) === true && (words === undefined || isFilled(words))
    );
  });
}

/** Marks a block. A plain text becomes a list with one block. */
function markBlock(content: JsonNode, at: number): readonly Splice[] {
  const block = content.items?.[at];
  if (block !== undefined) return [appendMember(block, FIELD, MARK)];
  const { start, end } = content;
  return [
    { start, end: start, insert: '[{"type":"text","text":' },
    { start: end, end, insert: `,"${FIELD}":${MARK}}]` },
  ];
}
