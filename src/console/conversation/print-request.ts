import {
  type Api,
  type AssistantTurn,
  type Conversation,
  readArguments,
  splitDataUrl,
  type ToolTurn,
  type Turn,
  type UserTurn,
} from "./conversation.ts";

type Json = Readonly<Record<string, unknown>>;

/** The paths of the APIs below the base URL. */
export const API_PATHS: Readonly<Record<Api, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
};

/** Prints a conversation as the body of a request of one API. */
export function printRequest(api: Api, model: string, conversation: Conversation): Json {
  return PRINTERS[api](model, conversation);
}

const PRINTERS: Readonly<Record<Api, (model: string, conversation: Conversation) => Json>> = {
  chat: (model, conversation) => ({
    model,
    messages: [
      ...(conversation.system === "" ? [] : [{ role: "system", content: conversation.system }]),
      ...conversation.turns.flatMap(printChatTurn),
    ],
    ...printGiven("temperature", conversation.temperature),
    ...printGiven("top_p", conversation.topP),
    ...printGiven("max_tokens", conversation.maxTokens),
    ...printGiven("reasoning_effort", conversation.effort || null),
    ...printTools(conversation, ({ name, description, parameters }) => ({
      type: "function",
      function: { name, ...printGiven("description", description || null), parameters },
    })),
    stream: true,
    stream_options: { include_usage: true },
  }),
  responses: (model, conversation) => ({
    model,
    ...printGiven("instructions", conversation.system || null),
    input: conversation.turns.flatMap(printResponsesTurn),
    ...printGiven("temperature", conversation.temperature),
    ...printGiven("top_p", conversation.topP),
    ...printGiven("max_output_tokens", conversation.maxTokens),
    ...(conversation.effort === "" ? {} : { reasoning: { effort: conversation.effort, summary: "auto" } }),
    ...printTools(conversation, ({ name, description, parameters }) => ({
      type: "function",
      name,
      ...printGiven("description", description || null),
      parameters,
    })),
    stream: true,
  }),
  messages: (model, conversation) => ({
    model,
    ...printGiven("max_tokens", conversation.maxTokens),
    ...printGiven("system", conversation.system || null),
    messages: conversation.turns.flatMap(printMessagesTurn),
    ...printGiven("temperature", conversation.temperature),
    ...printGiven("top_p", conversation.topP),
    ...printThinking(conversation.effort),
    ...printMessagesTools(conversation),
    stream: true,
  }),
};

function printGiven(name: string, value: unknown): Json {
  return value === null ? {} : { [name]: value };
}

function printTools(
  { tools, toolChoice }: Conversation,
  print: (tool: Conversation["tools"][number]) => Json,
): Json {
  if (tools.length === 0) return {};
  return { tools: tools.map(print), ...(toolChoice === "auto" ? {} : { tool_choice: toolChoice }) };
}

const MESSAGES_CHOICES = { required: "any", none: "none" } as const;

function printMessagesTools({ tools, toolChoice }: Conversation): Json {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      ...printGiven("description", description || null),
      input_schema: parameters,
    })),
    ...(toolChoice === "auto" ? {} : { tool_choice: { type: MESSAGES_CHOICES[toolChoice] } }),
  };
}

function printThinking(effort: string): Json {
  if (effort === "") return {};
  if (effort === "none") return { thinking: { type: "disabled" } };
  return { thinking: { type: "adaptive" }, output_config: { effort } };
}

function printChatTurn(turn: Turn): Json[] {
  switch (turn.role) {
    case "user":
      return [{ role: "user", content: printChatContent(turn) }];
    case "assistant":
      return [
        {
          role: "assistant",
          content: turn.text === "" ? null : turn.text,
          ...(turn.calls.length === 0 ? {} : { tool_calls: turn.calls.map(printChatCall) }),
        },
      ];
    case "tool":
      return turn.results.map(({ callId, text }) => ({ role: "tool", tool_call_id: callId, content: text }));
  }
}

function printChatContent({ text, images }: UserTurn): unknown {
  if (images.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...images.map((url) => ({ type: "image_url", image_url: { url } })),
  ];
}

function printChatCall({ id, name, arguments: json }: AssistantTurn["calls"][number]): Json {
  return { id, type: "function", function: { name, arguments: json } };
}

function printResponsesTurn(turn: Turn): Json[] {
  switch (turn.role) {
    case "user":
      return [
        {
          type: "message",
          role: "user",
          content: [
            ...(turn.text === "" && turn.images.length > 0 ? [] : [{ type: "input_text", text: turn.text }]),
            ...turn.images.map((image_url) => ({ type: "input_image", image_url })),
          ],
        },
      ];
    case "assistant":
      return [
        ...(turn.text === "" ? [] : [printOutputText(turn.text)]),
        ...turn.calls.map(({ id, name, arguments: json }) => ({
          type: "function_call",
          call_id: id,
          name,
          arguments: json,
        })),
      ];
    case "tool":
      return turn.results.map(({ callId, text }) => ({
        type: "function_call_output",
        call_id: callId,
        output: text,
      }));
  }
}

function printOutputText(text: string): Json {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

function printMessagesTurn(turn: Turn): Json[] {
  switch (turn.role) {
    case "user":
      return [{ role: "user", content: printMessagesContent(turn) }];
    case "assistant":
      return [
        {
          role: "assistant",
          content: [
            ...(turn.text === "" ? [] : [{ type: "text", text: turn.text }]),
            ...turn.calls.map(({ id, name, arguments: json }) => ({
              type: "tool_use",
              id,
              name,
              input: readArguments(json),
            })),
          ],
        },
      ];
    case "tool":
      return [{ role: "user", content: printToolResults(turn) }];
  }
}

function printMessagesContent({ text, images }: UserTurn): unknown {
  if (images.length === 0) return text;
  return [
    ...images.map((url) => ({ type: "image", source: printSource(url) })),
    ...(text === "" ? [] : [{ type: "text", text }]),
  ];
}

function printSource(url: string): Json {
  const parts = splitDataUrl(url);
  return parts === null ? { type: "url", url } : { type: "base64", media_type: parts.type, data: parts.data };
}

function printToolResults({ results }: ToolTurn): Json[] {
  return results.map(({ callId, text }) => ({ type: "tool_result", tool_use_id: callId, content: text }));
}
