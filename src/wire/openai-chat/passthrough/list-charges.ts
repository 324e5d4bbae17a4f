import { findVendorTools, MediaTally, type RequestCharges } from "../../conversation/charges.ts";
import { type JsonNode, lookUp, memberOf } from "../../json/scan.ts";
import { MODALITIES } from "./list-needs.ts";

/** Lists what a chat completion request may be charged for in addition to its text. `text` is the body, bytes as Latin-1. */
export function listChatCharges(text: string, root: JsonNode): RequestCharges {
  const media = new MediaTally();
  for (const message of memberOf(root, "messages")?.items ?? []) {
    for (const part of memberOf(message, "content")?.items ?? []) {
      const modality = lookUp(text, memberOf(part, "type"), MODALITIES);
      if (modality === "image") media.images += 1;
      else if (modality !== undefined) media.addFile(text, part);
    }
  }
  const { images, fileBytes, hasReferences } = media;
  return { ...findVendorTools(text, root), images, fileBytes, hasReferences };
}
