import { fail } from "../../base/failures/errors.ts";
import type { MediaPart, MediaSource } from "../canonical/model/parts.ts";
import type { GeminiPart } from "./encoding.ts";

/**
 * Encodes an image, file, audio or video. AI Studio and Vertex AI fetch `https:` and `gs:` URLs themselves (Google's "File input
 * methods"; Vertex AI's `FileData`), so URLs are passed on.
 * @throws GatewayError `invalid_request` for files uploaded to another vendor and for other URL schemes.
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
      if (source.store === "google") return { fileData: { fileUri: source.id } };
      return reject(field, "The file was uploaded to another vendor. Send its data or its URL.");
  }
}

const FETCHABLE_URL = /^(?:https?|gs):\/\//i;

function encodeUrl(part: MediaPart, source: MediaSource & { kind: "url" }, field: string): GeminiPart {
  if (!FETCHABLE_URL.test(source.url))
    reject(field, "Send the data, or a URL that begins with https: or gs:.");
  const mimeType = source.mediaType ?? guessType(part, source.url);
  return { fileData: { ...(mimeType === null ? {} : { mimeType }), fileUri: source.url } };
}

function reject(field: string, remedy: string): never {
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

/**
 * Vertex AI demands a media type: the one of the URL's extension, or JPEG for other images. Gemini detects other types itself.
 */
function guessType(part: MediaPart, url: string): string | null {
  const extension = /\.([a-z0-9]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return TYPES[extension] ?? (part.kind === "image" ? "image/jpeg" : null);
}
