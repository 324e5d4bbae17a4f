import { fail } from "../../../base/errors.ts";
import type { Part } from "../../canonical/parts.ts";
import type { Message } from "../../canonical/request.ts";
import { asFields, type Fields, omit } from "../../json/fields.ts";
import { decodeContent, decodeOutputItem, isMessage, restOfMessage } from "./decode-items.ts";
import { markSpelling } from "./extras.ts";
import { attachProofs } from "./signature-items.ts";

/**
 * A request's input as messages. Items of the model that stand together are one turn and become one assistant message;
 * results that stand together become one tool message. Items that only this format knows, but for calls, part nothing: between two
 * results they go behind them, so that both stay with their calls.
 * @throws GatewayError `invalid_request` for an item that is no object.
 */
export function decodeInput(items: readonly unknown[]): Message[] {
  const reading: Reading = { messages: [], turn: [], results: [] };
  for (const [place, raw] of items.entries()) {
    const item = asFields(raw);
    if (item === null) refuseItem(place);
    readItem(reading, item);
  }
  closeResults(reading);
  closeTurn(reading);
  return reading.messages;
}

interface Reading {
  readonly messages: Message[];
  /** Parts of the assistant message that is open; it follows the results. */
  turn: Part[];
  /** Parts of the tool message that is open. */
  results: Part[];
}

function readItem(reading: Reading, item: Fields): void {
  if (isResult(item)) {
    if (reading.results.length === 0) closeTurn(reading);
    reading.results.push(decodeResult(item));
  } else if (isSpokenTo(item)) {
    closeResults(reading);
    closeTurn(reading);
    reading.messages.push(decodeMessage(item));
  } else {
    const parts = decodeOutputItem(item);
    if (parts.some(isOfTurn)) closeResults(reading);
    for (const part of parts) reading.turn.push(part);
  }
}

/** Whether a part belongs to a turn of the model, and not to whatever stands around it. */
function isOfTurn(part: Part): boolean {
  return part.kind !== "native" || part.call !== undefined;
}

function closeTurn(reading: Reading): void {
  const parts = attachProofs(reading.turn);
  if (parts.length > 0) reading.messages.push({ role: "assistant", parts });
  reading.turn = [];
}

function closeResults(reading: Reading): void {
  if (reading.results.length > 0) reading.messages.push({ role: "tool", parts: reading.results });
  reading.results = [];
}

function refuseItem(place: number): never {
  const field = `input[${place}]`;
  return fail("invalid_request", `${field} must be an object, such as a message with role and content.`, {
    metadata: { field },
  });
}

function isResult(item: Fields): boolean {
  return item["type"] === "function_call_output" || item["type"] === "custom_tool_call_output";
}

const SPOKEN_TO = new Set<unknown>(["system", "developer", "user"]);

function isSpokenTo(item: Fields): boolean {
  return isMessage(item) && SPOKEN_TO.has(item["role"]);
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
