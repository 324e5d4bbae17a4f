import { asFields, asObjects, asText, type Fields } from "../../base/json/fields.ts";
import type { AnswerDecoding } from "../canonical/model/format.ts";
import {
  type Citation,
  type Part,
  plainReasoning,
  REASONING_ORIGINS,
  type ReasoningPart,
} from "../canonical/model/parts.ts";
import { failedFinish } from "../conversation/errors/broken-answers.ts";
import {
  brokenAnswer,
  findVendorError,
  readVendorError,
  type VendorError,
} from "../conversation/errors/vendor-error.ts";
import { BEDROCK_ORIGIN } from "./encode-reasoning.ts";
import { isFailedFinish, readFinish } from "./finish-reason.ts";
import { readUsage } from "./usage.ts";

/** Decodes a Converse answer, or the reason why the body is not one. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const message = asFields(asFields(body["output"])?.["message"]);
  if (message === null) return { kind: "error", error: readFailure(body) };
  const native = typeof body["stopReason"] === "string" ? body["stopReason"] : "end_turn";
  if (isFailedFinish(native)) return { kind: "error", error: failedFinish(native) };
  const parts = asObjects(message["content"]).flatMap(decodeBlock);
  const hasCalls = parts.some((part) => part.kind === "tool-call");
  const stopSequence = asFields(body["additionalModelResponseFields"])?.["stop_sequence"];
  return {
    kind: "answer",
    answer: {
      choices: [{ index: 0, parts, finish: readFinish(native, hasCalls, stopSequence), logprobs: null }],
      usage: readUsage(asFields(body["usage"])),
      serviceTier: readTier(body),
    },
  };
}

/** Returns the service tier of an answer, from its body or from the metadata of a stream. */
export function readTier(fields: Fields): string | null {
  const type = asFields(fields["serviceTier"])?.["type"];
  return typeof type === "string" ? type : null;
}

function readFailure(body: Fields): VendorError {
  const error = findVendorError(body);
  if (error !== null) return error;
  if (typeof body["message"] === "string") return readVendorError(200, body);
  return brokenAnswer("the upstream's answer has no message");
}

function decodeBlock(block: Fields): Part[] {
  if (typeof block["text"] === "string")
    return block["text"] === "" ? [] : [{ kind: "text", text: block["text"] }];
  const use = asFields(block["toolUse"]);
  if (use !== null && use["type"] !== "server_tool_use") return [decodeCall(use)];
  const reasoning = asFields(block["reasoningContent"]);
  if (reasoning !== null) return [decodeReasoning(reasoning)];
  const cited = asFields(block["citationsContent"]);
  if (cited !== null) return [decodeCited(cited)];
  const type = Object.keys(block)[0];
  return type === undefined ? [] : [{ kind: "native", format: "bedrock-converse", type, value: block }];
}

function decodeCall(use: Fields): Part {
  return {
    kind: "tool-call",
    id: readText(use["toolUseId"]),
    name: readText(use["name"]),
    tool: "function",
    arguments: JSON.stringify(use["input"] ?? {}),
  };
}

function decodeReasoning(reasoning: Fields): Part {
  if (typeof reasoning["redactedContent"] === "string")
    return redactedReasoning(reasoning["redactedContent"]);
  const reasoningText = asFields(reasoning["reasoningText"]) ?? {};
  const signature = readText(reasoningText["signature"]) || null;
  // Of all models behind Converse only Claude signs.
  const origin = signature === null ? null : REASONING_ORIGINS.anthropic;
  return { ...plainReasoning(readText(reasoningText["text"])), signature, origin };
}

/** Returns reasoning that only the vendor can read. `encrypted` is base64. */
export function redactedReasoning(encrypted: string): ReasoningPart {
  return { ...plainReasoning(""), encrypted, origin: BEDROCK_ORIGIN };
}

function decodeCited(cited: Fields): Part {
  const citations = asObjects(cited["citations"]).map(decodeCitation);
  const text = joinTexts(cited["content"]);
  return { kind: "text", text, ...(citations.length === 0 ? {} : { citations }) };
}

/** Decodes a citation of an answer or of a delta. Converse sends no offsets. */
export function decodeCitation(citation: Fields): Citation {
  const web = asFields(asFields(citation["location"])?.["web"]);
  return {
    url: readText(web?.["url"]) || null,
    title: readText(citation["title"]) || null,
    text: joinTexts(citation["sourceContent"]) || null,
    start: null,
    end: null,
    extras: { format: "bedrock-converse", fields: citation },
  };
}

function joinTexts(content: unknown): string {
  return asObjects(content)
    .map((block) => readText(block["text"]))
    .join("");
}

function readText(value: unknown): string {
  return asText(value) ?? "";
}
