import { fail } from "../../base/errors.ts";
import type { MediaPart, MediaSource } from "../canonical/parts.ts";
import type { GeminiPart } from "./encoding.ts";

/**
 * An image, file, audio or video. AI Studio and Vertex both fetch `https:` and `gs:` addresses themselves (Google's
 * "File input methods"; Vertex' `FileData`), so an address is passed on as it is.
 * @throws GatewayError `invalid_request` for a file of another vendor and for other addresses.
 */
export function encodeMedia(part: MediaPart, field: string): GeminiPart {
  const { source } = part;
  switch (source.kind) {
    case "base64":
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case "text":
      return { text: part.name === undefined ? source.text : `${part.name}:\n\n${source.text}` };
    case "url":
      return encodeUrl(part, source, field);
    case "file-id":
      if (source.format === "gemini") return { fileData: { fileUri: source.id } };
      return refuse(field, "The file was uploaded to another vendor; send its data, or its address.");
  }
}

const ADDRESS = /^(?:https?|gs):\/\//i;

function encodeUrl(part: MediaPart, source: MediaSource & { kind: "url" }, field: string): GeminiPart {
  if (!ADDRESS.test(source.url))
    refuse(field, "Send the data, or an address that begins with https: or gs:.");
  const mimeType = source.mediaType ?? guessType(part, source.url);
  return { fileData: { ...(mimeType === null ? {} : { mimeType }), fileUri: source.url } };
}

function refuse(field: string, remedy: string): never {
  fail("invalid_request", `${field}: Gemini cannot read this. ${remedy}`, { metadata: { field } });
}

const TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  csv: "text/csv",
  html: "text/html",
  md: "text/markdown",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  ogg: "audio/ogg",
  flac: "audio/flac",
  m4a: "audio/mp4",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
};

/** Vertex demands a type: by the address's ending, and for images else the commonest. Gemini looks for itself. */
function guessType(part: MediaPart, url: string): string | null {
  const ending = /\.([a-z0-9]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return TYPES[ending] ?? (part.kind === "image" ? "image/jpeg" : null);
}
