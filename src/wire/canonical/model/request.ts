import type { Fields } from "../../../base/json/fields.ts";
import type { FormatName } from "../../conversation/traits/format-name.ts";
import type { CacheMark, Extras, Part } from "./parts.ts";

/**
 * A request to continue a conversation, independent of the client API and the upstream's format. Null means that the client did not
 * set a field, so that the vendor's default applies.
 */
export interface ConversationRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  readonly parallelToolCalls: boolean | null;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly stop: readonly string[];
  readonly frequencyPenalty: number | null;
  readonly presencePenalty: number | null;
  readonly seed: number | null;
  /** The number of choices. */
  readonly n: number | null;
  readonly logitBias: Readonly<Record<string, number>> | null;
  /** Requests log probabilities, and the number of alternatives per token. */
  readonly logprobs: { readonly top: number | null } | null;
  readonly reasoning: ReasoningParameters | null;
  /** `low`, `medium`, `high`. */
  readonly verbosity: string | null;
  readonly outputFormat: OutputFormat | null;
  readonly serviceTier: string | null;
  /** The client's id of the end user. */
  readonly user: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly promptCacheKey: string | null;
  readonly stream: boolean;
  /** A cache mark for the whole request: the vendor chooses the position. */
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

export interface Message {
  /** `tool`: all parts are tool results. System and developer messages keep their positions. */
  readonly role: "system" | "developer" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
  /** The name of the participant. */
  readonly name?: string;
  /** Its reasoning was removed. Data that the vendor ties to that reasoning, such as item ids, is invalid then. */
  readonly lacksReasoning?: true;
  readonly extras?: Extras;
}

export type Tool = FunctionTool | CustomTool | NativeTool;

export interface FunctionTool {
  readonly kind: "function";
  readonly name: string;
  readonly description: string | null;
  /** A JSON Schema; null if the client sent none, which means no arguments. */
  readonly parameters: Fields | null;
  readonly strict: boolean | null;
  /** The namespace of the tool, as in Responses. */
  readonly namespace?: string;
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

/** A tool that takes free text. */
export interface CustomTool {
  readonly kind: "custom";
  readonly name: string;
  readonly description: string | null;
  /** The grammar or other `format` of the input, in the spelling of Responses. */
  readonly inputFormat: Fields | null;
  readonly namespace?: string;
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

/** A tool that the vendor runs or that only one format has. */
export interface NativeTool {
  readonly kind: "native";
  readonly format: FormatName;
  /** The vendor's name of the tool, for warnings, such as `web_search`. */
  readonly type: string;
  readonly value: Fields;
  /** It is a namespace of tools, none of which the canonical model can express. Absent: it is a single tool. */
  readonly isNamespace?: true;
}

export type ToolChoice =
  | { readonly kind: "auto" }
  | { readonly kind: "none" }
  /** The model must call a tool. */
  | { readonly kind: "required" }
  | { readonly kind: "tool"; readonly name: string; readonly customs?: readonly string[] }
  /**
   * The model may call one of these tools, and must if `required`. `customs`: which of the names here and above are custom tools.
   */
  | {
      readonly kind: "allowed";
      readonly names: readonly string[];
      readonly required: boolean;
      readonly customs?: readonly string[];
    }
  | { readonly kind: "native"; readonly format: FormatName; readonly value: unknown };

/** How much reasoning the client asks for. Formats have an effort, a budget, or both. */
export interface ReasoningParameters {
  /** False: no reasoning. Null: not set. */
  readonly enabled: boolean | null;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  readonly effort: string | null;
  readonly budgetTokens: number | null;
  /** The model chooses its own budget (Anthropic's `adaptive`). */
  readonly adaptive: boolean;
  /** Summaries: `auto`, `concise`, `detailed`; null: not set. */
  readonly summary: string | null;
  /** Leave reasoning out of the answer. */
  readonly hidden: boolean;
  readonly extras?: Extras;
}

export type OutputFormat =
  | { readonly kind: "text" }
  /** Any JSON object. */
  | { readonly kind: "json" }
  | {
      readonly kind: "json-schema";
      readonly name: string | null;
      readonly description: string | null;
      readonly schema: Fields;
      readonly strict: boolean | null;
    }
  | { readonly kind: "native"; readonly format: FormatName; readonly value: unknown };

/** A request without settings and messages, from which decoders start. */
export const EMPTY_REQUEST: Omit<ConversationRequest, "messages"> = {
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  stop: [],
  frequencyPenalty: null,
  presencePenalty: null,
  seed: null,
  n: null,
  logitBias: null,
  logprobs: null,
  reasoning: null,
  verbosity: null,
  outputFormat: null,
  serviceTier: null,
  user: null,
  metadata: null,
  promptCacheKey: null,
  stream: false,
};
