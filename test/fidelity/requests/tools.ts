import type { Fields } from "../../../src/base/json/fields.ts";
import { ABSENT } from "../probe.ts";
import { called, everywhere, lookTool, type RequestCase } from "./request-case.ts";

const look = lookTool();
const other: Readonly<Record<"chat" | "responses" | "messages", Fields>> = {
  chat: { type: "function", function: { name: "other", parameters: { type: "object", properties: {} } } },
  responses: { type: "function", name: "other", parameters: { type: "object", properties: {} } },
  messages: { name: "other", input_schema: { type: "object", properties: {} } },
};
const both = everywhere((client) => ({ tools: [look[client], other[client]] }));
const IMAGE = "TUFSS0VSaW1hZ2U=";

/** Returns requests with a tool whose schema has keywords that not every vendor supports. */
const SCHEMA = {
  type: "object",
  properties: {
    unit: { type: "string", enum: ["MARKER-a", "MARKER-b"] },
    size: { anyOf: [{ type: "integer", minimum: 4711 }, { type: "null" }] },
  },
  required: ["unit"],
};
const KEPT_SCHEMA = {
  properties: { unit: { enum: ["MARKER-a", "MARKER-b"] }, size: { anyOf: [{ minimum: 4711 }, {}] } },
  required: ["unit"],
};
const rooted = {
  oneOf: [
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    { type: "object", properties: { MARKER: { type: "string" } }, required: ["MARKER"] },
  ],
};

function withSchema(schema: Fields): RequestCase["bodies"] {
  return {
    chat: { tools: [{ type: "function", function: { name: "look", parameters: schema } }] },
    responses: { tools: [{ type: "function", name: "look", parameters: schema, strict: false }] },
    messages: { tools: [{ name: "look", input_schema: schema }] },
  };
}

const OPTIONAL = {
  type: "object",
  properties: { place: { type: "string" }, MARKER: { type: "string" } },
  required: ["place"],
  additionalProperties: false,
};
/** The same schema with all arguments required. */
const NULLABLE = {
  properties: { place: { type: "string" }, MARKER: { type: ["string", "null"] } },
  required: ["place", "MARKER"],
};

const GRAMMAR = { type: "grammar", syntax: "regex", definition: "MARKER+" };
/** The same grammar in the form of chat completions. */
const CHAT_GRAMMAR = { type: "grammar", grammar: { syntax: "regex", definition: "MARKER+" } };

/** Tools, tool choice, calls and results. */
export const TOOLS: readonly RequestCase[] = [
  {
    name: "tool schema with an enum",
    bodies: withSchema(SCHEMA),
    kept: {
      "openai-chat": { "tools[0].function": { name: "look", parameters: KEPT_SCHEMA } },
      "openai-responses": { "tools[0]": { name: "look", parameters: KEPT_SCHEMA } },
      "anthropic-messages": { "tools[0]": { name: "look", input_schema: KEPT_SCHEMA } },
      gemini: {
        "tools[0].functionDeclarations[0]": { name: "look", parametersJsonSchema: KEPT_SCHEMA },
      },
      "bedrock-converse": {
        "toolConfig.tools[0].toolSpec": { name: "look", inputSchema: { json: KEPT_SCHEMA } },
      },
      "cohere-chat": { "tools[0].function": { name: "look", parameters: KEPT_SCHEMA } },
    },
    field: /tools/,
  },
  {
    name: "tool schema with alternatives at its root",
    bodies: withSchema(rooted),
    kept: {
      "openai-chat": { "tools[0].function.parameters.oneOf[].properties.MARKER.type": "string" },
      "openai-responses": { "tools[0].parameters.oneOf[].properties.MARKER.type": "string" },
      "anthropic-messages": { "tools[0].input_schema.oneOf[].properties.MARKER.type": "string" },
    },
    field: /tools\[0\]/,
  },
  {
    name: "strict tools",
    bodies: {
      chat: { tools: [lookTool({ strict: true }).chat] },
      responses: { tools: [lookTool({ strict: true }).responses] },
      messages: { tools: [lookTool({ strict: true }).messages] },
    },
    kept: {
      "openai-chat": { "tools[0].function.strict": true },
      "openai-responses": { "tools[0].strict": true },
      "anthropic-messages": { "tools[0].strict": true },
      "cohere-chat": { strict_tools: true },
    },
    field: /tools|strict/,
  },
  {
    name: "strict tools with an optional argument",
    bodies: {
      chat: {
        tools: [{ type: "function", function: { name: "look", parameters: OPTIONAL, strict: true } }],
      },
      messages: { tools: [{ name: "look", input_schema: OPTIONAL, strict: true }] },
    },
    kept: {
      "openai-chat": [
        { "tools[0].function.parameters": OPTIONAL },
        { "tools[0].function": { strict: true, parameters: NULLABLE } },
      ],
      "openai-responses": { "tools[0]": { strict: true, parameters: NULLABLE } },
      "anthropic-messages": { "tools[0]": { strict: true, input_schema: OPTIONAL } },
      "cohere-chat": { strict_tools: true, "tools[0].function.parameters": OPTIONAL },
    },
    field: /tools|strict/,
  },
  {
    name: "custom tool",
    bodies: {
      chat: {
        tools: [
          { type: "custom", custom: { name: "write", description: "MARKER-text", format: CHAT_GRAMMAR } },
        ],
      },
      responses: {
        tools: [{ type: "custom", name: "write", description: "MARKER-text", format: GRAMMAR }],
      },
    },
    kept: {
      "openai-chat": { "tools[0]": { type: "custom", custom: { name: "write", format: CHAT_GRAMMAR } } },
      "openai-responses": { "tools[0]": { type: "custom", name: "write", format: GRAMMAR } },
    },
    field: /tools\[0\]/,
  },
  {
    name: "tools in a namespace",
    bodies: {
      responses: {
        tools: [{ type: "namespace", name: "MARKER", description: "", tools: [look.responses] }],
      },
    },
    kept: {
      "openai-chat": { "tools[0].function.name": "MARKER__look" },
      "openai-responses": { "tools[0]": { type: "namespace", name: "MARKER", tools: [{ name: "look" }] } },
      "anthropic-messages": { "tools[0].name": "MARKER__look" },
      gemini: { "tools[0].functionDeclarations[0].name": "MARKER__look" },
      "bedrock-converse": { "toolConfig.tools[0].toolSpec.name": "MARKER__look" },
      "cohere-chat": { "tools[0].function.name": "MARKER__look" },
    },
    field: /tools/,
  },
  {
    name: "tool choice: auto",
    bodies: {
      chat: { ...both.chat, tool_choice: "auto" },
      responses: { ...both.responses, tool_choice: "auto" },
      messages: { ...both.messages, tool_choice: { type: "auto" } },
    },
    kept: {
      "openai-chat": { tool_choice: "auto" },
      "openai-responses": { tool_choice: "auto" },
      "anthropic-messages": { tool_choice: { type: "auto" } },
      gemini: { "toolConfig.functionCallingConfig.mode": "AUTO" },
      "bedrock-converse": { "toolConfig.tools[0].toolSpec.name": "look", "toolConfig.toolChoice": ABSENT },
      "cohere-chat": { "tools[0].function.name": "look", tool_choice: ABSENT },
    },
    field: /tool_choice/,
  },
  {
    name: "tool choice: none",
    bodies: {
      chat: { ...both.chat, tool_choice: "none" },
      responses: { ...both.responses, tool_choice: "none" },
      messages: { ...both.messages, tool_choice: { type: "none" } },
    },
    kept: {
      "openai-chat": { tool_choice: "none" },
      "openai-responses": { tool_choice: "none" },
      "anthropic-messages": { tool_choice: { type: "none" } },
      gemini: { "toolConfig.functionCallingConfig.mode": "NONE" },
      // The model cannot call a tool without tools.
      "bedrock-converse": { toolConfig: ABSENT },
      "cohere-chat": { tool_choice: "NONE" },
    },
    field: /tool_choice/,
  },
  {
    name: "tool choice: required",
    bodies: {
      chat: { ...both.chat, tool_choice: "required" },
      responses: { ...both.responses, tool_choice: "required" },
      messages: { ...both.messages, tool_choice: { type: "any" } },
    },
    kept: {
      "openai-chat": { tool_choice: "required" },
      "openai-responses": { tool_choice: "required" },
      "anthropic-messages": { tool_choice: { type: "any" } },
      gemini: { "toolConfig.functionCallingConfig.mode": "ANY" },
      "bedrock-converse": { "toolConfig.toolChoice.any": {} },
      "cohere-chat": { tool_choice: "REQUIRED" },
    },
    field: /tool_choice/,
  },
  {
    name: "tool choice: one tool",
    bodies: {
      chat: { ...both.chat, tool_choice: { type: "function", function: { name: "other" } } },
      responses: { ...both.responses, tool_choice: { type: "function", name: "other" } },
      messages: { ...both.messages, tool_choice: { type: "tool", name: "other" } },
    },
    kept: {
      "openai-chat": { "tool_choice.function.name": "other" },
      "openai-responses": { "tool_choice.name": "other" },
      "anthropic-messages": { tool_choice: { type: "tool", name: "other" } },
      gemini: {
        "toolConfig.functionCallingConfig": { mode: "ANY", allowedFunctionNames: ["other"] },
      },
      "bedrock-converse": { "toolConfig.toolChoice.tool.name": "other" },
      // The only tool that is sent.
      "cohere-chat": { tools: [{ function: { name: "other" } }], tool_choice: "REQUIRED" },
    },
    field: /tool_choice/,
  },
  {
    name: "tool choice: some tools",
    bodies: {
      chat: {
        ...both.chat,
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "other" } }] },
        },
      },
      responses: {
        ...both.responses,
        tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "other" }] },
      },
    },
    kept: {
      "openai-chat": { "tool_choice.allowed_tools.tools[].function.name": "other" },
      "openai-responses": { "tool_choice.tools[].name": "other" },
      "anthropic-messages": { tools: [{ name: "other" }] },
      gemini: { "tools[0].functionDeclarations": [{ name: "other" }] },
      "bedrock-converse": { "toolConfig.tools": [{ toolSpec: { name: "other" } }] },
      "cohere-chat": { tools: [{ function: { name: "other" } }] },
    },
    field: /tool_choice/,
  },
  {
    name: "no parallel tool calls",
    bodies: {
      chat: { ...both.chat, parallel_tool_calls: false },
      responses: { ...both.responses, parallel_tool_calls: false },
      messages: { ...both.messages, tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    },
    kept: {
      "openai-chat": { parallel_tool_calls: false },
      "openai-responses": { parallel_tool_calls: false },
      "anthropic-messages": { "tool_choice.disable_parallel_tool_use": true },
      "bedrock-converse": {
        "additionalModelRequestFields.tool_choice.disable_parallel_tool_use": true,
      },
    },
    field: /parallel_tool_calls/,
  },
  {
    name: "parallel tool calls and their results",
    bodies: {
      chat: {
        tools: [look.chat],
        messages: [
          { role: "user", content: "Hello" },
          {
            role: "assistant",
            content: null,
            tool_calls: ["a", "b"].map((id) => ({
              id: `call_${id}`,
              type: "function",
              function: { name: "look", arguments: `{"place":"MARKER-${id}"}` },
            })),
          },
          { role: "tool", tool_call_id: "call_a", content: "RESULT-a" },
          { role: "tool", tool_call_id: "call_b", content: "RESULT-b" },
        ],
      },
      responses: {
        tools: [look.responses],
        input: [
          { role: "user", content: "Hello" },
          ...["a", "b"].map((id) => ({
            type: "function_call",
            call_id: `call_${id}`,
            name: "look",
            arguments: `{"place":"MARKER-${id}"}`,
          })),
          ...["a", "b"].map((id) => ({
            type: "function_call_output",
            call_id: `call_${id}`,
            output: `RESULT-${id}`,
          })),
        ],
      },
      messages: {
        tools: [look.messages],
        messages: [
          { role: "user", content: "Hello" },
          {
            role: "assistant",
            content: ["a", "b"].map((id) => ({
              type: "tool_use",
              id: `call_${id}`,
              name: "look",
              input: { place: `MARKER-${id}` },
            })),
          },
          {
            role: "user",
            content: ["a", "b"].map((id) => ({
              type: "tool_result",
              tool_use_id: `call_${id}`,
              content: `RESULT-${id}`,
            })),
          },
        ],
      },
    },
    kept: {
      "openai-chat": {
        "messages[1].tool_calls": [
          { id: "call_a", function: { arguments: /MARKER-a/ } },
          { id: "call_b", function: { arguments: /MARKER-b/ } },
        ],
        "messages[2]": { role: "tool", tool_call_id: "call_a", content: "RESULT-a" },
        "messages[3]": { role: "tool", tool_call_id: "call_b", content: "RESULT-b" },
      },
      "openai-responses": {
        "input[1]": { call_id: "call_a", arguments: /MARKER-a/ },
        "input[2]": { call_id: "call_b", arguments: /MARKER-b/ },
        "input[3]": { call_id: "call_a", output: "RESULT-a" },
        "input[4]": { call_id: "call_b", output: "RESULT-b" },
      },
      "anthropic-messages": {
        "messages[1].content": [
          { id: "call_a", input: { place: "MARKER-a" } },
          { id: "call_b", input: { place: "MARKER-b" } },
        ],
        "messages[2].content": [
          { tool_use_id: "call_a", content: "RESULT-a" },
          { tool_use_id: "call_b", content: "RESULT-b" },
        ],
      },
      gemini: {
        "contents[1].parts": [
          { functionCall: { name: "look", args: { place: "MARKER-a" } } },
          { functionCall: { name: "look", args: { place: "MARKER-b" } } },
        ],
        "contents[2].parts": [
          { functionResponse: { name: "look", response: { output: "RESULT-a" } } },
          { functionResponse: { name: "look", response: { output: "RESULT-b" } } },
        ],
      },
      "bedrock-converse": {
        "messages[1].content": [
          { toolUse: { toolUseId: "call_a", input: { place: "MARKER-a" } } },
          { toolUse: { toolUseId: "call_b", input: { place: "MARKER-b" } } },
        ],
        "messages[2].content": [
          { toolResult: { toolUseId: "call_a", content: [{ text: "RESULT-a" }] } },
          { toolResult: { toolUseId: "call_b", content: [{ text: "RESULT-b" }] } },
        ],
      },
      "cohere-chat": {
        "messages[1].tool_calls": [
          { id: "call_a", function: { arguments: /MARKER-a/ } },
          { id: "call_b", function: { arguments: /MARKER-b/ } },
        ],
        "messages[2]": { role: "tool", tool_call_id: "call_a", content: "RESULT-a" },
        "messages[3]": { role: "tool", tool_call_id: "call_b", content: "RESULT-b" },
      },
    },
    field: /messages/,
  },
  {
    name: "custom tool call",
    bodies: {
      chat: {
        tools: [{ type: "custom", custom: { name: "write" } }],
        messages: [
          { role: "user", content: "Hello" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "custom", custom: { name: "write", input: "MARKER" } }],
          },
          { role: "tool", tool_call_id: "call_1", content: "Done." },
        ],
      },
      responses: {
        tools: [{ type: "custom", name: "write" }],
        input: [
          { role: "user", content: "Hello" },
          { type: "custom_tool_call", call_id: "call_1", name: "write", input: "MARKER" },
          { type: "custom_tool_call_output", call_id: "call_1", output: "Done." },
        ],
      },
    },
    kept: {
      "openai-chat": { "messages[1].tool_calls[0].custom": { name: "write", input: "MARKER" } },
      "openai-responses": { "input[]": { type: "custom_tool_call", input: "MARKER" } },
      "anthropic-messages": { "messages[1].content[]": { name: "write", input: { input: "MARKER" } } },
      gemini: { "contents[1].parts[].functionCall": { name: "write", args: { input: "MARKER" } } },
      "bedrock-converse": {
        "messages[1].content[].toolUse": { name: "write", input: { input: "MARKER" } },
      },
      "cohere-chat": { "messages[1].tool_calls[0].function.arguments": '{"input":"MARKER"}' },
    },
    field: /messages/,
  },
  {
    name: "image in a tool result",
    bodies: called({
      chat: {
        result: {
          content: [
            { type: "text", text: "MARKER-text" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}` } },
          ],
        },
      },
      responses: {
        result: {
          output: [
            { type: "input_text", text: "MARKER-text" },
            { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${IMAGE}` },
          ],
        },
      },
      messages: {
        result: {
          content: [
            { type: "text", text: "MARKER-text" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: IMAGE } },
          ],
        },
      },
    }),
    kept: {
      "openai-chat": [
        {
          "messages[2].content": "MARKER-text",
          "messages[3].content[].image_url.url": `data:image/png;base64,${IMAGE}`,
        },
        {
          "messages[2].content[].text": "MARKER-text",
          "messages[2].content[].image_url.url": `data:image/png;base64,${IMAGE}`,
        },
      ],
      "openai-responses": {
        "input[2].output[].text": "MARKER-text",
        "input[2].output[].image_url": `data:image/png;base64,${IMAGE}`,
      },
      "anthropic-messages": {
        "messages[2].content[0].content[].text": "MARKER-text",
        "messages[2].content[0].content[].source.data": IMAGE,
      },
      gemini: {
        "contents[2].parts[0].functionResponse": {
          response: { output: "MARKER-text" },
          parts: [{ inlineData: { mimeType: "image/png", data: IMAGE } }],
        },
      },
      "bedrock-converse": {
        "messages[2].content[0].toolResult.content[].text": "MARKER-text",
        "messages[2].content[0].toolResult.content[].image.source.bytes": IMAGE,
      },
      "cohere-chat": {
        "messages[2].content": "MARKER-text",
        "messages[3].content[].image_url.url": `data:image/png;base64,${IMAGE}`,
      },
    },
    field: /messages\[2\]/,
  },
  {
    name: "failed tool result",
    bodies: called({ messages: { result: { content: "MARKER", is_error: true } } }),
    kept: {
      "anthropic-messages": { "messages[2].content[0]": { content: "MARKER", is_error: true } },
      gemini: { "contents[2].parts[0].functionResponse.response": { error: "MARKER" } },
      "bedrock-converse": {
        "messages[2].content[0].toolResult": { status: "error", content: [{ text: "MARKER" }] },
      },
    },
    field: /is_error|error/,
    needless: {
      "openai-chat": "the format has no error flag; the result describes the error",
      "openai-responses": "the format has no error flag; the result describes the error",
      "cohere-chat": "the format has no error flag; the result describes the error",
    },
  },
];
