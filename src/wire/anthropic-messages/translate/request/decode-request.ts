import type { Fields } from "../../../../base/json/fields.ts";
import { type ConversationRequest, EMPTY_REQUEST } from "../../../canonical/model/request.ts";
import { GATEWAY_FIELDS } from "../../../conversation/gateway-fields.ts";
import { rejectThread } from "../../reject-thread.ts";
import { splitUserId } from "../../split-user-id.ts";
import { takeCache } from "../parts/cache-mark.ts";
import { makeExtras } from "../parts/extras.ts";
import { type FieldTaker, takeFields } from "../parts/take-fields.ts";
import { decodeMessages, decodeSystem } from "./decode-messages.ts";
import { decodeTools, takeToolChoice } from "./decode-tools.ts";
import { takeOutputFormat } from "./output-format.ts";
import { takeReasoningParameters } from "./reasoning-parameters.ts";

/**
 * Decodes a Messages request. Unknown fields, and those without meaning (`[]`, `false`), stay in extras under their own names, so
 * that `encodeRequest` writes the same JSON again.
 * @throws GatewayError `invalid_request`, which names the field and the remedy.
 */
export function decodeRequest(body: Fields): ConversationRequest {
  rejectThread(body["thread"]);
  const take = takeFields(body);
  take.drop("model");
  // They address the gateway and are not sent to upstreams.
  for (const field of GATEWAY_FIELDS) take.drop(field);
  const messages = [...takeSystem(take), ...decodeMessages(take.drop("messages"))];
  const outputConfig = takeFields(take.fields("output_config") ?? {});
  const metadata = takeFields(take.fields("metadata") ?? {});
  const choice = takeToolChoice(take);
  const request = {
    ...EMPTY_REQUEST,
    messages,
    tools: takeTools(take),
    toolChoice: choice.toolChoice,
    parallelToolCalls: choice.parallelToolCalls,
    reasoning: takeReasoningParameters(take, outputConfig),
    outputFormat: takeOutputFormat(take, outputConfig),
    user: takeUser(metadata),
    ...takeSampling(take),
    ...takeCache(take),
  };
  const kept = {
    ...take.rest(),
    ...keepRest("output_config", body, outputConfig.rest()),
    ...keepRest("metadata", body, metadata.rest()),
    ...(Object.keys(choice.rest).length > 0 ? { tool_choice: choice.rest } : {}),
  };
  return { ...request, ...makeExtras(kept) };
}

function takeUser(metadata: FieldTaker): string | null {
  const userId = metadata.text("user_id");
  return userId === null ? null : splitUserId(userId).user;
}

function takeSystem(take: FieldTaker) {
  const messages = decodeSystem(take.peek("system"));
  if (messages.length > 0) take.drop("system");
  return messages;
}

function takeTools(take: FieldTaker) {
  const tools = decodeTools(take.peek("tools"));
  if (tools.length > 0) take.drop("tools");
  return tools;
}

function takeSampling(take: FieldTaker) {
  return {
    maxTokens: take.number("max_tokens"),
    temperature: take.number("temperature"),
    topP: take.number("top_p"),
    topK: take.number("top_k"),
    stop: takeStop(take),
    serviceTier: take.text("service_tier"),
    stream: take.peek("stream") === true && take.flag("stream") === true,
  };
}

function takeStop(take: FieldTaker): readonly string[] {
  const list = take.peek("stop_sequences");
  const isTexts = Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry === "string");
  if (isTexts) take.drop("stop_sequences");
  return isTexts ? list : [];
}

/** Returns the fields of an object that were not decoded. An object that was empty from the start is kept. */
function keepRest(name: string, body: Fields, rest: Fields): Fields {
  const raw = body[name];
  const cameEmpty =
    typeof raw === "object" && raw !== null && !Array.isArray(raw) && Object.keys(raw).length === 0;
  return cameEmpty || Object.keys(rest).length > 0 ? { [name]: rest } : {};
}
