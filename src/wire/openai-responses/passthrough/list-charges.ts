import { isWord, lookUp } from "../../../base/json/scan.ts";
import { addVendorTools, MediaTally, type RequestCharges } from "../../conversation/charges.ts";
import type { ResponsesContent } from "../request-shape.ts";
import { MODALITIES } from "./list-needs.ts";
import type { ScannedResponsesRequest } from "./scan-request.ts";

/** Lists what a Responses request may be charged for in addition to its text. */
export function listResponsesCharges({ text, root, items }: ScannedResponsesRequest): RequestCharges {
  const media = new MediaTally();
  for (const item of items) {
    // The whole output of this item is a screenshot.
    if (isWord(text, item.fields.type, "computer_call_output")) media.images += 1;
    addMedia(media, text, item.fields.content);
    addMedia(media, text, item.fields.output);
  }
  return addVendorTools(media, text, root);
}

function addMedia(media: MediaTally, text: string, list: ResponsesContent | undefined): void {
  for (const part of list?.items ?? []) {
    const modality = lookUp(text, part.fields.type, MODALITIES);
    if (modality === "image") media.images += 1;
    else if (modality !== undefined) media.addFile(text, part);
  }
}
