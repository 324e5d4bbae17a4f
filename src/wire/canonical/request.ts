import type { FormatName } from "../conversation/format-name.ts";
import type { Fields } from "../json/fields.ts";
import type { CacheMark, Extras, Part } from "./parts.ts";

/**
 * A conversation to go on with, whichever client API it came in and whichever format it goes out in. Null is "not
 * said": the vendor's default.
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
  /** How many answers. */
  readonly n: number | null;
  readonly logitBias: Readonly<Record<string, number>> | null;
  /** Log probabilities wanted, and of how many alternatives beside each token. */
  readonly logprobs: { readonly top: number | null } | null;
  readonly reasoning: ReasoningParameters | null;
  /** `low`, `medium`, `high`. */
  readonly verbosity: string | null;
  readonly outputFormat: OutputFormat | null;
  readonly serviceTier: string | null;
  /** The end user, as the client names them. */
  readonly user: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly promptCacheKey: string | null;
  readonly stream: boolean;
  /** A mark on the whole request: the vendor chooses where to cache. */
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

export interface Message {
  /** `tool`: all its parts are tool results. System and developer messages stand where the client put them. */
  readonly role: "system" | "developer" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
  /** Participant's name. */
  readonly name?: string;
  /** Reasoning was taken out of it. What its vendor ties to that reasoning, such as ids of items, means nothing without. */
  readonly lacksReasoning?: true;
  readonly extras?: Extras;
}

export type Tool = FunctionTool | CustomTool | NativeTool;

export interface FunctionTool {
  readonly kind: "function";
  readonly name: string;
  readonly description: string | null;
  /** A JSON Schema; null where the client gave none: no arguments. */
  readonly parameters: Fields | null;
  readonly strict: boolean | null;
  /** Groups tools, as Responses' `namespace` tools do. */
  readonly namespace?: string;
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

/** A tool that takes free text. */
export interface CustomTool {
  readonly kind: "custom";
  readonly name: string;
  readonly description: string | null;
  /** The grammar or other `format` it is bound to, as Responses spells it. */
  readonly inputFormat: Fields | null;
  readonly namespace?: string;
  readonly cache?: CacheMark;
  readonly extras?: Extras;
}

/** A tool that the vendor runs, or that only one format has. */
export interface NativeTool {
  readonly kind: "native";
  readonly format: FormatName;
  /** The vendor's name for it, for warnings: `web_search`. */
  readonly type: string;
  readonly value: Fields;
}

export type ToolChoice =
  | { readonly kind: "auto" }
  | { readonly kind: "none" }
  /** Some tool must be called. */
  | { readonly kind: "required" }
  | { readonly kind: "tool"; readonly name: string; readonly customs?: readonly string[] }
  /** One of these, must be when `required`. `customs`: the names, here and above, that the client says are of custom tools. */
  | {
      readonly kind: "allowed";
      readonly names: readonly string[];
      readonly required: boolean;
      readonly customs?: readonly string[];
    }
  | { readonly kind: "native"; readonly format: FormatName; readonly value: unknown };

/** How much thinking the client wishes. Formats say it as an effort, as a budget, or both. */
export interface ReasoningParameters {
  /** False: none at all. Null: not said. */
  readonly enabled: boolean | null;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  readonly effort: string | null;
  readonly budgetTokens: number | null;
  /** The model decides how long it thinks (Anthropic's `adaptive`). */
  readonly adaptive: boolean;
  /** Summaries: `auto`, `concise`, `detailed`; null: not said. */
  readonly summary: string | null;
  /** The reasoning is not to be shown in the answer. */
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

/** A request with nothing said but its messages: what decoders start from. */
export const NOTHING_SAID: Omit<ConversationRequest, "messages"> = {
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
