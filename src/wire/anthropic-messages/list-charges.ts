import { findSearchWish, type RequestCharges } from "../conversation/charges.ts";
import { isWord, type JsonNode, memberOf } from "../json/scan.ts";

/** What may be charged for a Messages request beside its tokens. `text` is its body, bytes read as Latin-1. */
export function listMessagesCharges(text: string, root: JsonNode): RequestCharges {
  let images = 0;
  for (const message of memberOf(root, "messages")?.items ?? []) {
    images += countImages(text, memberOf(message, "content"));
  }
  return { images, search: findSearchWish(text, root) };
}

/** Those within a tool's result too. */
function countImages(text: string, content: JsonNode | undefined): number {
  let images = 0;
  for (const block of content?.items ?? []) {
    if (isWord(text, memberOf(block, "type"), "image")) images += 1;
    images += countImages(text, memberOf(block, "content"));
  }
  return images;
}
