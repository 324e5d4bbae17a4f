import { rejectField } from "../../../base/failures/errors.ts";
import { asFields, asList, asText, type Fields, omit } from "../../../base/json/fields.ts";
import { readInputs } from "../../canonical/embeddings/read-inputs.ts";
import { createFormatExtras } from "../../canonical/model/format-extras.ts";
import { type ConversationRequest, EMPTY_REQUEST } from "../../canonical/model/request.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";

const { keepExtras } = createFormatExtras("openai-completions");

/** Fields that have a place in the canonical model, or that mean nothing in a chat. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  ...["model", "prompt", "suffix", "echo", "logprobs", "best_of", "n", "stream", "stream_options"],
  ...["max_tokens", "temperature", "top_p", "stop", "frequency_penalty", "presence_penalty", "seed"],
  ...["logit_bias", "user", "prompt_cache_key"],
]);

/**
 * Decodes a checked request as a conversation of one user message.
 * @throws GatewayError `invalid_request` for what a chat cannot express: several prompts, token ids, an empty prompt, `suffix`, `echo`,
 * `logprobs`, and a `best_of` greater than `n`.
 */
export function decodeRequest(body: Fields): ConversationRequest {
  rejectInexpressible(body);
  const number = (field: string) => (typeof body[field] === "number" ? (body[field] as number) : null);
  const stop = typeof body["stop"] === "string" ? [body["stop"]] : asList(body["stop"]);
  const maxTokens = number("max_tokens");
  return {
    ...EMPTY_REQUEST,
    messages: [{ role: "user", parts: [{ kind: "text", text: readPrompt(body["prompt"]) }] }],
    // No chat has an answer of no tokens.
    maxTokens: maxTokens === 0 ? 1 : maxTokens,
    temperature: number("temperature"),
    topP: number("top_p"),
    stop: stop.filter((word) => typeof word === "string"),
    frequencyPenalty: number("frequency_penalty"),
    presencePenalty: number("presence_penalty"),
    seed: number("seed"),
    n: number("n"),
    logitBias: asFields(body["logit_bias"]) as ConversationRequest["logitBias"],
    user: asText(body["user"]),
    promptCacheKey: asText(body["prompt_cache_key"]),
    stream: body["stream"] === true,
    ...keepExtras(omit(body, KNOWN_FIELDS)),
  };
}

/** Fields without a counterpart in a chat, and whether a value asks for something. */
const INEXPRESSIBLE: Readonly<Record<string, (value: unknown, body: Fields) => boolean>> = {
  suffix: (value) => typeof value === "string" && value !== "",
  echo: (value) => value === true,
  logprobs: (value) => value !== undefined && value !== null && value !== false,
  best_of: (value, { n }) => typeof value === "number" && value > (typeof n === "number" ? n : 1),
};

const ONLY_CHATS =
  "needs a provider with a text completions endpoint, which no usable provider of this model has";

function rejectInexpressible(body: Fields): void {
  for (const [field, asks] of Object.entries(INEXPRESSIBLE)) {
    if (asks(body[field], body)) rejectField(field, `${ONLY_CHATS}; omit it, or choose another model`);
  }
}

function readPrompt(prompt: unknown): string {
  const [first, second] = readInputs(prompt, {
    name: "prompt",
    most: Number.POSITIVE_INFINITY,
    mayBeEmpty: true,
  });
  if (second !== undefined)
    rejectField("prompt", `with several texts ${ONLY_CHATS}; send one request for each text`);
  if (typeof first !== "string")
    return rejectField("prompt", `of token ids ${ONLY_CHATS}; send the prompt as a text`);
  return first === "" ? rejectField("prompt", `without text ${ONLY_CHATS}; send a text`) : first;
}
