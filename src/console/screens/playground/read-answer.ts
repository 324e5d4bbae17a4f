import { type Api, type AssistantTurn, isObject, type ToolCall } from "../../conversation/conversation.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "./json.ts";
import { type AnswerUsage, readChatUsage, readMessagesUsage, readResponsesUsage } from "./read-usage.ts";

/** A call under way, with the number that its API gives it. */
interface PartialCall extends ToolCall {
  readonly key: number;
}

/** What is known of an answer while it is streamed, and at its end. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly PartialCall[];
  /** Images as `data:` URLs. */
  readonly images: readonly string[];
  readonly finish: string | null;
  readonly usage: AnswerUsage | null;
  readonly warnings: readonly { readonly field: string; readonly message: string }[];
  /** The number of repairs of each kind. */
  readonly repairs: Readonly<Record<string, number>>;
  /** Why the stream broke, in the words of the gateway; null if it did not. */
  readonly error: string | null;
}

/** Returns the answer before its first event. */
export function emptyAnswer(): Answer {
  return {
    text: "",
    reasoning: "",
    calls: [],
    images: [],
    finish: null,
    usage: null,
    warnings: [],
    repairs: {},
    error: null,
  };
}

/** Returns an answer as a turn of the conversation. */
export function toTurn({ text, reasoning, calls }: Answer): AssistantTurn {
  return {
    role: "assistant",
    text,
    reasoning,
    calls: calls.map(({ id, name, arguments: json }) => ({ id, name, arguments: json || "{}" })),
  };
}

/** Returns an answer with what an event adds. `data` is the event's data; what is not JSON, such as `[DONE]`, adds nothing. */
export function readEvent(api: Api, answer: Answer, data: string): Answer {
  const event = parseObject(data);
  if (event === null) return answer;
  const read = READERS[api](answer, event);
  return readMetadata(read, event);
}

function parseObject(data: string): Json | null {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Reads what all APIs have alike: errors, and how the gateway changed the request. */
function readMetadata(answer: Answer, event: Json): Answer {
  const whole = objectOf(event["response"] ?? event["message"]);
  const metadata = objectOf(event["gateway_metadata"] ?? whole["gateway_metadata"]);
  const error = objectOf(event["error"] ?? whole["error"]);
  const warnings = listOf(metadata["warnings"]).map(({ field, message }) => ({
    field: textOf(field),
    message: textOf(message),
  }));
  const repairs = Object.entries(objectOf(metadata["repairs"])).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0,
  );
  return {
    ...answer,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(repairs.length === 0 ? {} : { repairs: Object.fromEntries(repairs) }),
    ...(typeof error["message"] === "string" ? { error: error["message"] } : {}),
  };
}

const READERS: Readonly<Record<Api, (answer: Answer, event: Json) => Answer>> = {
  chat(answer, event) {
    const choice = objectOf(listOf(event["choices"])[0]);
    const delta = objectOf(choice["delta"] ?? choice["message"]);
    const images = listOf(delta["images"]).map((image) => textOf(objectOf(image["image_url"])["url"]));
    const calls = listOf(delta["tool_calls"]).reduce<readonly PartialCall[]>((before, call, i) => {
      const called = objectOf(call["function"]);
      const key = typeof call["index"] === "number" ? call["index"] : i;
      return addToCall(before, key, {
        id: textOf(call["id"]),
        name: textOf(called["name"]),
        arguments: textOf(called["arguments"]),
      });
    }, answer.calls);
    return {
      ...answer,
      text: answer.text + textOf(delta["content"]),
      reasoning: answer.reasoning + textOf(delta["reasoning"]),
      images: images.length === 0 ? answer.images : [...answer.images, ...images],
      calls,
      finish: textOf(choice["finish_reason"]) || answer.finish,
      usage: isObject(event["usage"]) ? readChatUsage(event["usage"]) : answer.usage,
    };
  },
  responses(answer, event) {
    const delta = textOf(event["delta"]);
    const key = numberOf(event["output_index"]);
    switch (event["type"]) {
      case "response.output_text.delta":
        return { ...answer, text: answer.text + delta };
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return { ...answer, reasoning: answer.reasoning + delta };
      case "response.reasoning_summary_part.added":
        return { ...answer, reasoning: answer.reasoning === "" ? "" : `${answer.reasoning}\n\n` };
      case "response.function_call_arguments.delta":
        return { ...answer, calls: addToCall(answer.calls, key, { id: "", name: "", arguments: delta }) };
      case "response.output_item.added":
      case "response.output_item.done":
        return readItem(answer, {
          key,
          item: objectOf(event["item"]),
          isDone: event["type"].endsWith("done"),
        });
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return readResponseEnd(answer, objectOf(event["response"]));
      default:
        return answer;
    }
  },
  messages(answer, event) {
    const key = numberOf(event["index"]);
    const delta = objectOf(event["delta"]);
    switch (event["type"]) {
      case "content_block_start":
        return readBlock(answer, key, objectOf(event["content_block"]));
      case "content_block_delta":
        return {
          ...answer,
          text: answer.text + textOf(delta["text"]),
          reasoning: answer.reasoning + textOf(delta["thinking"]),
          calls:
            delta["type"] === "input_json_delta"
              ? addToCall(answer.calls, key, { id: "", name: "", arguments: textOf(delta["partial_json"]) })
              : answer.calls,
        };
      case "message_delta":
        return {
          ...answer,
          finish: textOf(delta["stop_reason"]) || answer.finish,
          usage: isObject(event["usage"]) ? readMessagesUsage(event["usage"]) : answer.usage,
        };
      default:
        return answer;
    }
  },
};

/** Adds to the call with a key; begins it if it is new. */
function addToCall(calls: readonly PartialCall[], key: number, added: ToolCall): readonly PartialCall[] {
  const before = calls.find((call) => call.key === key);
  if (before === undefined) return [...calls, { key, ...added }];
  const joined = {
    key,
    id: before.id || added.id,
    name: before.name || added.name,
    arguments: before.arguments + added.arguments,
  };
  return calls.map((call) => (call === before ? joined : call));
}

function readItem(
  answer: Answer,
  { key, item, isDone }: { key: number; item: Json; isDone: boolean },
): Answer {
  if (item["type"] === "image_generation_call" && isDone)
    return { ...answer, images: [...answer.images, `data:image/png;base64,${textOf(item["result"])}`] };
  if (item["type"] !== "function_call" || isDone) return answer;
  const added = {
    id: textOf(item["call_id"]),
    name: textOf(item["name"]),
    arguments: textOf(item["arguments"]),
  };
  return { ...answer, calls: addToCall(answer.calls, key, added) };
}

function readResponseEnd(answer: Answer, response: Json): Answer {
  const reason = textOf(objectOf(response["incomplete_details"])["reason"]);
  return {
    ...answer,
    finish: reason || textOf(response["status"]),
    usage: isObject(response["usage"]) ? readResponsesUsage(response["usage"]) : answer.usage,
  };
}

function readBlock(answer: Answer, key: number, block: Json): Answer {
  const source = objectOf(block["source"]);
  if (block["type"] === "image" && source["type"] === "base64") {
    const url = `data:${textOf(source["media_type"])};base64,${textOf(source["data"])}`;
    return { ...answer, images: [...answer.images, url] };
  }
  if (block["type"] !== "tool_use") return answer;
  const input = objectOf(block["input"]);
  const json = Object.keys(input).length === 0 ? "" : JSON.stringify(input);
  const added = { id: textOf(block["id"]), name: textOf(block["name"]), arguments: json };
  return { ...answer, calls: addToCall(answer.calls, key, added) };
}

/** Returns the message of an error response of any API. */
export function readError(body: string, status: number): string {
  const error = objectOf(objectOf(parseObject(body))["error"]);
  return textOf(error["message"]) || `The gateway answered with status ${status}.`;
}
