import type { SeededRandom } from "../../support/seeded-random.ts";
import type { RecordedRequest } from "../../support/vendors/recording-vendor.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies of six formats are looked into as they come
export type Json = any;

/** What a simulated model says: in any order of a vendor, reasoning, text and calls. */
interface Said {
  readonly thought: string | null;
  readonly text: string | null;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: object }[];
}

/** Answers a request in its format with what a model may say: with and without reasoning, text, and calls of the tools that were sent. */
export function answerTurn({ path, text }: RecordedRequest, random: SeededRandom): Response {
  const body: Json = JSON.parse(text);
  const format = FORMATS.find(([end]) => path.endsWith(end))?.[1] ?? answerChat;
  const names = namesOf(body);
  const mark = random.below(1_000_000).toString(36);
  const calls = names.length === 0 || !random.oneIn(2) ? [] : Array.from({ length: 1 + random.below(2) });
  const said: Said = {
    thought: random.oneIn(2) ? `thought ${mark}` : null,
    text: calls.length > 0 && random.oneIn(2) ? null : `answer ${mark}`,
    calls: calls.map((_, at) => ({
      id: `call_${mark}_${at}`,
      name: random.pick(names),
      input: random.oneIn(3) ? {} : { input: mark, n: 1 },
    })),
  };
  return Response.json(format(said, mark, body));
}

/** The names of the tools of a request in any format. */
function namesOf(body: Json): string[] {
  const tools: Json[] = body.tools ?? body.toolConfig?.tools ?? [];
  return tools.flatMap((tool) => {
    if (tool.functionDeclarations) return tool.functionDeclarations.map(({ name }: Json) => name);
    if (tool.type === "custom" && tool.custom === undefined && tool.input_schema === undefined) return [];
    return [tool.function?.name ?? tool.toolSpec?.name ?? tool.custom?.name ?? tool.name].filter(Boolean);
  });
}

type Answer = (said: Said, mark: string, body: Json) => object;

function answerChat({ thought, text, calls }: Said, mark: string): object {
  const message = {
    role: "assistant",
    content: text,
    ...(thought === null ? {} : { reasoning_content: thought }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          })),
        }),
  };
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  return {
    id: mark,
    object: "chat.completion",
    created: 1,
    model: "up",
    choices: [{ index: 0, message, finish_reason }],
    usage,
  };
}

function answerResponses({ thought, text, calls }: Said, mark: string): object {
  const reasoning = {
    type: "reasoning",
    id: `rs_${mark}`,
    summary: thought === null ? [] : [{ type: "summary_text", text: thought }],
    encrypted_content: `gAAAA${mark}`,
  };
  const content = [{ type: "output_text", text: text ?? "", annotations: [] }];
  return {
    id: `resp_${mark}`,
    object: "response",
    status: "completed",
    output: [
      ...(thought === null ? [] : [reasoning]),
      ...(text === null
        ? []
        : [{ type: "message", id: `msg_${mark}`, role: "assistant", status: "completed", content }]),
      ...calls.map(({ id, name, input }) => ({
        type: "function_call",
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: JSON.stringify(input),
        status: "completed",
      })),
    ],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  };
}

function answerMessages({ thought, text, calls }: Said, mark: string): object {
  return {
    id: `msg_${mark}`,
    type: "message",
    role: "assistant",
    model: "up",
    content: [
      ...(thought === null ? [] : [{ type: "thinking", thinking: thought, signature: `sig${mark}` }]),
      ...(text === null ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
    ],
    stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
    usage: { input_tokens: 3, output_tokens: 2 },
  };
}

function answerGemini({ thought, text, calls }: Said, mark: string): object {
  const signed = { thoughtSignature: Buffer.from(mark).toString("base64") };
  const parts = [
    ...(thought === null ? [] : [{ text: thought, thought: true }]),
    ...(text === null ? [] : [{ text, ...(calls.length === 0 && thought !== null ? signed : {}) }]),
    ...calls.map(({ name, input }, at) => ({
      functionCall: { name, args: input },
      ...(at === 0 ? signed : {}),
    })),
  ];
  return {
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  };
}

function answerConverse({ thought, text, calls }: Said, mark: string): object {
  const reasoning = { reasoningText: { text: thought, signature: `sig${mark}` } };
  return {
    output: {
      message: {
        role: "assistant",
        content: [
          ...(thought === null ? [] : [{ reasoningContent: reasoning }]),
          ...(text === null ? [] : [{ text }]),
          ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
        ],
      },
    },
    stopReason: calls.length > 0 ? "tool_use" : "end_turn",
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
  };
}

function answerCohere({ thought, text, calls }: Said, mark: string): object {
  return {
    id: mark,
    message: {
      role: "assistant",
      ...(text === null ? {} : { content: [{ type: "text", text }] }),
      ...(calls.length === 0
        ? {}
        : {
            ...(thought === null ? {} : { tool_plan: thought }),
            tool_calls: calls.map(({ id, name, input }) => ({
              id,
              type: "function",
              function: { name, arguments: JSON.stringify(input) },
            })),
          }),
    },
    finish_reason: calls.length > 0 ? "TOOL_CALL" : "COMPLETE",
    usage: { tokens: { input_tokens: 3, output_tokens: 2 } },
  };
}

/** The ends of paths and the formats that they stand for. */
const FORMATS: readonly (readonly [string, Answer])[] = [
  ["/responses", answerResponses],
  ["/messages", answerMessages],
  [":generateContent", answerGemini],
  ["/converse", answerConverse],
  ["/v2/chat", answerCohere],
];
