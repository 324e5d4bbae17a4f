import {
  type Api,
  type Conversation,
  emptyConversation,
  isObject,
  TOOL_CHOICES,
  type Tool,
  type ToolChoice,
  type Turn,
} from "./conversation.ts";

type Json = Readonly<Record<string, unknown>>;

/** A request of a client as the playground shows it. */
interface ParsedRequest {
  readonly model: string;
  readonly conversation: Conversation;
}

/**
 * Parses the body of a request of one API into a conversation. What the playground does not have, such as files and hosted tools,
 * is left out.
 */
export function parseRequest(api: Api, body: Json): ParsedRequest {
  const { system, turns } = TURN_PARSERS[api](body);
  return {
    model: textOf(body["model"]),
    conversation: {
      ...emptyConversation(),
      system,
      turns: nameResults(turns),
      tools: listOf(body["tools"]).flatMap(parseTool),
      toolChoice: parseToolChoice(body["tool_choice"]),
      temperature: numberOf(body["temperature"]),
      topP: numberOf(body["top_p"]),
      maxTokens: numberOf(body["max_tokens"] ?? body["max_completion_tokens"] ?? body["max_output_tokens"]),
      effort: parseEffort(body),
    },
  };
}

interface ParsedTurns {
  readonly system: string;
  readonly turns: readonly Turn[];
}

const SYSTEM_ROLES = new Set(["system", "developer"]);

const TURN_PARSERS: Readonly<Record<Api, (body: Json) => ParsedTurns>> = {
  chat(body) {
    const messages = listOf(body["messages"]);
    return {
      system: joinTexts(messages.filter(isSystem).map(({ content }) => contentText(content))),
      turns: joinResults(messages.filter((message) => !isSystem(message)).flatMap(parseChatMessage)),
    };
  },
  responses(body) {
    const input = body["input"];
    const items = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
    const systems = items.filter(isSystem).map(({ content }) => contentText(content));
    const turns = items.filter((item) => !isSystem(item)).flatMap(parseResponsesItem);
    return {
      system: joinTexts([textOf(body["instructions"]), ...systems]),
      turns: joinResults(joinAnswers(turns)),
    };
  },
  messages(body) {
    const messages = listOf(body["messages"]);
    const systems = messages.filter(isSystem).map(({ content }) => contentText(content));
    return {
      system: joinTexts([contentText(body["system"]), ...systems]),
      turns: messages.filter((message) => !isSystem(message)).flatMap(parseMessagesMessage),
    };
  },
};

const isSystem = ({ role }: Json): boolean => SYSTEM_ROLES.has(textOf(role));
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const joinTexts = (texts: readonly string[]): string => texts.filter(Boolean).join("\n\n");

/** Returns the text of a content: a text, or the texts of its parts. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map(({ text }) => textOf(text))
    .join("");
}

/** Returns the URLs of the images of a content of any API. */
function contentImages(content: unknown): string[] {
  return listOf(content).flatMap((part) => {
    const image = part["image_url"];
    if (typeof image === "string") return [image];
    if (isObject(image)) return typeof image["url"] === "string" ? [image["url"]] : [];
    const source = part["type"] === "image" ? part["source"] : null;
    if (!isObject(source)) return [];
    if (typeof source["url"] === "string") return [source["url"]];
    return [`data:${textOf(source["media_type"])};base64,${textOf(source["data"])}`];
  });
}

const userTurn = (content: unknown): Turn => ({
  role: "user",
  text: contentText(content),
  images: contentImages(content),
});

const resultTurn = (callId: unknown, content: unknown): Turn => ({
  role: "tool",
  results: [{ callId: textOf(callId), name: "", text: contentText(content) }],
});

function parseChatMessage(message: Json): Turn[] {
  const { role, content } = message;
  if (role === "user") return [userTurn(content)];
  if (role === "tool") return [resultTurn(message["tool_call_id"], content)];
  if (role !== "assistant") return [];
  const calls = listOf(message["tool_calls"]).flatMap((call) => {
    const { function: called } = call;
    if (!isObject(called)) return [];
    return [{ id: textOf(call["id"]), name: textOf(called["name"]), arguments: textOf(called["arguments"]) }];
  });
  return [{ role, text: contentText(content), reasoning: "", calls }];
}

function parseResponsesItem(item: Json): Turn[] {
  const { type, role, content } = item;
  if (type === "function_call_output") return [resultTurn(item["call_id"], item["output"])];
  if (type === "function_call") {
    const call = {
      id: textOf(item["call_id"]),
      name: textOf(item["name"]),
      arguments: textOf(item["arguments"]),
    };
    return [{ role: "assistant", text: "", reasoning: "", calls: [call] }];
  }
  if (role === "user") return [userTurn(content)];
  return role === "assistant" ? [{ role, text: contentText(content), reasoning: "", calls: [] }] : [];
}

function parseMessagesMessage({ role, content }: Json): Turn[] {
  const blocks = listOf(content);
  if (role === "assistant") {
    const calls = blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({
        id: textOf(id),
        name: textOf(name),
        arguments: JSON.stringify(input ?? {}),
      }));
    return [{ role, text: contentText(content), reasoning: "", calls }];
  }
  const results = blocks
    .filter(({ type }) => type === "tool_result")
    .map((block) => ({
      callId: textOf(block["tool_use_id"]),
      name: "",
      text: contentText(block["content"]),
    }));
  if (results.length === 0) return [userTurn(content)];
  const rest = userTurn(blocks.filter(({ type }) => type !== "tool_result"));
  const hasRest = rest.role === "user" && (rest.text !== "" || rest.images.length > 0);
  return [{ role: "tool", results }, ...(hasRest ? [rest] : [])];
}

/** Joins consecutive items of one answer, which the Responses API lists separately. */
function joinAnswers(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role === "assistant" && last?.role === "assistant")
      joined[joined.length - 1] = {
        ...last,
        text: last.text + turn.text,
        calls: [...last.calls, ...turn.calls],
      };
    else joined.push(turn);
  }
  return joined;
}

/** Joins consecutive results of one answer's calls, which some APIs list separately. */
function joinResults(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role === "tool" && last?.role === "tool")
      joined[joined.length - 1] = { role: "tool", results: [...last.results, ...turn.results] };
    else joined.push(turn);
  }
  return joined;
}

/** Gives results the names of the tools that were called. */
function nameResults(turns: readonly Turn[]): Turn[] {
  const names = new Map<string, string>();
  return turns.map((turn) => {
    if (turn.role === "assistant") for (const { id, name } of turn.calls) names.set(id, name);
    if (turn.role !== "tool") return turn;
    return {
      ...turn,
      results: turn.results.map((result) => ({ ...result, name: names.get(result.callId) ?? "" })),
    };
  });
}

function parseTool(tool: Json): Tool[] {
  const fields = isObject(tool["function"]) ? tool["function"] : tool;
  const parameters = fields["parameters"] ?? fields["input_schema"];
  const name = textOf(fields["name"]);
  if (name === "" || !isObject(parameters)) return [];
  return [{ name, description: textOf(fields["description"]), parameters }];
}

function parseToolChoice(choice: unknown): ToolChoice {
  const name = isObject(choice) ? choice["type"] : choice;
  if (name === "any") return "required";
  return TOOL_CHOICES.find((known) => known === name) ?? "auto";
}

function parseEffort(body: Json): string {
  const { reasoning, thinking, output_config } = body;
  if (typeof body["reasoning_effort"] === "string") return body["reasoning_effort"];
  if (isObject(reasoning) && typeof reasoning["effort"] === "string") return reasoning["effort"];
  if (isObject(output_config) && typeof output_config["effort"] === "string") return output_config["effort"];
  return isObject(thinking) && thinking["type"] === "disabled" ? "none" : "";
}
