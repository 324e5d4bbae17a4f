import type { Api, Conversation, Turn } from "./conversation.ts";
import { readArguments } from "./conversation.ts";
import { API_PATHS, printRequest } from "./print-request.ts";

/** The programs that code is printed for. */
export const CODE_CLIENTS = [
  { value: "curl", label: "curl" },
  { value: "openai", label: "openai" },
  { value: "anthropic", label: "@anthropic-ai/sdk" },
  { value: "ai", label: "AI SDK" },
] as const;
export type CodeClient = (typeof CODE_CLIENTS)[number]["value"];

/** The request for which code is printed. */
interface CodeRequest {
  readonly api: Api;
  readonly model: string;
  readonly conversation: Conversation;
  /** URL of the gateway without a path. */
  readonly baseUrl: string;
}

/** The environment variable that the code reads the key from. A key itself is never printed. */
const KEY_VARIABLE = "GATEWAY_API_KEY";
/** The answer length that Anthropic's SDK requires, for a conversation without one. */
const DEFAULT_MAX_TOKENS = 4_096;

/** Prints code that sends a conversation. If a library does not support the API of the request, the code uses the API that it supports. */
export function printCode(client: CodeClient, request: CodeRequest): string {
  return PRINTERS[client](request);
}

const PRINTERS: Readonly<Record<CodeClient, (request: CodeRequest) => string>> = {
  curl: ({ api, model, conversation, baseUrl }) =>
    [
      `curl -N ${baseUrl}${API_PATHS[api]} \\`,
      `  -H "Authorization: Bearer $${KEY_VARIABLE}" \\`,
      `  -H "Content-Type: application/json" \\`,
      `  -d ${quoteForShell(JSON.stringify(printRequest(api, model, conversation), null, 2))}`,
    ].join("\n"),
  openai: (request) =>
    request.api === "responses" ? printResponsesClient(request) : printChatClient(request),
  anthropic: ({ model, conversation, baseUrl }) => {
    const { stream: _, ...body } = printRequest("messages", model, {
      ...conversation,
      maxTokens: conversation.maxTokens ?? DEFAULT_MAX_TOKENS,
    });
    return `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: ${quote(baseUrl)}, apiKey: process.env.${KEY_VARIABLE} });
const stream = client.messages.stream(${print(body)});
stream.on("text", (text) => process.stdout.write(text));
await stream.finalMessage();
`;
  },
  ai: printAiClient,
};

function printChatClient({ model, conversation, baseUrl }: CodeRequest): string {
  return `${openaiHead(baseUrl)}
const stream = await client.chat.completions.create(${print(printRequest("chat", model, conversation))});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
`;
}

function printResponsesClient({ model, conversation, baseUrl }: CodeRequest): string {
  return `${openaiHead(baseUrl)}
const stream = await client.responses.create(${print(printRequest("responses", model, conversation))});
for await (const event of stream)
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
`;
}

function openaiHead(baseUrl: string): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${quote(`${baseUrl}/v1`)}, apiKey: process.env.${KEY_VARIABLE} });`;
}

/** The package, its factory and the model of the AI SDK for each API. */
const AI_PACKAGES: Readonly<
  Record<Api, { readonly package: string; readonly make: string; model(id: string): string }>
> = {
  chat: {
    package: "@ai-sdk/openai-compatible",
    make: "createOpenAICompatible",
    model: (id) => `gateway(${quote(id)})`,
  },
  responses: {
    package: "@ai-sdk/openai",
    make: "createOpenAI",
    model: (id) => `gateway.responses(${quote(id)})`,
  },
  messages: { package: "@ai-sdk/anthropic", make: "createAnthropic", model: (id) => `gateway(${quote(id)})` },
};

function printAiClient({ api, model, conversation, baseUrl }: CodeRequest): string {
  const { package: name, make, model: printModel } = AI_PACKAGES[api];
  const { system, tools, toolChoice, temperature, topP, maxTokens } = conversation;
  const options = [
    `model: ${printModel(model)},`,
    ...(system === "" ? [] : [`system: ${quote(system)},`]),
    `messages: ${print(conversation.turns.map(printAiTurn))},`,
    ...(tools.length === 0 ? [] : [`tools: {\n${indent(tools.map(printAiTool).join("\n"))}\n},`]),
    ...(tools.length === 0 || toolChoice === "auto" ? [] : [`toolChoice: ${quote(toolChoice)},`]),
    ...(temperature === null ? [] : [`temperature: ${temperature},`]),
    ...(topP === null ? [] : [`topP: ${topP},`]),
    ...(maxTokens === null ? [] : [`maxOutputTokens: ${maxTokens},`]),
  ];
  const fields = [
    ...(api === "chat" ? [`name: "gateway"`] : []),
    `baseURL: ${quote(`${baseUrl}/v1`)}`,
    `apiKey: process.env.${KEY_VARIABLE}`,
  ];
  return `import { ${make} } from ${quote(name)};
import { ${tools.length === 0 ? "" : "jsonSchema, "}streamText${tools.length === 0 ? "" : ", tool"} } from "ai";

const gateway = ${make}({ ${fields.join(", ")} });
const { textStream } = streamText({
${indent(options.join("\n"))}
});
for await (const text of textStream) process.stdout.write(text);
`;
}

function printAiTool({ name, description, parameters }: Conversation["tools"][number]): string {
  const about = description === "" ? "" : `description: ${quote(description)}, `;
  return `${quote(name)}: tool({ ${about}inputSchema: jsonSchema(${print(parameters)}) }),`;
}

function printAiTurn(turn: Turn): unknown {
  switch (turn.role) {
    case "user":
      return { role: "user", content: printAiContent(turn.text, turn.images) };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(turn.text === "" ? [] : [{ type: "text", text: turn.text }]),
          ...turn.calls.map(({ id, name, arguments: json }) => ({
            type: "tool-call",
            toolCallId: id,
            toolName: name,
            input: readArguments(json),
          })),
        ],
      };
    case "tool":
      return {
        role: "tool",
        content: turn.results.map(({ callId, name, text }) => ({
          type: "tool-result",
          toolCallId: callId,
          toolName: name,
          output: { type: "text", value: text },
        })),
      };
  }
}

function printAiContent(text: string, images: readonly string[]): unknown {
  if (images.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...images.map((image) => ({ type: "image", image })),
  ];
}

const quote = (text: string): string => JSON.stringify(text);
const indent = (text: string): string => text.replace(/^(?=.)/gm, "  ");

/** Prints a value as JavaScript: as JSON, with names that need no quotes bare. */
function print(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:");
}

/** Quotes a text for a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
