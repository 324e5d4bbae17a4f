import { addVendorTools, MediaTally, type RequestCharges } from "../../conversation/charges.ts";
import { itemsOf, type JsonNode, lookUp, memberOf } from "../../json/scan.ts";
import { MODALITIES } from "./list-needs.ts";

/** Lists what a chat completion request may be charged for in addition to its text. `text` is the body, bytes as Latin-1. */
export function listChatCharges(text: string, root: JsonNode): RequestCharges {
  const media = new MediaTally();
  for (const message of itemsOf(root, "messages")) {
    for (const part of itemsOf(message, "content")) {
      const modality = lookUp(text, memberOf(part, "type"), MODALITIES);
      if (modality === "image") media.images += 1;
      else if (modality !== undefined) media.addFile(text, part);
    }
  }
  return addVendorTools(media, text, root);
}
