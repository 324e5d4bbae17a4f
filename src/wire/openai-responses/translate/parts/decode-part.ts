import { asFields, createTable, type Fields, omit } from "../../../../base/json/fields.ts";
import {
  type MediaSource,
  type Part,
  readBreakpoint,
  readCacheMark,
} from "../../../canonical/model/parts.ts";
import { decodeCitation } from "./citations.ts";
import { markSpelling } from "./extras.ts";

/**
 * Decodes a part of a message's content or of a tool's output. Unknown parts become native parts. `value` was checked to be an
 * object with a type.
 */
export function decodePart(value: Fields): Part {
  const type = String(value["type"]);
  const cache = readCacheMark(value["cache_control"]) ?? readBreakpoint(value["prompt_cache_breakpoint"]);
  const part = DECODERS[type]?.(cache === undefined ? value : omit(value, MARKS));
  if (cache !== undefined && part) return { ...part, cache };
  return part ?? { kind: "native", format: "openai-responses", type, value };
}

const MARKS: ReadonlySet<string> = new Set(["cache_control", "prompt_cache_breakpoint"]);

const DECODERS: Readonly<Record<string, (value: Fields) => Part | null>> = createTable({
  input_text: decodeText,
  output_text: decodeText,
  refusal: decodeRefusal,
  input_image: decodeImage,
  input_file: decodeFile,
  input_audio: decodeAudio,
});

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

const DATA_URL = /^data:([^,]+);base64,/;

function readSource(value: unknown): MediaSource | null {
  if (typeof value !== "string") return null;
  const mediaType = DATA_URL.exec(value)?.[1];
  if (mediaType === undefined) return { kind: "url", url: value, mediaType: null };
  return {
    kind: "base64",
    mediaType,
    data: value.slice(value.indexOf(",") + 1),
  };
}

function readFileId(value: unknown): MediaSource | null {
  return typeof value === "string" ? { kind: "file-id", id: value, store: "openai" } : null;
}
