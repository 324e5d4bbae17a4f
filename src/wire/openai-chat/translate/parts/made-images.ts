import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { MediaPart, Part } from "../../../canonical/model/parts.ts";
import { decodePart } from "./decode-part.ts";
import { encodePart } from "./encode-part.ts";
import { keepExtras, keptFields, keptSpelling } from "./extras.ts";
import { spreadExtraContent } from "./signatures.ts";

/** Encodes an image that a model made as an entry of `images`, with its thought signature in Google's spelling. */
export function encodeMadeImage(part: MediaPart, field: string, warn: Warn): Fields {
  return { ...encodePart(part, field, warn), ...spreadExtraContent(part) };
}

/** Decodes the `images` of an assistant message and marks them with that field; null if an entry is not an image. */
export function decodeSentImages(value: unknown): readonly Part[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const parts = value.map((raw) => decodePart(asFields(raw) ?? {}));
  if (!parts.every((part) => part.kind === "image")) return null;
  return parts.map((part) => ({
    ...part,
    ...keepExtras(keptFields(part), { ...keptSpelling(part), place: "images" }),
  }));
}
