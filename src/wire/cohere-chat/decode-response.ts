import { asFields, asObjects, asText, type Fields } from "../../base/json/fields.ts";
import type { AnswerDecoding } from "../canonical/model/format.ts";
import type { Part, TextPart } from "../canonical/model/parts.ts";
import { plainReasoning } from "../canonical/model/parts.ts";
import {
  brokenAnswer,
  findVendorError,
  readVendorError,
  type VendorError,
} from "../conversation/errors/vendor-error.ts";
import { completeArguments } from "./arguments.ts";
import { findFailedFinish, readFinish } from "./finish-reason.ts";
import { readCitations } from "./read-citations.ts";
import { readLogprobs } from "./read-logprobs.ts";
import { readUsage } from "./usage.ts";

/** Decodes a chat answer, or the reason why the body is not one. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const message = asFields(body["message"]);
  if (message === null) return { kind: "error", error: findFailure(body) ?? NO_MESSAGE };
  const native = readText(body["finish_reason"]) || "COMPLETE";
  const failed = findFailedFinish(native, body["error"]);
  if (failed !== null) return { kind: "error", error: failed };
  const calls = asObjects(message["tool_calls"]).map(decodeCall);
  const parts = [...decodePlan(message["tool_plan"]), ...decodeContent(message), ...calls];
  const finish = readFinish(native, calls.length > 0);
  return {
    kind: "answer",
    answer: {
      choices: [{ index: 0, parts, finish, logprobs: readLogprobs(body["logprobs"]) }],
      usage: readUsage(asFields(body["usage"])),
      serviceTier: null,
    },
  };
}

const NO_MESSAGE = brokenAnswer("the upstream's answer has no message");

/** Returns the error in a body or event that came in place of an answer; Cohere sends only a `message` with it. */
export function findFailure(body: Fields): VendorError | null {
  const error = findVendorError(body);
  if (error !== null) return error;
  return typeof body["message"] === "string" ? readVendorError(200, body) : null;
}

/** Decodes the plan that a model makes before it calls tools. */
function decodePlan(plan: unknown): Part[] {
  return readText(plan) === "" ? [] : [plainReasoning(readText(plan))];
}

function decodeContent(message: Fields): Part[] {
  const content = message["content"];
  const items = typeof content === "string" ? [{ type: "text", text: content }] : asObjects(content);
  const citations = readCitations(message["citations"] ?? []);
  const firstText = items.findIndex((item) => readText(item["text"]) !== "");
  return items.flatMap((item, position): Part[] => {
    const thinking = readText(item["thinking"]);
    if (thinking !== "") return [plainReasoning(thinking)];
    const text = readText(item["text"]);
    if (text === "") return [];
    const own = citations
      .filter(({ index }) => (index ?? firstText) === position)
      .map(({ citation }) => citation);
    const part: TextPart = { kind: "text", text };
    return [own.length === 0 ? part : { ...part, citations: own }];
  });
}

function decodeCall(call: Fields): Part {
  const fn = asFields(call["function"]) ?? {};
  return {
    kind: "tool-call",
    id: readText(call["id"]),
    name: readText(fn["name"]),
    tool: "function",
    arguments: completeArguments(readText(fn["arguments"])),
  };
}

/** Returns a string value, or "" for anything else. */
export function readText(value: unknown): string {
  return asText(value) ?? "";
}
