import { fail } from "../../../../base/failures/errors.ts";
import { asFields, type Fields, omit } from "../../../../base/json/fields.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import type { Message } from "../../../canonical/model/request.ts";
import { decodeContent, decodeOutputItem, isMessage, restOfMessage } from "../parts/decode-items.ts";
import { markSpelling } from "../parts/extras.ts";
import { attachSignatures } from "../parts/signatures.ts";

/**
 * Decodes the input of a request. Neighbouring items of the model become one assistant message, and neighbouring results one tool
 * message. Items that only this format has, except calls, do not separate messages: between two results they are moved after
 * them, so that both results stay with their calls.
 * @throws GatewayError `invalid_request` for an item that is not an object.
 */
export function decodeMessages(items: readonly unknown[]): Message[] {
  const reading: Reading = { messages: [], turn: [], results: [] };
  for (const [index, raw] of items.entries()) {
    const item = asFields(raw);
    if (item === null) rejectItem(index);
    readItem(reading, item);
  }
  closeResults(reading);
  closeTurn(reading);
  return reading.messages;
}

interface Reading {
  readonly messages: Message[];
  /** Parts of the open assistant message, which follows the results. */
  turn: Part[];
  /** Parts of the open tool message. */
  results: Part[];
}

function readItem(reading: Reading, item: Fields): void {
  if (isResult(item)) {
    if (reading.results.length === 0) closeTurn(reading);
    reading.results.push(decodeResult(item));
  } else if (isPromptMessage(item)) {
    closeResults(reading);
    closeTurn(reading);
    reading.messages.push(decodeMessage(item));
  } else {
    const parts = decodeOutputItem(item);
    if (parts.some(isOfTurn)) closeResults(reading);
    for (const part of parts) reading.turn.push(part);
  }
}

/** Returns whether a part belongs to a turn of the model, and not to whatever is around it. */
function isOfTurn(part: Part): boolean {
  return part.kind !== "native" || part.call !== undefined;
}

function closeTurn(reading: Reading): void {
  const parts = attachSignatures(reading.turn);
  if (parts.length > 0) reading.messages.push({ role: "assistant", parts });
  reading.turn = [];
}

function closeResults(reading: Reading): void {
  if (reading.results.length > 0) reading.messages.push({ role: "tool", parts: reading.results });
  reading.results = [];
}

function rejectItem(index: number): never {
  const field = `input[${index}]`;
  return fail("invalid_request", `${field} must be an object, such as a message with role and content.`, {
    metadata: { field },
  });
}

function isResult(item: Fields): boolean {
  return item["type"] === "function_call_output" || item["type"] === "custom_tool_call_output";
}

const PROMPT_ROLES = new Set<unknown>(["system", "developer", "user"]);

function isPromptMessage(item: Fields): boolean {
  return isMessage(item) && PROMPT_ROLES.has(item["role"]);
}

function decodeMessage(item: Fields): Message {
  const content = decodeContent(item["content"]);
  const spelling = { item: restOfMessage(item), ...(content.asText ? { asText: true as const } : {}) };
  return {
    role: item["role"] as "system" | "developer" | "user",
    parts: content.parts,
    extras: markSpelling(spelling),
  };
}

const RESULT_FIELDS = new Set(["type", "call_id", "output"]);

function decodeResult(item: Fields): Part {
  const { parts, asText } = decodeContent(item["output"]);
  const spelling = { item: omit(item, RESULT_FIELDS), ...(asText ? { asText: true as const } : {}) };
  return {
    kind: "tool-result",
    callId: typeof item["call_id"] === "string" ? item["call_id"] : "",
    tool: item["type"] === "custom_tool_call_output" ? "custom" : "function",
    content: parts,
    isError: false,
    extras: markSpelling(spelling),
  };
}
