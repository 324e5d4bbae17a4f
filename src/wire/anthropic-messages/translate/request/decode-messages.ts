import { rejectField } from "../../../../base/failures/errors.ts";
import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import type { Message } from "../../../canonical/model/request.ts";
import { decodeContent, decodePart } from "../parts/decode-part.ts";
import { makeExtras } from "../parts/extras.ts";
import { attachSignatures } from "../parts/signatures.ts";
import { takeFields } from "../parts/take-fields.ts";

/** Decodes `system` as one message without extras (see the README); no message if it is empty. */
export function decodeSystem(system: unknown): Message[] {
  if (system === undefined || system === null) return [];
  if (typeof system === "string" && system.trim() === "") return [];
  if (typeof system === "string") return [{ role: "system", parts: [{ kind: "text", text: system }] }];
  if (!Array.isArray(system)) return rejectField("system", "must be a string or an array of text blocks");
  if (system.length === 0) return [];
  return [{ role: "system", parts: system.map((block, at) => readBlock(block, `system[${at}]`)) }];
}

/** Decodes `messages`. A user message with tool results becomes several: one of results and others of what is around them. */
export function decodeMessages(messages: unknown): Message[] {
  if (!Array.isArray(messages)) return rejectField("messages", "is required: an array of messages");
  return messages.flatMap((message, at) => decodeMessage(message, `messages[${at}]`));
}

function decodeMessage(raw: unknown, field: string): Message[] {
  const message = asFields(raw);
  if (message === null) return rejectField(field, "must be an object with role and content");
  const take = takeFields(message);
  const role = take.drop("role");
  if (role !== "user" && role !== "assistant" && role !== "system") {
    return rejectField(`${field}.role`, "must be user, assistant or system");
  }
  const parts = decodeContent(take) ?? rejectContent(message, field);
  if (parts.length === 0 && !Array.isArray(message["content"])) {
    return rejectField(`${field}.content`, "is required: a string or an array of content blocks");
  }
  take.drop("content");
  const extras = makeExtras(take.rest());
  if (role !== "user")
    return [{ role, parts: role === "assistant" ? attachSignatures(parts) : parts, ...extras }];
  // Only the first of them has extras, which separates it from the message before.
  return splitRuns(parts).map((run, at) => ({
    role: run[0]?.kind === "tool-result" ? "tool" : "user",
    parts: run,
    ...(at === 0 ? extras : {}),
  }));
}

/** Splits parts into runs of tool results and of other parts. Returns at least one run, which may be empty. */
function splitRuns(parts: readonly Part[]): Part[][] {
  const runs: Part[][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    const isResult = part.kind === "tool-result";
    if (run !== undefined && (run[0]?.kind === "tool-result") === isResult) run.push(part);
    else runs.push([part]);
  }
  return runs.length === 0 ? [[]] : runs;
}

function rejectContent(message: Fields, field: string): never {
  const content = message["content"];
  if (Array.isArray(content)) {
    for (const [at, block] of content.entries()) readBlock(block, `${field}.content[${at}]`);
  }
  return rejectField(`${field}.content`, "must be a string or an array of content blocks");
}

function readBlock(raw: unknown, field: string): Part {
  const part = decodePart(raw);
  if (part !== null) return part;
  const type = asFields(raw)?.["type"];
  if (typeof type !== "string") {
    return rejectField(field, 'must be an object with a type, such as {"type": "text", "text": "…"}');
  }
  return rejectField(field, `is no complete ${type} block: ${REQUIREMENTS[type] ?? "see its documentation"}`);
}

const REQUIREMENTS: Readonly<Record<string, string>> = {
  text: "text must be a string",
  image: "source must be an object with a type, such as base64 or url",
  document: "source must be an object with a type, such as base64, url or text",
  tool_use: "name must be a string and input an object",
  tool_result: "tool_use_id must be a string and content a string or an array of complete blocks",
  thinking: "thinking must be a string",
  redacted_thinking: "data must be a string",
};
