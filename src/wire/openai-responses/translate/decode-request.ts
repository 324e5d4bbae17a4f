import { fail } from "../../../base/errors.ts";
import {
  type ConversationRequest,
  type Message,
  NOTHING_SAID,
  type OutputFormat,
  type ReasoningParameters,
  type Tool,
} from "../../canonical/request.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { asFields, type Fields, omit } from "../../json/fields.ts";
import { rejectState, STATE_FIELDS } from "../state-fields.ts";
import { decodeInput } from "./decode-messages.ts";
import { decodeToolChoice, decodeTools } from "./decode-tools.ts";
import { markExtras, markSpelling } from "./extras.ts";
import { separateCalls, separateTools } from "./namespaces.ts";

type Said = { -readonly [Key in keyof ConversationRequest]?: ConversationRequest[Key] };

/**
 * Reads a Responses request. What the hub has no name for stays in extras, so that this format meets itself whole.
 * @throws GatewayError `invalid_request` for an input that is none, and for what would need stored responses.
 */
export function decodeRequest(body: Fields): ConversationRequest {
  for (const field of STATE_FIELDS) if (isWanted(body[field])) rejectState(field);
  const rest = omit(body, NOT_KEPT);
  const spoken = [...decodeInstructions(rest), ...decodeMessages(rest)];
  const said: Said = {};
  takePlain(rest, said);
  const messages = separateCalls(spoken, takeTools(rest, said));
  takeReasoning(rest, said);
  takeText(rest, said);
  takeLogprobs(rest, said);
  if (rest["stream"] === true) {
    said.stream = true;
    delete rest["stream"];
  }
  return { ...NOTHING_SAID, ...said, messages, extras: markExtras(...partSpelled(rest)) };
}

/** Fields whose meaning is in the hub, and which say more of how it was put. */
const SPELLED = new Set(["text", "include", "top_logprobs", "tools", "tool_choice", "reasoning"]);

function partSpelled(rest: Fields): [Fields, Fields] {
  const spelled = Object.fromEntries(Object.entries(rest).filter(([name]) => SPELLED.has(name)));
  return [omit(rest, SPELLED), spelled];
}

const NOT_KEPT = new Set([...GATEWAY_FIELDS, "model", "store"]);

function isWanted(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function decodeInstructions(rest: Record<string, unknown>): Message[] {
  const text = rest["instructions"];
  if (typeof text !== "string") return [];
  delete rest["instructions"];
  return [
    { role: "system", parts: [{ kind: "text", text }], extras: markSpelling({ asInstructions: true }) },
  ];
}

function decodeMessages(rest: Record<string, unknown>): Message[] {
  const { input } = rest;
  delete rest["input"];
  if (Array.isArray(input)) return decodeInput(input);
  if (typeof input !== "string") {
    const metadata = { field: "input" };
    return fail("invalid_request", "input is required: a string or an array of items.", { metadata });
  }
  return [{ role: "user", parts: [{ kind: "text", text: input }], extras: markSpelling({ asText: true }) }];
}

/** Fields that mean the same in the hub, with their kind there. */
const PLAIN = [
  ["parallel_tool_calls", "parallelToolCalls", "boolean"],
  ["max_output_tokens", "maxTokens", "number"],
  ["temperature", "temperature", "number"],
  ["top_p", "topP", "number"],
  ["service_tier", "serviceTier", "string"],
  ["user", "user", "string"],
  ["prompt_cache_key", "promptCacheKey", "string"],
] as const;

/** Each taker moves what it knows from the rest to what was said; null and what is odd stays in the rest. */
function takePlain(rest: Record<string, unknown>, said: Said): void {
  for (const [field, key, kind] of PLAIN) {
    if (typeof rest[field] !== kind) continue;
    Object.assign(said, { [key]: rest[field] });
    delete rest[field];
  }
  const metadata = asFields(rest["metadata"]);
  if (metadata === null) return;
  said.metadata = metadata;
  delete rest["metadata"];
}

/** Gives the tools by their own names. */
function takeTools(rest: Record<string, unknown>, said: Said): readonly Tool[] {
  const tools = Array.isArray(rest["tools"]) ? decodeTools(rest["tools"]) : [];
  if (tools.length > 0) {
    said.tools = separateTools(tools);
    delete rest["tools"];
  }
  const choice = rest["tool_choice"];
  if (choice === undefined || choice === null) return tools;
  said.toolChoice = decodeToolChoice(choice, tools);
  delete rest["tool_choice"];
  return tools;
}

function takeReasoning(rest: Record<string, unknown>, said: Said): void {
  const wish = asFields(rest["reasoning"]);
  if (wish === null) return;
  delete rest["reasoning"];
  const effort = readText(wish["effort"]);
  const summary = readText(wish["summary"]);
  const known = new Set([...(effort === null ? [] : ["effort"]), ...(summary === null ? [] : ["summary"])]);
  const decoded: ReasoningParameters = {
    enabled: effort === null ? null : effort !== "none",
    effort,
    budgetTokens: null,
    adaptive: false,
    summary,
    hidden: false,
    extras: markExtras(omit(wish, known)),
  };
  said.reasoning = decoded;
}

/** `text` keeps in the rest what the hub does not know of it, and that it was there at all. */
function takeText(rest: Record<string, unknown>, said: Said): void {
  const text = asFields(rest["text"]);
  if (text === null) return;
  const left = { ...text };
  const verbosity = readText(text["verbosity"]);
  if (verbosity !== null) {
    said.verbosity = verbosity;
    delete left["verbosity"];
  }
  const format = asFields(text["format"]);
  if (format !== null) {
    said.outputFormat = decodeFormat(format);
    left["format"] = restOfFormat(format);
  }
  rest["text"] = left;
}

function decodeFormat(format: Fields): OutputFormat {
  const schema = asFields(format["schema"]);
  if (format["type"] === "text") return { kind: "text" };
  if (format["type"] === "json_object") return { kind: "json" };
  if (format["type"] !== "json_schema" || schema === null) {
    return { kind: "native", format: "openai-responses", value: format };
  }
  return {
    kind: "json-schema",
    name: readText(format["name"]),
    description: readText(format["description"]),
    schema,
    strict: typeof format["strict"] === "boolean" ? format["strict"] : null,
  };
}

/** Nulls and unknown fields; what is known stands in the hub. */
function restOfFormat(format: Fields): Fields {
  const rest: Record<string, unknown> = {};
  for (const key in format) if (format[key] === null || !FORMAT_FIELDS.has(key)) rest[key] = format[key];
  return rest;
}

const FORMAT_FIELDS = new Set(["type", "name", "description", "schema", "strict"]);

/** Both fields stay in the rest as well: they say more than the hub keeps. */
function takeLogprobs(rest: Fields, said: Said): void {
  const top = typeof rest["top_logprobs"] === "number" ? rest["top_logprobs"] : null;
  const isIncluded = Array.isArray(rest["include"]) && rest["include"].includes(LOGPROBS);
  if (isIncluded || (top ?? 0) > 0) said.logprobs = { top };
}

/** What `include` calls log probabilities. */
export const LOGPROBS = "message.output_text.logprobs";

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
