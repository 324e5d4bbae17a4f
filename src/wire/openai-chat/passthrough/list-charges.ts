import { addVendorTools, MediaTally, type RequestCharges } from "../../conversation/charges.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** Lists what a chat completion request may be charged for in addition to its text. */
export function listChatCharges({ text, root, media }: ScannedChatRequest): RequestCharges {
  const tally = new MediaTally();
  for (const { modality, node } of media) {
    if (modality === "image") tally.images += 1;
    else tally.addFile(text, node);
  }
  return addVendorTools(tally, text, root);
}
