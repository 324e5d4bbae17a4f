import { unwrapReasoning } from "../../src/wire/canonical/model/reasoning-envelope.ts";

/** Values from the wire are read dynamically. */
// biome-ignore lint/suspicious/noExplicitAny: recorded bodies have every shape
export type Json = any;

/** An image, a file, an audio or a video, inline or by reference. */
export interface Media {
  readonly what: "image" | "file" | "audio" | "video";
  readonly mediaType: string | null;
  /** Base64; `null` if only the URL or an id is known. */
  readonly data: string | null;
  /** The URL, or the id of an upload. */
  readonly url: string | null;
}

/** A part of a message, in any format. */
export type Item =
  | { readonly kind: "text" | "refusal" | "reasoning" | "signature" | "hosted"; readonly value: string }
  | { readonly kind: "media"; readonly media: Media }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly args: string }
  | {
      readonly kind: "result";
      readonly id: string;
      readonly name: string;
      readonly text: string;
      readonly media: readonly Media[];
    };

/** One message. */
export interface Turn {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly items: readonly Item[];
}

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string | null;
  readonly schema: Json;
}

/** The parts of a request that every format has. */
export interface Conversation {
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
}

/** The vendor's token counts; `null` if not reported. */
export interface Usage {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly cached: number | null;
}

/** Why an answer ended, in terms of all formats. */
export type Finish = "stop" | "length" | "tools" | "filter" | "pause";

/** The parts of an answer that every format has. */
export interface Answer {
  readonly items: readonly Item[];
  readonly citations: readonly string[];
  readonly finish: Finish;
  readonly usage: Usage;
}

/** Reads one wire format, independently of the gateway's own codecs. */
export interface WireReader {
  readRequest(body: Json): Conversation;
  readAnswer(body: Json): Answer;
  /** Joins a stream, bytes read as Latin-1, to the body of a whole answer. */
  joinStream(latin1: string): Json;
}

/** Returns a list, or an empty one for anything else. */
export function listOf(value: Json): Json[] {
  return Array.isArray(value) ? value : [];
}

/** A text item for each text that is not empty. */
export function textItems(kind: "text" | "refusal" | "reasoning" | "signature", ...values: Json[]): Item[] {
  return values.flatMap((value) => (typeof value === "string" && value !== "" ? [{ kind, value }] : []));
}

/** The text of a message's content: a string, or parts with a text. */
export function textOf(content: Json): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => (typeof part === "string" ? part : (part?.text ?? "")))
    .join("\n");
}

/** Media from a `data:` URL or another URL. */
export function mediaFromUrl(what: Media["what"], url: string): Media {
  const [, mediaType, data] = /^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(url) ?? [];
  return data === undefined
    ? { what, mediaType: null, data: null, url }
    : { what, mediaType: mediaType ?? null, data, url: null };
}

/** The kind of media of a MIME type. */
export function whatOf(mediaType: string): Media["what"] {
  const [family] = mediaType.split("/");
  return family === "image" || family === "audio" || family === "video" ? family : "file";
}

/**
 * The items of a vendor's signature, as received or in the envelope that carries another vendor's; an envelope without a
 * signature yields none. Clients pass both on unread.
 */
export function signatureItems(...values: Json[]): Item[] {
  const opened = values.map((value) => {
    const carried = typeof value === "string" ? unwrapReasoning(value) : null;
    return carried === null ? value : (carried.signature ?? carried.encrypted);
  });
  return textItems("signature", ...opened);
}

/** The events of an SSE stream as JSON, bytes read as Latin-1, without `[DONE]`. */
export function readSse(latin1: string): Json[] {
  return Buffer.from(latin1, "latin1")
    .toString("utf8")
    .split(/\r?\n\r?\n/)
    .flatMap((block) => {
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      return data === "" || data === "[DONE]" ? [] : [JSON.parse(data)];
    });
}
