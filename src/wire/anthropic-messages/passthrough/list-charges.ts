import { addVendorTools, MediaTally, type RequestCharges } from "../../conversation/charges.ts";
import { isWord, itemsOf, type JsonNode, memberOf } from "../../json/scan.ts";

/** Lists what a Messages request may be charged for in addition to its text. `text` is the body, bytes as Latin-1. */
export function listMessagesCharges(text: string, root: JsonNode): RequestCharges {
  const media = new MediaTally();
  for (const message of itemsOf(root, "messages")) {
    addMedia(media, text, memberOf(message, "content"));
  }
  return addVendorTools(media, text, root);
}

/** Includes media in tool results. A document of plain text counts as text. */
function addMedia(media: MediaTally, text: string, content: JsonNode | undefined): void {
  for (const block of content?.items ?? []) {
    const type = memberOf(block, "type");
    const sourceType = memberOf(memberOf(block, "source"), "type");
    if (isWord(text, type, "image")) media.images += 1;
    else if (isWord(text, type, "container_upload")) media.hasReferences = true;
    else if (isWord(text, type, "document") && !isWord(text, sourceType, "text")) media.addFile(text, block);
    addMedia(media, text, memberOf(block, "content"));
  }
}
