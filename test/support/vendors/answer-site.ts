import { startTestGateway, type TestGateway } from "../gateway/gateway.ts";
import { type Play, startVendor, type Vendor } from "./vendor.ts";

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
export type Json = any;

/** A call of a tool as a client reads it. */
export interface ReadCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** An answer as a client of one API assembles it. */
export interface AssembledAnswer {
  readonly status: number;
  readonly text: string;
  readonly calls: readonly ReadCall[];
  /** The finish reason, stop reason or status in the API's words; null for none. */
  readonly finish: string | null;
  /** The body, if it is not streamed, and otherwise the events. */
  readonly body: Json;
  readonly events: readonly Json[];
}

export type ApiName = "chat" | "responses" | "messages";

export const API_NAMES: readonly ApiName[] = ["chat", "responses", "messages"];
export const FORMS = [
  ["whole", false],
  ["streamed", true],
] as const;

const FORMATS = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic-messages",
  gemini: "gemini",
  bedrock: "bedrock-converse",
  cohere: "cohere-chat",
} as const;

/** One vendor that is reached in every format, as the model `acme/<chat, responses, messages, gemini, bedrock or cohere>`. */
export interface AnswerSite {
  readonly gateway: TestGateway;
  readonly vendor: Vendor;
  /** Asks the model of that format; the vendor answers with `play`. */
  ask(api: ApiName, model: keyof typeof FORMATS, asked: Asked): Promise<AssembledAnswer>;
  stop(): Promise<unknown>;
}

interface Asked {
  readonly stream: boolean;
  readonly play: Play;
  /** Further fields of the request. */
  readonly more?: object;
}

/** Starts a gateway with one vendor that answers as scripted. `more` follows the providers of its configuration. */
export async function startAnswerSite(more = ""): Promise<AnswerSite> {
  const vendor = startVendor();
  const providers = Object.entries(FORMATS).map(
    ([name, format]) =>
      `  host-${name}: {base_url: "${vendor.baseUrl}", format: ${format}, api_keys: [sk-host-0123456789], models: [{id: acme/${name}, name: up, output: text}]}`,
  );
  const gateway = await startTestGateway({
    repeats: 0,
    yaml: `providers:\n${providers.join("\n")}\n${more}`,
  });
  return {
    gateway,
    vendor,
    async ask(api, model, { stream, play, more = {} }) {
      vendor.perform(play);
      const response = await fetch(gateway.base + PATHS[api], {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: `acme/${model}`, stream, ...QUESTIONS[api], ...more }),
      });
      return assemble(api, response.status, await response.text());
    },
    stop: () => Promise.all([gateway.stop(), vendor.stop()]),
  };
}

/** Answers a stream with these events, each in a chunk of its own. */
export function playEvents(events: readonly unknown[]): Play {
  return async (call) => {
    await call.begin(200, { "content-type": "text/event-stream" });
    await call.events(...events);
    await call.end();
  };
}

/** Answers with this document. */
export function playDocument(body: unknown): Play {
  return (call) => call.respond(200, body);
}

const PATHS: Readonly<Record<ApiName, string>> = {
  chat: "/chat/completions",
  responses: "/responses",
  messages: "/messages",
};

const TOOLS = ["look", "now"].map((name) => ({ name, parameters: { type: "object" } }));
const messages = [{ role: "user", content: "Look!" }];

const QUESTIONS: Readonly<Record<ApiName, object>> = {
  chat: { messages, tools: TOOLS.map((tool) => ({ type: "function", function: tool })) },
  responses: { input: "Look!", tools: TOOLS.map((tool) => ({ type: "function", ...tool })) },
  messages: {
    messages,
    max_tokens: 100,
    tools: TOOLS.map(({ name, parameters }) => ({ name, input_schema: parameters })),
  },
};

function assemble(api: ApiName, status: number, text: string): AssembledAnswer {
  const isStream = /^(?:event|data|:)/.test(text);
  const lines = isStream ? text.split("\n").filter((line) => line.startsWith("data: {")) : [];
  const events: Json[] = lines.map((line) => JSON.parse(line.slice("data: ".length)));
  const body = isStream ? null : JSON.parse(text);
  const read = { chat: readChat, responses: readResponses, messages: readMessages }[api];
  const assembled = status === 200 ? read(body, events) : { text: "", calls: [], finish: null };
  return { status, body, events, ...assembled };
}

type Read = Pick<AssembledAnswer, "text" | "calls" | "finish">;

function readChat(body: Json, events: readonly Json[]): Read {
  const choices = (body === null ? events : [body]).flatMap((each) => each.choices ?? []);
  const deltas = choices.map((choice: Json) => choice.delta ?? choice.message);
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const [at, piece] of deltas.flatMap((delta: Json) => [...(delta.tool_calls ?? []).entries()])) {
    const index = piece.index ?? at;
    // As a client does that takes the name from the first piece of a call only.
    calls[index] ??= { id: piece.id, name: piece.function.name, arguments: "" };
    calls[index].arguments += piece.function.arguments ?? "";
  }
  return {
    text: deltas.map((delta: Json) => delta.content ?? "").join(""),
    calls,
    finish: choices.findLast((choice: Json) => choice.finish_reason !== null)?.finish_reason ?? null,
  };
}

function readMessages(body: Json, events: readonly Json[]): Read {
  const blocks: Json[] = body?.content ?? [];
  for (const { type, index, content_block: block, delta } of events) {
    if (type === "content_block_start") blocks[index] = { ...block, json: "" };
    if (type !== "content_block_delta") continue;
    if (delta.type === "text_delta") blocks[index].text += delta.text;
    if (delta.type === "input_json_delta") blocks[index].json += delta.partial_json;
  }
  const calls = blocks.filter(({ type }) => type === "tool_use");
  return {
    text: blocks.map((block) => block.text ?? "").join(""),
    calls: calls.map(({ id, name, json, input }) => ({
      id,
      name,
      arguments: json ? json : JSON.stringify(input),
    })),
    finish:
      body?.stop_reason ?? events.find(({ type }) => type === "message_delta")?.delta.stop_reason ?? null,
  };
}

function readResponses(body: Json, events: readonly Json[]): Read {
  const response = body ?? events.at(-1)?.response ?? { output: [] };
  const calls = response.output.filter((item: Json) => item.type === "function_call");
  const whole = response.output.flatMap((item: Json) => item.content ?? []);
  const deltas = events.filter(({ type }) => type === "response.output_text.delta");
  const text = body === null ? deltas.map(({ delta }) => delta) : whole.map((part: Json) => part.text ?? "");
  return {
    text: text.join(""),
    calls: calls.map((item: Json) => ({ id: item.call_id, name: item.name, arguments: item.arguments })),
    finish: response.status ?? null,
  };
}
