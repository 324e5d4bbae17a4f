import { asFields, type Fields, omit } from "../../../src/base/json/fields.ts";
import { type Client, FORMATS } from "../formats.ts";
import { type Golden, makeGolden } from "../golden.ts";
import type { AnswerFeature } from "./features.ts";
import type { AnswerRun } from "./run-answers.ts";

/** Returns the stored results of a feature: by the vendor's format and the client. A stream has one line for each event. */
export function goldenAnswer(feature: AnswerFeature, runs: readonly AnswerRun[]): Golden {
  const byFormat = FORMATS.flatMap((format) => {
    const own = runs.filter((run) => run.format === format);
    const clients = own.map(({ client, verdict, whole, stream }) => [
      client,
      {
        verdict,
        ...(whole === null ? {} : { whole: shorten(client, whole) }),
        streamed: readLines(client, stream),
      },
    ]);
    return own.length === 0 ? [] : [[format, Object.fromEntries(clients)]];
  });
  return makeGolden("answers", feature.name, Object.fromEntries(byFormat));
}

/** Fields with the same value in every answer are left out, because other tests verify them. */
const CONSTANT: Readonly<Record<Client, ReadonlySet<string>>> = {
  chat: new Set(["id", "object", "created", "model"]),
  responses: new Set([
    "id",
    "object",
    "created_at",
    "model",
    "background",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
  ]),
  messages: new Set(["id", "type", "role", "model"]),
};

function shorten(client: Client, body: Fields): Fields {
  return omit(body, CONSTANT[client]);
}

function readLines(client: Client, latin1: string): string[] {
  return Buffer.from(latin1, "latin1")
    .toString("utf8")
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => shortenBlock(client, block));
}

function shortenBlock(client: Client, block: string): string {
  const data = block.slice(block.indexOf("data: ") + 6);
  if (data === "[DONE]") return data;
  const event = JSON.parse(data) as Fields;
  if (client === "chat") return JSON.stringify(shorten(client, event));
  const response = asFields(event["response"]);
  const message = asFields(event["message"]);
  return JSON.stringify({
    ...event,
    ...(response === null ? {} : { response: shorten("responses", response) }),
    ...(message === null ? {} : { message: shorten("messages", message) }),
  });
}
