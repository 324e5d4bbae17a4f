import { fail } from "../../../../base/failures/errors.ts";
import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import {
  type MediaPart,
  type NativePart,
  type Part,
  readCacheMark,
  writeBreakpoint,
} from "../../../canonical/model/parts.ts";
import { keptFields, keptSpelling } from "./extras.ts";
import { writeSource } from "./media-source.ts";

/**
 * Encodes a content part; null, with a warning, where this format has no such part.
 * @throws GatewayError `invalid_request` for media that this format cannot express: without them the model would answer a different
 * question.
 */
export function encodePart(part: Part, field: string, warn: Warn): Fields | null {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text, ...encodeBase(part) };
    case "refusal":
      return { type: "refusal", refusal: part.text, ...encodeBase(part) };
    case "image":
    case "audio":
    case "video":
    case "file":
      return encodeMedia(part, field);
    case "native":
      return encodeNative(part, field, warn);
    default:
      return null;
  }
}

/** Encodes a native part of this format; null, with a warning, for one of another format. */
export function encodeNative(part: NativePart, field: string, warn: Warn): Fields | null {
  if (part.format === "openai-chat") return part.value;
  warn(field, `${part.type} is something only the ${part.format} format has; it was left out.`);
  return null;
}

/**
 * Encodes unknown fields, a breakpoint, and another cache mark if the client speaks this format; other hosts of the format reject that
 * field.
 */
function encodeBase(part: Part): Fields {
  if (part.cache?.isBreakpoint === true) return { ...keptFields(part), ...writeBreakpoint(part.cache) };
  const raw = keptSpelling(part)["cache"];
  const isMarked = part.cache !== undefined && readCacheMark(raw)?.ttl === part.cache.ttl;
  return { ...keptFields(part), ...(isMarked ? { cache_control: raw } : {}) };
}

function encodeMedia(part: MediaPart, field: string): Fields {
  const { source } = part;
  if (source.kind === "text") return { type: "text", text: nameText(part.name, source.text) };
  if (part.kind === "file") return { type: "file", file: encodeFile(part, field), ...encodeBase(part) };
  if (part.kind === "audio") {
    return { type: "input_audio", input_audio: encodeAudio(part, field), ...encodeBase(part) };
  }
  const spelling = keptSpelling(part);
  const url = writeSource(source, spelling);
  if (url === null) return reject(field, `${part.kind}s by URL or as base64`);
  const type = `${part.kind}_url`;
  const detail = part.detail === undefined ? {} : { detail: part.detail };
  const inner = spelling["isBare"] === true ? url : { url, ...detail, ...asFields(spelling["inner"]) };
  return { type, [type]: inner, ...encodeBase(part) };
}

/** Returns a text document with its name as a heading. */
function nameText(name: string | undefined, text: string): string {
  return name === undefined ? text : `${name}:\n\n${text}`;
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
};

function encodeAudio(part: MediaPart, field: string): Fields {
  const { source } = part;
  if (source.kind !== "base64") return reject(field, "audio as base64");
  const spelling = keptSpelling(part);
  const format =
    spelling["format"] ?? AUDIO_FORMATS[source.mediaType] ?? source.mediaType.replace(/^audio\//, "");
  return { data: source.data, format, ...asFields(spelling["inner"]) };
}

function encodeFile(part: MediaPart, field: string): Fields {
  const { source, name } = part;
  const spelling = keptSpelling(part);
  const inner = asFields(spelling["inner"]) ?? {};
  const filename = name ?? (spelling["isNameless"] === true ? null : nameFor(source));
  const named = filename === null ? {} : { filename };
  if (source.kind === "file-id") {
    if (source.store !== "openai") return reject(field, "files as base64");
    return { file_id: source.id, ...named, ...inner };
  }
  return { ...named, file_data: writeSource(source, spelling), ...inner };
}

/** Returns a name for a file without one, which hosts would reject. */
function nameFor(source: MediaPart["source"]): string {
  return source.kind === "base64" && source.mediaType === "application/pdf" ? "document.pdf" : "document";
}

function reject(field: string, takes: string): never {
  return fail("invalid_request", `${field} cannot be sent to this model, which takes ${takes}. Send it so.`, {
    metadata: { field },
  });
}
