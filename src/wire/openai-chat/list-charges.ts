import { findSearchWish, type RequestCharges } from "../conversation/charges.ts";
import { isWord, type JsonNode, memberOf } from "../json/scan.ts";

/** What may be charged for a chat completion request beside its tokens. `text` is its body, bytes read as Latin-1. */
export function listChatCharges(text: string, root: JsonNode): RequestCharges {
  let images = 0;
  for (const message of memberOf(root, "messages")?.items ?? []) {
    for (const part of memberOf(message, "content")?.items ?? []) {
      if (isWord(text, memberOf(part, "type"), "image_url")) images += 1;
    }
  }
  return { images, search: findSearchWish(text, root) };
}
