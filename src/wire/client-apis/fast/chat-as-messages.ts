// Replaces decoding and encoding a whole chat request for Anthropic (hub/hub-request.ts), and prints the same.

import { parseFields } from "../../../base/json/check-fields.ts";
import { type Fields, isEmpty, type MutableFields, setField } from "../../../base/json/fields.ts";
import { applySplices, removeMembers } from "../../../base/json/splice.ts";
import { ComposedBytes, enclose } from "../../../base/text/composed-bytes.ts";
import { hasManyMarks } from "../../canonical/fit/limit-cache-marks.ts";
import type { ConversationRequest, FunctionTool } from "../../canonical/model/request.ts";
import type { CacheMarking } from "../../conversation/cache-marking.ts";
import type { ScannedChatRequest } from "../../openai-chat/passthrough/scan-request.ts";
import { decodeRequest } from "../../openai-chat/translate/request/decode-request.ts";
import type { Decoded } from "../hub/hub-request.ts";
import { MessagesWriter, type WrittenRequest } from "./messages-writer.ts";

/**
 * Writes the conversation of a chat request in the form of Anthropic's API without decoding it: its texts stay where they are, and only
 * what stands between them is printed. Everything but the messages is decoded, and translated as always. Returns null for
 * conversations that are not plain; those of agents mostly are. What it writes is what the translation of the decoded conversation
 * prints (test/wire/client-apis/chat-as-messages.test.ts), if nothing is stored of the conversation's turns. `marking`: where the gateway
 * marks the prompt for the vendor's cache.
 */
export function writeAsMessages(
  scanned: ScannedChatRequest,
  marking: CacheMarking | null = null,
): Decoded | null {
  if (!scanned.hasCallsInOrder || scanned.hasCustomTools || hasManyMarks(scanned.bytes)) return null;
  const written = new MessagesWriter(scanned, marking).write();
  if (written === null) return null;
  const request = decodeSettings(scanned, written.tools);
  // Thinking depends on the last turns, and instructions about the form of the answer are added to those of the system.
  if (request.reasoning !== null || request.outputFormat !== null || request.toolChoice?.kind === "allowed")
    return null;
  return { request, print: (body) => printBody(scanned.bytes, written, body) };
}

const WRITTEN: ReadonlySet<string> = new Set(["messages", "tools"]);

/** Decodes all but the messages, and of the tools only their names. */
function decodeSettings(
  { bytes, text, root }: ScannedChatRequest,
  tools: readonly string[],
): ConversationRequest {
  const rest = applySplices(bytes, removeMembers(text, root, WRITTEN));
  const settings = decodeRequest(parseFields(rest.toString("utf8"), text));
  return { ...settings, tools: tools.map(nameTool) };
}

function nameTool(name: string): FunctionTool {
  return { kind: "function", name, description: null, parameters: null, strict: null };
}

/** Prints a body with what was written in place of its messages and tools; null if the provider takes one of these not at all. */
function printBody(bytes: Buffer, written: WrittenRequest, body: Fields): ComposedBytes | null {
  if (!("messages" in body) || (written.tools.length > 0 && !("tools" in body))) return null;
  const before: MutableFields = {};
  const after: MutableFields = {};
  let members = before;
  for (const name in body) {
    if (name === "messages") members = after;
    else if (name !== "tools") setField(members, name, body[name]);
  }
  // The model is the first member.
  const begin = Buffer.from(JSON.stringify(before).slice(0, -1));
  const end = Buffer.from(isEmpty(after) ? "}" : `,${JSON.stringify(after).slice(1)}`);
  return new ComposedBytes(bytes, enclose(begin, written, end));
}
