import { SMALL_TALK, STRICT_MODELS, TASK, TASK_TOOLS } from "../clients/strict-vendors.ts";
import { listAgentCases } from "./agent-cases.ts";

/** A request that the programs send, and what every library must read from the answer. */
export interface LibraryCase {
  readonly name: string;
  readonly api: string;
  readonly stream: boolean;
  readonly body: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
}

type ChatApi = "chat" | "responses" | "messages";

const API_PATHS: Readonly<Record<string, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  embeddings: "/v1/embeddings",
  models: "/v1/models",
};

/** Returns the path of the API of a case. */
export function pathOf({ api }: LibraryCase): string {
  return API_PATHS[api] ?? `/v1/${api}`;
}

const TOOLS = Object.entries(TASK_TOOLS).map(([name, parameters]) => ({ name, parameters }));

/** Returns the request of each API for a prompt. With tools, the model answers the task with a call. */
function makeBody(api: ChatApi, model: string, prompt: string, hasTools: boolean) {
  const messages = [{ role: "user", content: prompt }];
  switch (api) {
    case "chat": {
      const tools = TOOLS.map((tool) => ({ type: "function", function: tool }));
      return { model, messages, ...(hasTools ? { tools } : {}) };
    }
    case "responses": {
      const tools = TOOLS.map((tool) => ({ type: "function", strict: false, ...tool }));
      return {
        model,
        input: prompt,
        reasoning: { effort: "low", summary: "auto" },
        ...(hasTools ? { tools } : {}),
      };
    }
    case "messages": {
      const tools = TOOLS.map(({ name, parameters }) => ({ name, input_schema: parameters }));
      const thinking = { type: "enabled", budget_tokens: 1_024 };
      return { model, max_tokens: 4_096, messages, thinking, ...(hasTools ? { tools } : {}) };
    }
  }
}

/** What ends an answer: with text, and with a call. */
const FINISHES: Readonly<Record<ChatApi, readonly [string, string]>> = {
  chat: ["stop", "tool_calls"],
  responses: ["completed", "completed"],
  messages: ["end_turn", "tool_use"],
};

const CALL = ["write_file", { path: "/work/answer.txt", content: "it's\n" }];

const WITH_USAGE = { stream_options: { include_usage: true } };

function listChats(): LibraryCase[] {
  const apis = ["chat", "responses", "messages"] as const;
  return apis.flatMap((api) =>
    Object.entries(STRICT_MODELS).flatMap(([format, model]) =>
      [false, true].flatMap((stream) => {
        const name = `${api}, ${format}${stream ? ", streamed" : ""}`;
        const [text, called] = FINISHES[api];
        return [
          {
            name: `${name}, text`,
            api,
            stream,
            body: makeBody(api, model, "Hello!", false),
            expected: { text: SMALL_TALK, calls: [], finish: text },
          },
          {
            name: `${name}, a tool call`,
            api,
            stream,
            body: { ...makeBody(api, model, TASK, true), ...(api === "chat" && stream ? WITH_USAGE : {}) },
            expected: { text: "I write the file.", calls: [CALL], finish: called },
          },
        ];
      }),
    ),
  );
}

const UNKNOWN = "openai/none";

function listErrors(): LibraryCase[] {
  return (["chat", "responses", "messages"] as const).flatMap((api) =>
    [false, true].map((stream) => ({
      name: `${api}, an unknown model${stream ? ", streamed" : ""}`,
      api,
      stream,
      body: makeBody(api, UNKNOWN, "Hello!", false),
      expected: { status: 400 },
    })),
  );
}

/** Lists all cases. `models`: how many models the gateway lists. */
export function listCases(models: number): readonly LibraryCase[] {
  const one = (api: string, expected: LibraryCase["expected"], body: LibraryCase["body"] = {}) => ({
    name: api,
    api,
    stream: false,
    body,
    expected,
  });
  return [
    ...listChats(),
    one(
      "embeddings",
      { lengths: [256, 256] },
      { model: "sandbox/embed", input: ["one", "two"], encoding_format: "float" },
    ),
    one("models", { ids: models }),
    ...listErrors(),
    // The calls of OpenRouter's library.
    one("count", { ids: models }),
    one("model", { id: "openai/gpt-5.1" }),
    one("endpoints", { id: "openai/gpt-5.1" }),
    one("providers", { isList: true }),
    one("key", { limit: null }),
    one("credits", { used: expectedNumber }),
    one("generation", { isLast: true }),
    ...listAgentCases(),
  ];
}

/** Stands for any number. */
export const expectedNumber = "a number";
