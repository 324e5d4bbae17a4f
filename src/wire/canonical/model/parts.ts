import { asFields, type Fields } from "../../../base/json/fields.ts";
import type { FormatName, ProviderFormat } from "../../conversation/traits/format-name.ts";

/**
 * Data that only one format has: unknown fields, and how something was spelled where a format has several spellings. The format
 * that wrote the data reads it back, so that decoding and encoding loses nothing; other formats ignore it.
 */
export interface Extras {
  readonly format: ProviderFormat;
  /** Unknown fields by name. For a request, these are the names in the warning when another format leaves them out. */
  readonly fields: Fields;
  /** How known fields were spelled. Other formats lose nothing without it. */
  readonly spelling?: Fields;
}

interface PartBase {
  /** Marks the end of a prompt prefix that should be cached. */
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

export interface CacheMark {
  /** The time to live; null: the vendor's default. */
  readonly ttl: "5m" | "1h" | null;
  /** True for a `prompt_cache_breakpoint` of OpenAI's formats. */
  readonly isBreakpoint?: true;
}

/** Reads `cache_control`; undefined if there is none. */
export function readCacheMark(raw: unknown): CacheMark | undefined {
  const mark = asFields(raw);
  if (mark === null) return undefined;
  const ttl = mark["ttl"];
  return { ttl: ttl === "5m" || ttl === "1h" ? ttl : null };
}

/** Reads `prompt_cache_breakpoint` of OpenAI's formats; undefined if there is none. */
export function readBreakpoint(raw: unknown): CacheMark | undefined {
  return asFields(raw) === null ? undefined : { ttl: null, isBreakpoint: true };
}

/** Writes a mark that is a breakpoint; no field for another one. */
export function writeBreakpoint(mark: CacheMark | undefined): Fields {
  return mark?.isBreakpoint === true ? BREAKPOINT_FIELD : NO_FIELD;
}

const BREAKPOINT_FIELD: Fields = { prompt_cache_breakpoint: { mode: "explicit" } };
const NO_FIELD: Fields = {};

/** A part of a message in a request or an answer. */
export type Part =
  | TextPart
  | RefusalPart
  | MediaPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | NativePart;

export interface TextPart extends PartBase {
  readonly kind: "text";
  readonly text: string;
  readonly citations?: readonly Citation[];
  readonly signature?: Signature;
}

/** The model's refusal in its own words. */
export interface RefusalPart extends PartBase {
  readonly kind: "refusal";
  readonly text: string;
}

export interface MediaPart extends PartBase {
  readonly kind: "image" | "audio" | "video" | "file";
  readonly source: MediaSource;
  /** Images only: `low`, `high`, `auto` or `original`. */
  readonly detail?: string;
  /** Files only: the name or title. */
  readonly name?: string;
  /** Only for images that a model made. */
  readonly signature?: Signature;
}

/**
 * The source of media. The gateway fetches nothing: a target that does not accept URLs gets a warning or the request is rejected.
 */
export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | null }
  /** A text document, such as Anthropic's plain-text source. */
  | { readonly kind: "text"; readonly mediaType: string; readonly text: string }
  /** A file that was uploaded to a vendor and is only known there. */
  | { readonly kind: "file-id"; readonly id: string; readonly store: FileStore };

/** The vendors whose files requests refer to by id. OpenAI has one store for all of its formats. */
type FileStore = "openai" | "anthropic" | "google";

/**
 * A part of the model's reasoning. Several parts that a vendor groups (summaries and an encrypted part) have the same `id` and are
 * adjacent.
 */
export interface ReasoningPart extends PartBase {
  readonly kind: "reasoning";
  /** The readable text; "" if there is none. */
  readonly text: string;
  /** The text is a summary of the reasoning. */
  readonly isSummary: boolean;
  /** The vendor's signature of the text, which must be sent back unchanged with it. */
  readonly signature: string | null;
  /** Encrypted reasoning that only the vendor can read. */
  readonly encrypted: string | null;
  /** The vendor's id of the group that the part belongs to. */
  readonly id: string | null;
  /** Whose signature or encryption it is (`REASONING_ORIGINS`); null if it has neither or the origin is unknown. */
  readonly origin: string | null;
  /** The client sent it within the content of its message, as Mistral's `thinking` parts. */
  readonly isContent?: true;
}

/** Returns reasoning that is plain text, without signature or encryption. */
export function plainReasoning(text: string): ReasoningPart {
  return {
    kind: "reasoning",
    text,
    isSummary: false,
    signature: null,
    encrypted: null,
    id: null,
    origin: null,
  };
}

/** The origins of reasoning, in the terms of `reasoning_details[].format`. */
export const REASONING_ORIGINS = {
  anthropic: "anthropic-claude-v1",
  openai: "openai-responses-v1",
  gemini: "google-gemini-v1",
  xai: "xai-responses-v1",
} as const;

/** A vendor's signature on a part other than reasoning, which must be sent back unchanged: Gemini's thought signature. */
export interface Signature {
  readonly value: string;
  /** See `REASONING_ORIGINS`. */
  readonly origin: string;
}

export interface ToolCallPart extends PartBase {
  readonly kind: "tool-call";
  readonly id: string;
  readonly name: string;
  /** `function`: arguments are JSON text, as the model wrote it. `custom`: free text. */
  readonly tool: "function" | "custom";
  readonly arguments: string;
  /** The namespace of the tool, in formats that group tools. */
  readonly namespace?: string;
  readonly signature?: Signature;
}

export interface ToolResultPart extends PartBase {
  readonly kind: "tool-result";
  readonly callId: string;
  /** The tool's name, if the client sent it or the result is a placeholder. */
  readonly toolName?: string;
  readonly tool: "function" | "custom";
  /** Texts and media of the result. */
  readonly content: readonly Part[];
  readonly isError: boolean;
}

/**
 * A block that only one format has, such as a server tool and its result, compaction or a container. Its own format gets it back
 * unchanged.
 */
export interface NativePart extends PartBase {
  readonly kind: "native";
  readonly format: FormatName;
  /** The vendor's name of the block, for warnings, such as `server_tool_use`. */
  readonly type: string;
  readonly value: Fields;
  /** The call that the block stands for, if a tool result may answer it. */
  readonly call?: HostedCall;
  /** The result that the block stands for, if it answers such a call. */
  readonly result?: { readonly callId: string; readonly text: string };
  /** The text of the block, for formats that do not have it. */
  readonly text?: string;
}

/** The plain form of a call that only one format has. */
interface HostedCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** The source of a statement. */
export interface Citation {
  readonly url: string | null;
  readonly title: string | null;
  /** The cited text. */
  readonly text: string | null;
  /** Position in the answer's text in UTF-16 units; null if the vendor gives none. */
  readonly start: number | null;
  readonly end: number | null;
  readonly extras?: Extras;
}
