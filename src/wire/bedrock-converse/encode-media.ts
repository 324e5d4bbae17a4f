import { rejectField } from "../../base/failures/errors.ts";
import type { MediaPart } from "../canonical/model/parts.ts";

/** Converse's format names by media type. */
const FORMATS: Readonly<Record<MediaPart["kind"], Readonly<Record<string, string>>>> = {
  image: {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/jpg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
  },
  video: {
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/mpg": "mpg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
  },
  audio: {
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/aac": "aac",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/opus": "opus",
    "audio/mp4": "m4a",
    "audio/webm": "webm",
  },
  file: {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "application/json": "txt",
    "text/markdown": "md",
  },
};

/** Format names for file extensions that differ from them. */
const EXTENSIONS: Readonly<Record<string, string>> = { jpg: "jpeg", htm: "html", "3gp": "three_gp" };

/**
 * Encodes an image, video, audio or document. `field` names the part in errors; `chooseName` makes document names unique.
 * @throws GatewayError `invalid_request` for media that Bedrock cannot fetch or read.
 */
export function encodeMedia(part: MediaPart, field: string, chooseName: (wanted: string) => string) {
  const block = { format: readFormat(part, field), source: encodeSource(part, field) };
  if (part.kind !== "file") return { [part.kind]: block };
  return { document: { ...block, name: chooseName(part.name ?? "document") } };
}

function encodeSource(part: MediaPart, field: string) {
  const { source } = part;
  switch (source.kind) {
    case "base64":
      return { bytes: source.data };
    case "text":
      return part.kind === "file"
        ? { text: source.text }
        : rejectField(field, "holds text; send it as a file");
    case "url":
      if (source.url.startsWith("s3://")) return { s3Location: { uri: source.url } };
      return rejectField(
        field,
        "is a URL, which this model's provider does not fetch; send the data itself as base64",
      );
    case "file-id":
      return rejectField(
        field,
        "is a file uploaded elsewhere, which this model's provider does not have; send the data itself as base64",
      );
  }
}

function readFormat(part: MediaPart, field: string): string {
  const { source } = part;
  const formats = FORMATS[part.kind];
  const mediaType = source.kind === "file-id" ? null : source.mediaType?.split(";")[0]?.trim().toLowerCase();
  const format = mediaType
    ? formats[mediaType]
    : source.kind === "url"
      ? readExtension(source.url, formats)
      : undefined;
  if (format !== undefined) return format;
  if (part.kind === "file" && mediaType?.startsWith("text/")) return "txt";
  const known = [...new Set(Object.values(formats))].join(", ");
  // A URL that cannot be fetched is reported before an unknown format.
  if (source.kind === "url" || source.kind === "file-id") encodeSource(part, field);
  return rejectField(
    field,
    `has the media type ${mediaType ?? "unknown"}; this model's provider reads ${known}`,
  );
}

function readExtension(url: string, formats: Readonly<Record<string, string>>): string | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(url)?.[1]?.toLowerCase() ?? "";
  const format = EXTENSIONS[extension] ?? extension;
  return Object.values(formats).includes(format) ? format : undefined;
}

const MAX_NAME_CHARS = 200;
/** Characters reserved for the counter of a repeated name. */
const COUNTER_CHARS = 8;

/**
 * Chooses document names for one request: letters, digits, single spaces, hyphens, parentheses and square brackets (API
 * reference, DocumentBlock). Names are unique, because Bedrock rejects duplicates.
 */
export function createDocumentNames(): (wanted: string) => string {
  const taken = new Set<string>();
  /** The last counter of each name. */
  const counters = new Map<string, number>();
  return (wanted) => {
    const clean = wanted.replace(/[^A-Za-z0-9\-()[\]]+/g, " ").trim();
    const base = clean.slice(0, MAX_NAME_CHARS - COUNTER_CHARS).trim() || "document";
    let name = base;
    let count = counters.get(base) ?? 1;
    while (taken.has(name)) name = `${base} (${++count})`;
    counters.set(base, count);
    taken.add(name);
    return name;
  };
}
