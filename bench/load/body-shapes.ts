import type { ChatMessage, ChatRequest, ChatTool } from "./chat-request.ts";

/** The Messages API requires a bound. */
const MAX_TOKENS = 1024;

/** Converts a chat request to a Messages request. */
export function shapeAsMessages(request: ChatRequest, stream: boolean): object {
  const { messages, tools = [], max_tokens = MAX_TOKENS, temperature } = request;
  return {
    max_tokens,
    temperature,
    system: messages.find(({ role }) => role === "system")?.content,
    messages: joinResults(messages),
    ...(tools.length > 0 ? { tools: tools.map(messagesTool), tool_choice: { type: "auto" } } : {}),
    stream,
  };
}

/** Puts results of calls that were made together into one message. */
function joinResults(messages: readonly ChatMessage[]): object[] {
  const joined: { role: string; content: unknown }[] = [];
  let results: object[] = [];
  for (const { role, content, tool_call_id, tool_calls = [] } of messages) {
    if (role === "system") continue;
    if (role === "tool") {
      if (results.length === 0) joined.push({ role: "user", content: results });
      results.push({ type: "tool_result", tool_use_id: tool_call_id, content });
      continue;
    }
    results = [];
    const uses = tool_calls.map((call) => ({
      type: "tool_use",
      id: call.id,
      name: call.function.name,
      input: JSON.parse(call.function.arguments),
    }));
    joined.push({ role, content: uses.length === 0 ? content : [{ type: "text", text: content }, ...uses] });
  }
  return joined;
}

function messagesTool({ function: { name, description, parameters } }: ChatTool): object {
  return { name, description, input_schema: parameters };
}

/** Converts a chat request to a Responses request. */
export function shapeAsResponses(request: ChatRequest, stream: boolean): object {
  const { messages, tools = [], max_tokens } = request;
  return {
    instructions: messages.find(({ role }) => role === "system")?.content,
    input: messages.flatMap(listItems),
    tools: tools.map(responsesTool),
    tool_choice: "auto",
    parallel_tool_calls: true,
    max_output_tokens: max_tokens,
    store: false,
    stream,
  };
}

function listItems({ role, content, tool_call_id, tool_calls = [] }: ChatMessage): object[] {
  if (role === "system") return [];
  if (role === "tool") return [{ type: "function_call_output", call_id: tool_call_id, output: content }];
  const type = role === "user" ? "input_text" : "output_text";
  const calls = tool_calls.map((call) => ({ type: "function_call", call_id: call.id, ...call.function }));
  return [{ type: "message", role, content: [{ type, text: content }] }, ...calls];
}

function responsesTool({ function: tool }: ChatTool): object {
  return { type: "function", ...tool, strict: false };
}
