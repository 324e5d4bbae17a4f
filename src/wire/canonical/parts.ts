import type { FormatName } from "../conversation/format-name.ts";
import type { Fields } from "../json/fields.ts";

/**
 * What only one format knows of a thing: unknown fields, and how it was spelled where a format has several spellings.
 * The format that wrote it reads it back, so that it meets itself without loss; no other looks inside.
 */
export interface Extras {
  readonly format: FormatName;
  /** Unknown fields, by their names; of a request, what a warning names where another format leaves them out. */
  readonly fields: Fields;
  /** How known things were spelled. No other format loses anything with it. */
  readonly spelling?: Fields;
}

interface PartBase {
  /** The prompt up to and with this part is worth caching. */
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

export interface CacheMark {
  /** How long; null: as long as the vendor keeps by itself. */
  readonly ttl: "5m" | "1h" | null;
}

/** A piece of a message, in a request or in an answer. */
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

/** The model declined, in words of its own. */
export interface RefusalPart extends PartBase {
  readonly kind: "refusal";
  readonly text: string;
}

export interface MediaPart extends PartBase {
  readonly kind: "image" | "audio" | "video" | "file";
  readonly source: MediaSource;
  /** Of an image: `low`, `high`, `auto`, `original`. */
  readonly detail?: string;
  /** Of a file: its name, or title. */
  readonly name?: string;
  /** Of an image that a model made. */
  readonly signature?: Signature;
}

/** Where media are. The gateway fetches nothing: a target that takes no URL gets a warning or a refusal. */
export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | null }
  /** Text that is a document, such as Anthropic's plain-text source. */
  | { readonly kind: "text"; readonly mediaType: string; readonly text: string }
  /** Uploaded before to a vendor; means something only there. */
  | { readonly kind: "file-id"; readonly id: string; readonly format: FormatName };

/**
 * A piece of reasoning. What a vendor splits into several (summaries beside an encrypted part) is several parts with
 * one `id`, next to each other.
 */
export interface ReasoningPart extends PartBase {
  readonly kind: "reasoning";
  /** What of it can be read; "" where nothing can. */
  readonly text: string;
  /** The text sums up what was thought, and is not the thought itself. */
  readonly isSummary: boolean;
  /** What the vendor demands back with its text, unchanged. */
  readonly signature: string | null;
  /** What only the vendor can read. */
  readonly encrypted: string | null;
  /** The vendor's id for the group it belongs to. */
  readonly id: string | null;
  /** Whose signature or encryption it is, see `REASONING_ORIGINS`; null where it has neither or nobody knows. */
  readonly origin: string | null;
  /** The client put it among the content of its message, as Mistral's `thinking` parts are. */
  readonly isContent?: true;
}

/** Reasoning that is text and nothing else: anybody may read it, and nobody wants it back. */
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

/** Whose reasoning it is, in the words that `reasoning_details[].format` uses. */
export const REASONING_ORIGINS = {
  anthropic: "anthropic-claude-v1",
  openai: "openai-responses-v1",
  gemini: "google-gemini-v1",
  xai: "xai-responses-v1",
} as const;

/** A vendor's proof on a part that is no reasoning, demanded back unchanged: Gemini's thought signature. */
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
  /** Where tools are grouped: the group's name. */
  readonly namespace?: string;
  readonly signature?: Signature;
}

export interface ToolResultPart extends PartBase {
  readonly kind: "tool-result";
  readonly callId: string;
  /** The tool's name, where the client said it, or a placeholder knows it. */
  readonly toolName?: string;
  readonly tool: "function" | "custom";
  /** Texts and media. */
  readonly content: readonly Part[];
  readonly isError: boolean;
}

/** A block that only one format has: server tools and their results, compaction, containers. It meets itself whole. */
export interface NativePart extends PartBase {
  readonly kind: "native";
  readonly format: FormatName;
  /** The vendor's name for it, for warnings: `server_tool_use`. */
  readonly type: string;
  readonly value: Fields;
  /** The call that it is, where a tool result may answer it. */
  readonly call?: HostedCall;
  /** The result that it is, where it answers such a call. */
  readonly result?: { readonly callId: string; readonly text: string };
  /** What it says, for formats that have no such block. */
  readonly text?: string;
}

/** A call of a kind that only one format has, in the words of a plain one. */
export interface HostedCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** Where a statement comes from. */
export interface Citation {
  readonly url: string | null;
  readonly title: string | null;
  /** The words cited. */
  readonly text: string | null;
  /** Place in the answer's text, UTF-16 units; null where the vendor says none. */
  readonly start: number | null;
  readonly end: number | null;
  readonly extras?: Extras;
}
