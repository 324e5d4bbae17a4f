import type { MediaPart, MediaSource, Part } from "../../canonical/parts.ts";
import type { FormatName } from "../../conversation/format-name.ts";
import { asFields, type Fields, omit } from "../../json/fields.ts";
import { decodeCitation, encodeCitation } from "./citations.ts";
import { markSpelling, readSpelling } from "./extras.ts";

/**
 * Decodes a part of a message's content or of a tool's output. Unknown parts become native parts. `value` was checked to be an
 * object with a type.
 */
export function decodeContentPart(value: Fields): Part {
  const type = String(value["type"]);
  const part = DECODERS[type]?.(value);
  return part ?? { kind: "native", format: "openai-responses", type, value };
}

const DECODERS: Readonly<Record<string, (value: Fields) => Part | null>> = {
  input_text: decodeText,
  output_text: decodeText,
  refusal: decodeRefusal,
  input_image: decodeImage,
  input_file: decodeFile,
  input_audio: decodeAudio,
};

const TEXT_FIELDS = new Set(["text", "annotations"]);

function decodeText(value: Fields): Part | null {
  if (typeof value["text"] !== "string") return null;
  const annotations = value["annotations"];
  const list = Array.isArray(annotations) ? annotations : [];
  const rest = omit(value, TEXT_FIELDS);
  // The list itself is kept; its entries are the citations.
  if (Array.isArray(annotations)) rest["annotations"] = [];
  return {
    kind: "text",
    text: value["text"],
    ...(list.length > 0 ? { citations: list.map(decodeCitation) } : {}),
    extras: markSpelling({ part: rest }),
  };
}

function decodeRefusal(value: Fields): Part | null {
  if (typeof value["refusal"] !== "string") return null;
  const part = omit(value, new Set(["refusal"]));
  return { kind: "refusal", text: value["refusal"], extras: markSpelling({ part }) };
}

function decodeImage(value: Fields): Part | null {
  const source = readSource(value["image_url"]) ?? readFileId(value["file_id"]);
  if (source === null) return null;
  const { detail } = value;
  const named = typeof detail === "string" ? { detail } : {};
  const known = new Set([source.kind === "file-id" ? "file_id" : "image_url", ...Object.keys(named)]);
  return { kind: "image", source, ...named, extras: markSpelling({ part: omit(value, known) }) };
}

function decodeFile(value: Fields): Part | null {
  const data = readSource(value["file_data"]);
  const url = readSource(value["file_url"]);
  const source = data ?? url ?? readFileId(value["file_id"]);
  if (source === null) return null;
  const { filename } = value;
  const named = typeof filename === "string" ? { name: filename } : {};
  const sourceField = data !== null ? "file_data" : url !== null ? "file_url" : "file_id";
  const known = new Set([sourceField, ...(typeof filename === "string" ? ["filename"] : [])]);
  return { kind: "file", source, ...named, extras: markSpelling({ part: omit(value, known) }) };
}

function decodeAudio(value: Fields): Part | null {
  const audio = asFields(value["input_audio"]);
  const { data, format } = audio ?? {};
  if (typeof data !== "string" || typeof format !== "string") return null;
  const mediaType = format === "mp3" ? "audio/mpeg" : `audio/${format}`;
  const part = omit(value, new Set(["input_audio"]));
  return { kind: "audio", source: { kind: "base64", mediaType, data }, extras: markSpelling({ part }) };
}

const DATA_URL = /^data:([^;,]+);base64,/;

function readSource(value: unknown): MediaSource | null {
  if (typeof value !== "string") return null;
  const mediaType = DATA_URL.exec(value)?.[1];
  if (mediaType === undefined) return { kind: "url", url: value, mediaType: null };
  return { kind: "base64", mediaType, data: value.slice(value.indexOf(",") + 1) };
}

function readFileId(value: unknown): MediaSource | null {
  return typeof value === "string" ? { kind: "file-id", id: value, format: "openai-responses" } : null;
}

/** The type of a text: `input_text` of users and tools, `output_text` of the model. */
export type TextType = "input_text" | "output_text";

/** Encodes a part; null if this format has no form for it. */
export function encodeContentPart(part: Part, textType: TextType): Fields | null {
  const rest = readSpelling(part)?.part;
  switch (part.kind) {
    case "text":
      return encodeText(part, rest ?? { type: textType });
    case "refusal":
      return { ...(rest ?? { type: "refusal" }), refusal: part.text };
    case "image":
    case "file":
    case "audio":
      return encodeMedia(part, rest);
    case "native":
      return part.format === "openai-responses" ? part.value : null;
    default:
      return null;
  }
}

function encodeText(part: Extract<Part, { kind: "text" }>, rest: Fields): Fields {
  const annotations = part.citations?.map(encodeCitation).filter((one) => one !== null) ?? [];
  return { ...rest, text: part.text, ...(annotations.length > 0 ? { annotations } : {}) };
}

/** OpenAI has one file store for both of its formats. */
const OPENAI_FILES: ReadonlySet<FormatName> = new Set(["openai-responses", "openai-chat"]);

function encodeMedia(part: MediaPart, rest: Fields | undefined): Fields | null {
  const { source } = part;
  if (source.kind === "file-id" && !OPENAI_FILES.has(source.format)) return null;
  if (source.kind === "text" && part.kind === "file") {
    const text = part.name === undefined ? source.text : `${part.name}:\n\n${source.text}`;
    return { type: "input_text", text };
  }
  switch (part.kind) {
    case "image":
      return encodeImage(part, rest);
    case "file":
      return encodeFile(part, rest);
    case "audio": {
      // OpenAI's models take no audio in this API; a client that sends some is meant for another vendor.
      if (source.kind !== "base64" || rest === undefined) return null;
      const format = source.mediaType === "audio/mpeg" ? "mp3" : source.mediaType.replace("audio/", "");
      return { ...rest, input_audio: { data: source.data, format } };
    }
    default:
      return null;
  }
}

function encodeImage({ source, detail }: MediaPart, rest: Fields | undefined): Fields | null {
  const where = source.kind === "file-id" ? { file_id: source.id } : { image_url: urlOf(source) };
  return { ...(rest ?? { type: "input_image" }), ...where, ...(detail === undefined ? {} : { detail }) };
}

function encodeFile({ source, name }: MediaPart, rest: Fields | undefined): Fields | null {
  const spelled = { ...(rest ?? { type: "input_file" }), ...(name === undefined ? {} : { filename: name }) };
  if (source.kind === "file-id") return { ...spelled, file_id: source.id };
  if (source.kind === "url") return { ...spelled, file_url: source.url };
  // OpenAI rejects file data without a name.
  return {
    ...(name === undefined && !rest ? { filename: "file" } : {}),
    ...spelled,
    file_data: urlOf(source),
  };
}

function urlOf(source: MediaSource): string {
  if (source.kind === "url") return source.url;
  return source.kind === "base64" ? `data:${source.mediaType};base64,${source.data}` : "";
}
