import { type CountLimit, requireAtMost, Tally } from "../../base/json/reject-excess.ts";
import { type JsonNode, LEAF, scanCounting } from "../../base/json/scan.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";

/**
 * The size limits of a conversation, for all client APIs. The limits are defined in `base/numbers/bounds`; the errors name the client's own
 * fields.
 */

const SHORTEN = "Send fewer, or summarize the earlier part of the conversation.";

const FIELDS: CountLimit = { what: "fields", bound: BOUNDS.bodyFields, remedy: "Send fewer." };
const MESSAGES: CountLimit = { what: "messages", bound: BOUNDS.messages, remedy: SHORTEN };
const ITEMS: CountLimit = { what: "items", bound: BOUNDS.messages, remedy: SHORTEN };
const PARTS: CountLimit = { what: "content parts", bound: BOUNDS.parts, remedy: SHORTEN };
const CALLS: CountLimit = { what: "tool calls", bound: BOUNDS.toolCalls, remedy: SHORTEN };
const REASONING: CountLimit = {
  what: "pieces of reasoning",
  bound: BOUNDS.reasoningDetails,
  remedy: SHORTEN,
};
const TOOLS: CountLimit = { what: "tools", bound: BOUNDS.tools, remedy: "Send fewer." };
const SCHEMA_VALUES: CountLimit = {
  what: "values",
  bound: BOUNDS.schemaValues,
  remedy: "Send simpler schemas, or fewer.",
};

/**
 * Limits the number of fields of the body.
 * @throws GatewayError `invalid_request`, as do all functions of this file.
 */
export function checkFieldCount({ members }: JsonNode): void {
  requireAtMost("body", members?.length ?? 0, FIELDS);
}

/** Limits the list of messages. */
export function checkMessageCount(count: number): void {
  requireAtMost("messages", count, MESSAGES);
}

/** Limits the list of items, which are the messages of a Responses request. */
export function checkItemCount(count: number): void {
  requireAtMost("input", count, ITEMS);
}

/** Returns a counter for the content parts of a conversation. */
export function tallyParts(): Tally {
  return new Tally(PARTS);
}

/** Returns a counter for the tool calls of a conversation. */
export function tallyCalls(): Tally {
  return new Tally(CALLS);
}

/** Returns a counter for the pieces of reasoning in a conversation. */
export function tallyReasoning(): Tally {
  return new Tally(REASONING);
}

/** A value and its separator take at least two bytes. */
const LEAST_VALUE_BYTES = 2;

/** Limits the list of tools and the values in their schemas. `text` is the body, bytes as Latin-1. */
export function checkToolAmounts(text: string, tools: JsonNode): void {
  requireAtMost("tools", tools.items?.length ?? 0, TOOLS);
  checkSchemaValues(text, tools, "tools");
}

/** Limits the values in a schema. Only long schemas are counted. */
export function checkSchemaValues(text: string, schema: JsonNode | undefined, field: string): void {
  if (schema === undefined) return;
  const { start, end } = schema;
  if (end - start <= LEAST_VALUE_BYTES * BOUNDS.schemaValues) return;
  const { values } = scanCounting(text.slice(start, end), LEAF);
  requireAtMost(field, values, SCHEMA_VALUES);
}
