import { asFields, asText, createTable, type Fields, omit } from "../../../../base/json/fields.ts";
import {
  type MediaPart,
  type NativePart,
  type Part,
  readBreakpoint,
  readCacheMark,
} from "../../../canonical/model/parts.ts";
import { joinTexts } from "../../reasoning.ts";
import { keepExtras } from "./extras.ts";
import { readSource } from "./media-source.ts";
import { decodeExtraContent } from "./signatures.ts";

/** Decodes a content part. An unknown or malformed part becomes a native part. */
export function decodePart(raw: Fields): Part {
  const type = asText(raw["type"]) ?? "unknown";
  return DECODERS[type]?.(raw) ?? keepNative(raw, type);
}

/** Returns a native part for something that only this format has. */
export function keepNative(value: Fields, type: string, spelling: Fields = {}): NativePart {
  return { kind: "native", format: "openai-chat", type, value, ...keepExtras({}, spelling) };
}

const DECODERS: Readonly<Record<string, (raw: Fields) => Part | null>> = createTable({
  text: (raw) => {
    const text = asText(raw["text"]);
    return text === null ? null : { kind: "text", text, ...readBase(raw, ["text"]) };
  },
  refusal: (raw) => {
    const text = asText(raw["refusal"]);
    return text === null
      ? null
      : { kind: "refusal", text, ...readBase(raw, ["refusal"], { place: "content" }) };
  },
  thinking: (raw) => ({
    kind: "reasoning",
    text: joinTexts(raw["thinking"]),
    isSummary: false,
    signature: null,
    encrypted: null,
    id: null,
    origin: null,
    isContent: true,
    ...keepExtras({}, { thinking: raw }),
  }),
  image_url: (raw) => readAddressed(raw, "image_url", "image"),
  video_url: (raw) => readAddressed(raw, "video_url", "video"),
  input_audio: readAudio,
  file: readFile,
});

const BASE = ["type", "cache_control", "prompt_cache_breakpoint"];

/** Decodes what every part may have: a cache mark and unknown fields. */
function readBase(raw: Fields, known: readonly string[], spelling: Fields = {}) {
  const own = readCacheMark(raw["cache_control"]);
  const cache = own ?? readBreakpoint(raw["prompt_cache_breakpoint"]);
  const names = new Set([...known, ...(cache === undefined ? ["type"] : BASE)]);
  const spelled = own === undefined ? spelling : { ...spelling, cache: raw["cache_control"] };
  return { ...(cache === undefined ? {} : { cache }), ...keepExtras(omit(raw, names), spelled) };
}

/** Decodes `image_url` and `video_url`: an object with a `url`, or the URL itself as some clients send it. */
function readAddressed(raw: Fields, field: string, kind: MediaPart["kind"]): Part | null {
  const inner = asFields(raw[field]) ?? { url: raw[field] };
  const url = asText(inner["url"]);
  if (url === null) return null;
  const { source, spelling } = readSource(url);
  const detail = asText(inner["detail"]);
  const rest = omit(inner, new Set(detail === null ? ["url"] : ["url", "detail"]));
  return {
    kind,
    source,
    ...(detail === null ? {} : { detail }),
    ...decodeExtraContent(raw["extra_content"]),
    ...readBase(raw, [field], {
      ...spelling,
      ...(typeof raw[field] === "string" ? { isBare: true } : {}),
      ...keepInner(rest),
    }),
  };
}

/** The media types of audio formats whose subtype differs from the format's name. */
const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: "audio/mpeg" };

function readAudio(raw: Fields): Part | null {
  const inner = asFields(raw["input_audio"]);
  const data = asText(inner?.["data"]);
  const format = asText(inner?.["format"]);
  if (inner === null || data === null || format === null) return null;
  const mediaType = AUDIO_TYPES[format] ?? `audio/${format}`;
  const rest = omit(inner, new Set(["data", "format"]));
  return {
    kind: "audio",
    source: { kind: "base64", mediaType, data },
    ...readBase(raw, ["input_audio"], { format, ...keepInner(rest) }),
  };
}

const WEB_ADDRESS = /^https?:/i;

function readFile(raw: Fields): Part | null {
  const inner = asFields(raw["file"]);
  if (inner === null) return null;
  const name = asText(inner["filename"]);
  const data = asText(inner["file_data"]);
  const id = asText(inner["file_id"]);
  const read = data === null ? null : readSource(data);
  const isData = read?.source.kind === "base64" || (data !== null && WEB_ADDRESS.test(data));
  if (!isData && (data !== null || id === null)) return null;
  const known = [...(name === null ? [] : ["filename"]), data === null ? "file_id" : "file_data"];
  return {
    kind: "file",
    source: read?.source ?? { kind: "file-id", id: id as string, store: "openai" },
    ...(name === null ? {} : { name }),
    ...readBase(raw, ["file"], {
      ...read?.spelling,
      ...(name === null ? { isNameless: true } : {}),
      ...keepInner(omit(inner, new Set(known))),
    }),
  };
}

function keepInner(rest: Fields): Fields {
  return Object.keys(rest).length === 0 ? {} : { inner: rest };
}
