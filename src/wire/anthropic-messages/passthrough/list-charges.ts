import { isWord, type JsonNode, memberOf } from "../../../base/json/scan.ts";
import { addVendorTools, MediaTally, type RequestCharges } from "../../conversation/charges.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** Lists what a Messages request may be charged for in addition to its text. */
export function listMessagesCharges({ text, root, messages }: ScannedMessagesRequest): RequestCharges {
  const media = new MediaTally();
  for (const { fields } of messages) addMedia(media, text, fields.content);
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
