import { BOUNDS } from "../../base/bounds.ts";
import { requireAtMost, Tally } from "../json/reject-excess.ts";
import { type JsonNode, LEAF, scanCounting } from "../json/scan.ts";

/**
 * The size limits of a conversation, for all client APIs. The limits are defined in `base/bounds`; the errors name the client's own
 * fields.
 */

const SHORTEN = "Send fewer, or summarize the earlier part of the conversation.";

/**
 * Limits the number of fields of the body.
 * @throws GatewayError `invalid_request`, as do all functions of this file.
 */
export function checkFieldCount({ members }: JsonNode): void {
  requireAtMost("body", members?.length ?? 0, "fields", BOUNDS.bodyFields, "Send fewer.");
}

/** Limits the list of messages or items; `what` is the client API's word for them. */
export function checkMessageCount(field: string, count: number, what: string): void {
  requireAtMost(field, count, what, BOUNDS.messages, SHORTEN);
}

/** Returns a counter for the content parts of a conversation. */
export function tallyParts(): Tally {
  return new Tally("content parts", BOUNDS.parts, SHORTEN);
}

/** Returns a counter for the tool calls of a conversation. */
export function tallyCalls(): Tally {
  return new Tally("tool calls", BOUNDS.toolCalls, SHORTEN);
}

/** Returns a counter for the pieces of reasoning in a conversation. */
export function tallyReasoning(): Tally {
  return new Tally("pieces of reasoning", BOUNDS.reasoningDetails, SHORTEN);
}

/** A value and its separator take at least two bytes. */
const LEAST_VALUE_BYTES = 2;

/** Limits the list of tools and the values in their schemas. `text` is the body, bytes as Latin-1. */
export function checkToolAmounts(text: string, tools: JsonNode): void {
  requireAtMost("tools", tools.items?.length ?? 0, "tools", BOUNDS.tools, "Send fewer.");
  checkSchemaValues(text, tools, "tools");
}

/** Limits the values in a schema. Only long schemas are counted. */
export function checkSchemaValues(text: string, schema: JsonNode | undefined, field: string): void {
  if (schema === undefined) return;
  const { start, end } = schema;
  if (end - start <= LEAST_VALUE_BYTES * BOUNDS.schemaValues) return;
  const { values } = scanCounting(text.slice(start, end), LEAF);
  requireAtMost(field, values, "values", BOUNDS.schemaValues, "Send simpler schemas, or fewer.");
}
