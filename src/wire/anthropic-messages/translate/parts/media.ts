import { fail } from "../../../../base/failures/errors.ts";
import { asFields, createTable, type Fields } from "../../../../base/json/fields.ts";
import type { MediaPart, MediaSource } from "../../../canonical/model/parts.ts";
import { encodeCache, takeCache } from "./cache-mark.ts";
import { keptFields, makeExtras } from "./extras.ts";
import { type FieldTaker, takeFields } from "./take-fields.ts";

/** Decodes an `image` or `document` block; null if its source is of an unknown kind. */
export function decodeMedia(kind: "image" | "file", take: FieldTaker): MediaPart | null {
  const read = decodeSource(asFields(take.peek("source")) ?? {});
  if (read === null) return null;
  take.drop("source");
  const title = kind === "file" ? take.text("title") : null;
  const cache = takeCache(take);
  const rest = { ...take.rest(), ...(hasFields(read.rest) ? { source: read.rest } : {}) };
  return {
    kind,
    source: read.source,
    ...(title === null ? {} : { name: title }),
    ...cache,
    ...makeExtras(rest),
  };
}

interface DecodedSource {
  readonly source: MediaSource;
  /** The other fields of the source; all of them, including `type`, if it is kept as it came. */
  readonly rest: Fields;
}

function decodeSource(raw: Fields): DecodedSource | null {
  const take = takeFields(raw);
  const source = SOURCES[String(take.drop("type"))]?.(take, raw) ?? null;
  if (source === null) return null;
  return { source, rest: raw["type"] === "content" ? raw : take.rest() };
}

const SOURCES: Readonly<Record<string, (take: FieldTaker, raw: Fields) => MediaSource | null>> = createTable({
  base64(take) {
    const [mediaType, data] = [take.text("media_type"), take.text("data")];
    if (mediaType === null || data === null) return null;
    return { kind: "base64", mediaType, data };
  },
  url(take) {
    const url = take.text("url");
    return url === null ? null : { kind: "url", url, mediaType: null };
  },
  text(take) {
    const [mediaType, text] = [take.text("media_type"), take.text("data")];
    return mediaType === null || text === null ? null : { kind: "text", mediaType, text };
  },
  file(take) {
    const id = take.text("file_id");
    return id === null ? null : { kind: "file-id", id, store: "anthropic" };
  },
  /** A document of text blocks. The blocks are kept; other formats get their text. */
  content(_take, raw) {
    const text = joinTexts(raw["content"]);
    return text === null ? null : { kind: "text", mediaType: "text/plain", text };
  },
});

/** Joins content that is a string or text blocks; null for any other. */
export function joinTexts(content: unknown): string | null {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const texts = content.map((block) => asFields(block)?.["text"]);
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : null;
}

/**
 * Encodes an image or file as a block.
 * @throws GatewayError `invalid_request` for media that this API does not accept.
 */
export function encodeMedia(part: MediaPart, field: string): Fields {
  const { source: kept, ...rest } = keptFields(part);
  const own = asFields(kept) ?? {};
  const source = "type" in own ? own : { ...encodeSource(part, field), ...own };
  const title = part.kind === "file" && part.name !== undefined ? { title: part.name } : {};
  return {
    type: part.kind === "image" ? "image" : "document",
    source,
    ...title,
    ...encodeCache(part),
    ...rest,
  };
}

function encodeSource(part: MediaPart, field: string): Fields {
  if (part.kind === "audio" || part.kind === "video") {
    return reject(
      field,
      `is ${part.kind}, which this model does not take. Remove it or choose another model.`,
    );
  }
  const { source } = part;
  switch (source.kind) {
    case "base64":
      return part.kind === "image"
        ? { type: "base64", media_type: source.mediaType, data: source.data }
        : encodeFile(source, field);
    case "url":
      return { type: "url", url: source.url };
    case "text":
      return { type: "text", media_type: source.mediaType, data: source.text };
    case "file-id":
      if (source.store === "anthropic") return { type: "file", file_id: source.id };
      return reject(field, "names a file that was uploaded to another vendor. Send its contents instead.");
  }
}

/** Documents are PDF or plain text; any other text is sent as plain text. */
function encodeFile(source: { readonly mediaType: string; readonly data: string }, field: string): Fields {
  const { mediaType, data } = source;
  if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data };
  if (mediaType.startsWith("text/") || mediaType === "application/json") {
    return { type: "text", media_type: "text/plain", data: Buffer.from(data, "base64").toString("utf8") };
  }
  return reject(
    field,
    `is a file of type ${mediaType}, which this model does not take. Send a PDF or plain text.`,
  );
}

function reject(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}`, { metadata: { field } });
}

function hasFields(fields: Fields): boolean {
  return Object.keys(fields).length > 0;
}
