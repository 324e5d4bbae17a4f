import type { AnswerDecoding } from "../canonical/format.ts";
import type { Part, TextPart } from "../canonical/parts.ts";
import { plainReasoning } from "../canonical/parts.ts";
import {
  brokenAnswer,
  findVendorError,
  readVendorError,
  type VendorError,
} from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { completeArguments } from "./arguments.ts";
import { findFailedFinish, readFinish } from "./finish-reason.ts";
import { readCitations } from "./read-citations.ts";
import { readLogprobs } from "./read-logprobs.ts";
import { readUsage } from "./usage.ts";

/** Reads a chat answer, or why the body is none. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const message = asFields(body["message"]);
  if (message === null) return { kind: "error", error: findFailure(body) ?? NO_MESSAGE };
  const native = readText(body["finish_reason"]) || "COMPLETE";
  const failed = findFailedFinish(native, body["error"]);
  if (failed !== null) return { kind: "error", error: failed };
  const calls = listFields(message["tool_calls"]).map(decodeCall);
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

/** The error in a body or event that came in place of an answer; Cohere says no more than `message`. */
export function findFailure(body: Fields): VendorError | null {
  const error = findVendorError(body);
  if (error !== null) return error;
  return typeof body["message"] === "string" ? readVendorError(200, body) : null;
}

/** What a model says to itself before it calls tools. */
function decodePlan(plan: unknown): Part[] {
  return readText(plan) === "" ? [] : [plainReasoning(readText(plan))];
}

function decodeContent(message: Fields): Part[] {
  const content = message["content"];
  const items = typeof content === "string" ? [{ type: "text", text: content }] : listFields(content);
  const citations = readCitations(message["citations"] ?? []);
  const firstText = items.findIndex((item) => readText(item["text"]) !== "");
  return items.flatMap((item, at): Part[] => {
    const thinking = readText(item["thinking"]);
    if (thinking !== "") return [plainReasoning(thinking)];
    const text = readText(item["text"]);
    if (text === "") return [];
    const own = citations.filter(({ index }) => (index ?? firstText) === at).map(({ citation }) => citation);
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

function listFields(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields).filter((fields) => fields !== null) : [];
}

/** The value where it is a text, else "". */
export function readText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
