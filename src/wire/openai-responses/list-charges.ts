import { findSearchWish, type RequestCharges } from "../conversation/charges.ts";
import { isWord, type JsonNode, memberOf } from "../json/scan.ts";

/** What may be charged for a Responses request beside its tokens. `text` is its body, bytes read as Latin-1. */
export function listResponsesCharges(text: string, root: JsonNode): RequestCharges {
  let images = 0;
  for (const item of memberOf(root, "input")?.items ?? []) {
    // A screenshot is the whole output of its call.
    if (isWord(text, memberOf(item, "type"), "computer_call_output")) images += 1;
    images += countImages(text, memberOf(item, "content")) + countImages(text, memberOf(item, "output"));
  }
  return { images, search: findSearchWish(text, root) };
}

function countImages(text: string, list: JsonNode | undefined): number {
  let images = 0;
  for (const part of list?.items ?? []) if (isWord(text, memberOf(part, "type"), "input_image")) images += 1;
  return images;
}
