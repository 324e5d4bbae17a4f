import { addVendorTools, MediaTally, type RequestCharges } from "../../conversation/charges.ts";
import { isWord, itemsOf, type JsonNode, lookUp, memberOf } from "../../json/scan.ts";
import { MODALITIES } from "./list-needs.ts";

/** Lists what a Responses request may be charged for in addition to its text. `text` is the body, bytes as Latin-1. */
export function listResponsesCharges(text: string, root: JsonNode): RequestCharges {
  const media = new MediaTally();
  for (const item of itemsOf(root, "input")) {
    // The whole output of this item is a screenshot.
    if (isWord(text, memberOf(item, "type"), "computer_call_output")) media.images += 1;
    addMedia(media, text, memberOf(item, "content"));
    addMedia(media, text, memberOf(item, "output"));
  }
  return addVendorTools(media, text, root);
}

function addMedia(media: MediaTally, text: string, list: JsonNode | undefined): void {
  for (const part of list?.items ?? []) {
    const modality = lookUp(text, memberOf(part, "type"), MODALITIES);
    if (modality === "image") media.images += 1;
    else if (modality !== undefined) media.addFile(text, part);
  }
}
