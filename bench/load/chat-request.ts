/** A chat message. */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  tool_call_id?: string;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

/** A chat request, without its model and `stream`. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly temperature: number;
  readonly max_tokens?: number;
  readonly tools?: readonly ChatTool[];
  readonly tool_choice?: "auto";
  readonly parallel_tool_calls?: boolean;
}

/** A chat tool. */
export interface ChatTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
}
