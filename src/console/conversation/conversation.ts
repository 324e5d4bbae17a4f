/** The client APIs that the playground speaks. */
export const APIS = ["chat", "responses", "messages"] as const;
export type Api = (typeof APIS)[number];

/** A call of a tool by the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

/** What a tool returned. */
export interface ToolResult {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

/** What a person sent. Images are URLs, usually `data:`. */
export interface UserTurn {
  readonly role: "user";
  readonly text: string;
  readonly images: readonly string[];
}

/** What a model answered. The gateway itself remembers the reasoning of earlier turns, so that it is not sent again. */
export interface AssistantTurn {
  readonly role: "assistant";
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
}

/** The results of the calls of the answer before. */
export interface ToolTurn {
  readonly role: "tool";
  readonly results: readonly ToolResult[];
}

export type Turn = UserTurn | AssistantTurn | ToolTurn;

/** A tool that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export const TOOL_CHOICES = ["auto", "required", "none"] as const;
export type ToolChoice = (typeof TOOL_CHOICES)[number];

/** A conversation and its parameters in a form that no API has. Null and empty values are not sent. */
export interface Conversation {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly maxTokens: number | null;
  /** A reasoning effort; empty for the model's default. */
  readonly effort: string;
}

/** Returns a conversation without turns and with the models' default parameters. */
export function emptyConversation(): Conversation {
  return {
    system: "",
    turns: [],
    tools: [],
    toolChoice: "auto",
    temperature: null,
    topP: null,
    maxTokens: null,
    effort: "",
  };
}

/** The parts of a `data:` URL with base64; null for other URLs. */
export function splitDataUrl(url: string): { readonly type: string; readonly data: string } | null {
  const match = /^data:([\w.+-]+\/[\w.+-]+);base64,/.exec(url);
  return match === null ? null : { type: match[1] as string, data: url.slice(match[0].length) };
}

/** Returns the object that a model wrote as the arguments of a call; an empty one if it is not an object. */
export function readArguments(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Whether a value is an object and not a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The calls of the last answer that have no result yet. */
export function openCalls({ turns }: Conversation): readonly ToolCall[] {
  const last = turns.at(-1);
  return last?.role === "assistant" ? last.calls : [];
}
