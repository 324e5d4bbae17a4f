import { BOUNDS } from "../../base/bounds.ts";
import { requireAtMost, Tally } from "../json/reject-excess.ts";
import { type JsonNode, LEAF, scanCounting } from "../json/scan.ts";

/*
 * How much of each thing a conversation may have, whichever client API it came in. The bounds are in `base/bounds`; the
 * errors name the client's own fields.
 */

const SHORTEN = "Send fewer, or summarize the earlier part of the conversation.";

/**
 * Bounds the members of the body's own object.
 * @throws GatewayError `invalid_request`, as all functions of this file.
 */
export function checkFieldCount({ members }: JsonNode): void {
  requireAtMost("body", members?.length ?? 0, "fields", BOUNDS.bodyFields, "Send fewer.");
}

/** Bounds the list of messages, or of items; `what` is the client API's word for them. */
export function checkMessageCount(field: string, count: number, what: string): void {
  requireAtMost(field, count, what, BOUNDS.messages, SHORTEN);
}

/** Counts the content parts of a conversation. */
export function tallyParts(): Tally {
  return new Tally("content parts", BOUNDS.parts, SHORTEN);
}

/** Counts its tool calls. */
export function tallyCalls(): Tally {
  return new Tally("tool calls", BOUNDS.toolCalls, SHORTEN);
}

/** Counts pieces of its reasoning. */
export function tallyReasoning(): Tally {
  return new Tally("pieces of reasoning", BOUNDS.reasoningDetails, SHORTEN);
}

/** A value and the mark that parts it from the next take two bytes at the least. */
const LEAST_VALUE_BYTES = 2;

/** Bounds the list of tools, and the values in their schemas. `text` is the body, bytes read as Latin-1. */
export function checkToolAmounts(text: string, tools: JsonNode): void {
  requireAtMost("tools", tools.items?.length ?? 0, "tools", BOUNDS.tools, "Send fewer.");
  checkSchemaValues(text, tools, "tools");
}

/** Bounds the values in a schema. Only a long one is looked at. */
export function checkSchemaValues(text: string, schema: JsonNode | undefined, field: string): void {
  if (schema === undefined) return;
  const { start, end } = schema;
  if (end - start <= LEAST_VALUE_BYTES * BOUNDS.schemaValues) return;
  const { values } = scanCounting(text.slice(start, end), LEAF);
  requireAtMost(field, values, "values", BOUNDS.schemaValues, "Send simpler schemas, or fewer.");
}
