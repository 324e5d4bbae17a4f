import { fail } from "../../../../base/failures/errors.ts";
import { asFields, assignFields, type Fields, omit } from "../../../../base/json/fields.ts";
import { readCacheMark } from "../../../canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type Message,
  type Tool,
} from "../../../canonical/model/request.ts";
import { GATEWAY_FIELDS } from "../../../conversation/gateway-fields.ts";
import { markExtras, markSpelling } from "../parts/extras.ts";
import { separateCalls, separateTools } from "../parts/namespaces.ts";
import { decodeMessages } from "./decode-messages.ts";
import { decodeToolChoice, decodeTools } from "./decode-tools.ts";
import { decodeOutputFormat, restOfFormat } from "./output-format.ts";
import { decodeReasoningParameters } from "./reasoning-parameters.ts";

type KnownParameters = { -readonly [Key in keyof ConversationRequest]?: ConversationRequest[Key] };

import { LOGPROBS } from "../../traits.ts";

/**
 * Decodes a Responses request. Unknown fields stay in extras, so that this format can encode the same request again.
 * The fields about state were answered for already (`joinInput`).
 * @throws GatewayError `invalid_request` for an invalid input.
 */
export function decodeRequest(body: Fields): ConversationRequest {
  const rest = omit(body, NOT_KEPT);
  const messages = [...takeInstructions(rest), ...takeMessages(rest)];
  const known: KnownParameters = {};
  takePlain(rest, known);
  const separated = separateCalls(messages, takeTools(rest, known));
  const reasoning = decodeReasoningParameters(rest["reasoning"]);
  if (reasoning !== null) {
    known.reasoning = reasoning;
    delete rest["reasoning"];
  }
  takeText(rest, known);
  takeLogprobs(rest, known);
  if (rest["stream"] === true) {
    known.stream = true;
    delete rest["stream"];
  }
  return { ...EMPTY_REQUEST, ...known, messages: separated, extras: markExtras(...partSpelled(rest)) };
}

/** Fields that the canonical model has, with less detail than this format. */
const SPELLED = new Set(["text", "include", "top_logprobs", "tools", "tool_choice", "reasoning"]);

function partSpelled(rest: Fields): [Fields, Fields] {
  const spelled = Object.fromEntries(Object.entries(rest).filter(([name]) => SPELLED.has(name)));
  return [omit(rest, SPELLED), spelled];
}

const NOT_KEPT = new Set([...GATEWAY_FIELDS, "model", "store"]);

function takeInstructions(rest: Record<string, unknown>): Message[] {
  const text = rest["instructions"];
  if (typeof text !== "string") return [];
  delete rest["instructions"];
  return [
    { role: "system", parts: [{ kind: "text", text }], extras: markSpelling({ asInstructions: true }) },
  ];
}

function takeMessages(rest: Record<string, unknown>): Message[] {
  const { input } = rest;
  delete rest["input"];
  if (Array.isArray(input)) return decodeMessages(input);
  if (typeof input !== "string") {
    const metadata = { field: "input" };
    return fail("invalid_request", "input is required: a string or an array of items.", { metadata });
  }
  return [{ role: "user", parts: [{ kind: "text", text: input }], extras: markSpelling({ asText: true }) }];
}

/** Fields with the same meaning in the canonical model, with their name and type there. */
const PLAIN = [
  ["parallel_tool_calls", "parallelToolCalls", "boolean"],
  ["max_output_tokens", "maxTokens", "number"],
  ["temperature", "temperature", "number"],
  ["top_p", "topP", "number"],
  ["service_tier", "serviceTier", "string"],
  ["user", "user", "string"],
  ["prompt_cache_key", "promptCacheKey", "string"],
] as const;

/** Moves these fields from `rest` to `known`. Nulls and values of other types stay in `rest`. */
function takePlain(rest: Record<string, unknown>, known: KnownParameters): void {
  for (const [field, key, kind] of PLAIN) {
    if (typeof rest[field] !== kind) continue;
    assignFields(known, { [key]: rest[field] });
    delete rest[field];
  }
  const cache = readCacheMark(rest["cache_control"]);
  if (cache !== undefined) {
    assignFields(known, { cache });
    delete rest["cache_control"];
  }
  const metadata = asFields(rest["metadata"]);
  if (metadata === null) return;
  known.metadata = metadata;
  delete rest["metadata"];
}

/** Takes the tools and the tool choice; returns the tools under their own names. */
function takeTools(rest: Record<string, unknown>, known: KnownParameters): readonly Tool[] {
  const tools = Array.isArray(rest["tools"]) ? decodeTools(rest["tools"]) : [];
  if (tools.length > 0) {
    known.tools = separateTools(tools);
    delete rest["tools"];
  }
  const choice = rest["tool_choice"];
  if (choice === undefined || choice === null) return tools;
  known.toolChoice = decodeToolChoice(choice, tools);
  delete rest["tool_choice"];
  return tools;
}

/** Takes `text`. Its unknown fields stay in `rest`, and that it was sent at all. */
function takeText(rest: Record<string, unknown>, known: KnownParameters): void {
  const text = asFields(rest["text"]);
  if (text === null) return;
  const left = { ...text };
  const verbosity = readText(text["verbosity"]);
  if (verbosity !== null) {
    known.verbosity = verbosity;
    delete left["verbosity"];
  }
  const format = asFields(text["format"]);
  if (format !== null) {
    known.outputFormat = decodeOutputFormat(format);
    left["format"] = restOfFormat(format);
  }
  rest["text"] = left;
}

/** Both fields also stay in `rest`, because the canonical model does not keep all of them. */
function takeLogprobs(rest: Fields, known: KnownParameters): void {
  const top = typeof rest["top_logprobs"] === "number" ? rest["top_logprobs"] : null;
  const isIncluded = Array.isArray(rest["include"]) && rest["include"].includes(LOGPROBS);
  if (isIncluded || (top ?? 0) > 0) known.logprobs = { top };
}

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
