import { asFields, type Fields } from "../../../src/base/json/fields.ts";
import { unwrapReasoning } from "../../../src/wire/canonical/model/reasoning-envelope.ts";
import type { Client } from "../formats.ts";

/** Returns the events of a client's stream, bytes as Latin-1, without `[DONE]`. */
export function readEvents(latin1: string): Fields[] {
  return Buffer.from(latin1, "latin1")
    .toString("utf8")
    .split("\n\n")
    .flatMap((block) => {
      const data = block
        .split("\n")
        .find((line) => line.startsWith("data: "))
        ?.slice(6);
      return data === undefined || data === "[DONE]" ? [] : [JSON.parse(data) as Fields];
    });
}

/** Joins a client's stream to a whole answer, as a simple client does. */
export function foldStream(client: Client, events: readonly Fields[]): Fields {
  return FOLDS[client](events);
}

const FOLDS: Readonly<Record<Client, (events: readonly Fields[]) => Fields>> = {
  chat: foldChat,
  responses: (events) => asFields(events.at(-1)?.["response"]) ?? {},
  messages: foldMessages,
};

function foldChat(events: readonly Fields[]): Fields {
  const answer: Record<string, unknown> = {};
  const choices: Record<string, unknown>[] = [];
  for (const { choices: list, ...rest } of events) {
    Object.assign(answer, rest);
    for (const raw of Array.isArray(list) ? (list as Fields[]) : []) {
      const { index, delta, ...beside } = raw;
      const choice = choices[index as number] ?? { index, message: {} };
      choices[index as number] = choice;
      choice["message"] = merge(choice["message"], delta);
      for (const [key, value] of Object.entries(beside))
        if (value !== null) choice[key] = merge(choice[key], value);
    }
  }
  return { ...answer, choices };
}

/** Appends texts and lists, merges list elements with the same `index`, and replaces all other values. */
function merge(before: unknown, after: unknown, key = ""): unknown {
  if (typeof before === "string" && typeof after === "string")
    return GROWING.has(key) ? before + after : after;
  if (Array.isArray(before) && Array.isArray(after)) return mergeLists(before, after);
  const [a, b] = [asFields(before), asFields(after)];
  if (a === null || b === null) return after ?? before;
  const merged: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) merged[name] = merge(a[name], value, name);
  return merged;
}

const GROWING = new Set([
  "content",
  "reasoning",
  "reasoning_content",
  "refusal",
  "arguments",
  "input",
  "text",
  "summary",
  "transcript",
  "data",
]);

function mergeLists(before: readonly unknown[], after: readonly unknown[]): unknown[] {
  const merged = [...before];
  for (const entry of after) {
    const index = asFields(entry)?.["index"];
    const at = index === undefined ? -1 : merged.findIndex((one) => asFields(one)?.["index"] === index);
    if (at < 0) merged.push(entry);
    else merged[at] = merge(merged[at], entry);
  }
  return merged;
}

function foldMessages(events: readonly Fields[]): Fields {
  let message: Record<string, unknown> = {};
  const content: Record<string, unknown>[] = [];
  const json: string[] = [];
  for (const event of events) {
    const at = event["index"] as number;
    const delta = asFields(event["delta"]) ?? {};
    if (event["type"] === "message_start") message = { ...asFields(event["message"]) };
    if (event["type"] === "content_block_start") content[at] = { ...asFields(event["content_block"]) };
    if (event["type"] === "content_block_delta") {
      const block = content[at] as Record<string, unknown>;
      for (const key of ["text", "thinking", "signature"])
        if (typeof delta[key] === "string") block[key] = `${block[key] ?? ""}${delta[key]}`;
      if (delta["citation"] !== undefined)
        block["citations"] = [...((block["citations"] as unknown[]) ?? []), delta["citation"]];
      if (typeof delta["partial_json"] === "string") {
        json[at] = (json[at] ?? "") + delta["partial_json"];
        if (json[at] !== "") block["input"] = parse(json[at] as string);
      }
    }
    if (event["type"] === "message_delta") {
      const { type: _, delta: __, usage, ...beside } = event;
      message = {
        ...message,
        ...beside,
        ...delta,
        usage: { ...asFields(message["usage"]), ...asFields(usage) },
      };
    }
    if (event["type"] === "error") return event;
  }
  return { ...message, content };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Returns a body with its reasoning envelopes unwrapped. Encrypted and signed fields of the vendor itself are unchanged. */
export function openEnvelopes(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    const carried = unwrapReasoning(value);
    if (carried !== null) return carried;
    if (key === "encrypted_content") return { encrypted: value };
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => openEnvelopes(item));
  const fields = asFields(value);
  if (fields === null) return value;
  const opened = Object.fromEntries(
    Object.entries(fields).map(([name, item]) => [name, openEnvelopes(item, name)]),
  );
  if (fields["type"] !== "redacted_thinking" || typeof opened["data"] !== "string") return opened;
  return { ...opened, data: { encrypted: opened["data"] } };
}
