import type { Fields } from "../../../../base/json/fields.ts";
import {
  type MediaPart,
  type MediaSource,
  type Part,
  writeBreakpoint,
} from "../../../canonical/model/parts.ts";
import { encodeCitation } from "./citations.ts";
import { readSpelling } from "./extras.ts";

/** The type of a text: `input_text` of users and tools, `output_text` of the model. */
type TextType = "input_text" | "output_text";

/** Encodes a part; null if this format has no form for it. */
export function encodePart(part: Part, textType: TextType): Fields | null {
  const encoded = encodeUnmarked(part, textType);
  const mayMark = textType === "input_text" && encoded !== null && part.cache?.isBreakpoint === true;
  return mayMark ? { ...encoded, ...writeBreakpoint(part.cache) } : encoded;
}

function encodeUnmarked(part: Part, textType: TextType): Fields | null {
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

function encodeMedia(part: MediaPart, rest: Fields | undefined): Fields | null {
  const { source } = part;
  if (source.kind === "file-id" && source.store !== "openai") return null;
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
