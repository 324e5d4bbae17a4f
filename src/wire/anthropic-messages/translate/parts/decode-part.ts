import { asFields, createTable, type Fields } from "../../../../base/json/fields.ts";
import type {
  NativePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../canonical/model/parts.ts";
import { takeCache } from "./cache-mark.ts";
import { decodeCitations } from "./citations.ts";
import { FORMAT, makeExtras } from "./extras.ts";
import { decodeMedia, joinTexts } from "./media.ts";
import { decodeRedacted, decodeThinking } from "./reasoning-parts.ts";
import { type FieldTaker, takeFields } from "./take-fields.ts";

/**
 * Decodes a content block of a request or an answer. Kinds that only this API has become native parts. Null if a block of a known
 * kind lacks a required field.
 */
export function decodePart(raw: unknown): Part | null {
  const block = asFields(raw);
  const type = block?.["type"];
  if (block === null || typeof type !== "string") return null;
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read === undefined) return makeNative(block, type);
  const take = takeFields(block);
  take.drop("type");
  const part = read(take);
  // A source of an unknown kind is not an error: the block passes as it is.
  const isNewSource = part === null && typeof asFields(block["source"])?.["type"] === "string";
  return isNewSource ? makeNative(block, type) : part;
}

/** Returns a block that the canonical model does not have as a native part. */
export function makeNative(block: Fields, type: string): NativePart {
  const native: NativePart = { kind: "native", format: FORMAT, type, value: block };
  const { id, name, input } = block;
  const isCall = HOSTED_CALLS.has(type) && typeof id === "string" && typeof name === "string";
  if (isCall) return { ...native, call: { id, name, arguments: JSON.stringify(input ?? {}) } };
  const found = type === "tool_search_tool_result" ? readFoundTools(block) : null;
  if (found !== null) return { ...native, result: found };
  const text = readNativeText(block, type);
  return text === null ? native : { ...native, text };
}

/** Returns the names of the tools that the vendor's search found, as the result of its call; null if the search failed. */
function readFoundTools(block: Fields): NonNullable<NativePart["result"]> | null {
  const { tool_use_id: callId, content } = block;
  const references = asFields(content)?.["tool_references"];
  if (typeof callId !== "string" || !Array.isArray(references)) return null;
  const names = references.map((reference) => asFields(reference)?.["tool_name"]);
  return { callId, text: names.filter((name) => typeof name === "string").join("\n") };
}

/** Returns the text of a block for formats that do not have it; null if it has none. */
function readNativeText(block: Fields, type: string): string | null {
  if (type === "tool_reference") return typeof block["tool_name"] === "string" ? block["tool_name"] : null;
  // A summary in plain text, in place of the conversation before it.
  if (type === "compaction")
    return typeof block["content"] === "string" && block["content"] !== "" ? block["content"] : null;
  if (type !== "search_result") return null;
  const { title, source, content } = block;
  const head = [title, source].filter((line) => typeof line === "string" && line !== "").join("\n");
  const texts = [head, joinTexts(content) ?? ""].filter((text) => text !== "");
  return texts.length === 0 ? null : texts.join("\n\n");
}

/** Blocks of calls that the vendor or an MCP server executes. */
const HOSTED_CALLS: ReadonlySet<string> = new Set(["server_tool_use", "mcp_tool_use"]);

const READERS: Readonly<Record<string, (take: FieldTaker) => Part | null>> = createTable({
  text: decodeText,
  image: (take) => decodeMedia("image", take),
  document: (take) => decodeMedia("file", take),
  tool_use: decodeToolUse,
  tool_result: decodeToolResult,
  thinking: decodeThinking,
  redacted_thinking: decodeRedacted,
});

function decodeText(take: FieldTaker): TextPart | null {
  const text = take.text("text");
  if (text === null) return null;
  const list = take.peek("citations");
  const citations = Array.isArray(list) && list.length > 0 ? decodeCitations(list) : null;
  if (citations !== null) take.drop("citations");
  const cache = takeCache(take);
  return {
    kind: "text",
    text,
    ...(citations === null ? {} : { citations }),
    ...cache,
    ...makeExtras(take.rest()),
  };
}

function decodeToolUse(take: FieldTaker): ToolCallPart | null {
  const name = take.text("name");
  if (name === null) return null;
  const input = take.drop("input");
  const id = take.text("id") ?? "";
  const cache = takeCache(take);
  return {
    kind: "tool-call",
    id,
    name,
    tool: "function",
    arguments: input === undefined ? "" : JSON.stringify(input),
    ...cache,
    ...makeExtras(take.rest()),
  };
}

function decodeToolResult(take: FieldTaker): ToolResultPart | null {
  const content = decodeContent(take);
  if (content === null) return null;
  const callId = take.text("tool_use_id") ?? "";
  // An explicit false means the same as none, so it stays among the other fields.
  const isError = take.peek("is_error") === true && take.flag("is_error") === true;
  const cache = takeCache(take);
  return {
    kind: "tool-result",
    callId,
    tool: "function",
    content,
    isError,
    ...cache,
    ...makeExtras(take.rest()),
  };
}

/**
 * Takes `content`, a string or blocks. A string becomes a text without extras. Empty if there is none; null if a block cannot be
 * decoded.
 */
export function decodeContent(take: FieldTaker): readonly Part[] | null {
  const text = take.text("content");
  if (text !== null) return [{ kind: "text", text }];
  const parts = take.list("content")?.map(decodePart) ?? [];
  return parts.every((part) => part !== null) ? parts : null;
}
