import { asFields, type Fields, omit } from "../../../../base/json/fields.ts";
import type { Answer } from "../../../canonical/model/answer.ts";
import type { AnswerDecoding } from "../../../canonical/model/format.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import { findFailure } from "../../find-failure.ts";
import { decodeFinish, hasCalls } from "../../finish-reason.ts";
import { readUsage } from "../../usage.ts";
import { decodeOutputItem } from "../parts/decode-items.ts";
import { markExtras, markSpelling, readSpelling } from "../parts/extras.ts";
import { attachSignatures } from "../parts/signatures.ts";

/** Decodes a whole response. One that failed or has not ended is an error. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const error = findFailure(body);
  if (error !== null) return { kind: "error", error };
  return { kind: "answer", answer: readAnswer(body, body["output"] as readonly unknown[]) };
}

function readAnswer(body: Fields, output: readonly unknown[]): Answer {
  const items = output.map(asFields).filter((item) => item !== null);
  const decoded = items.flatMap((item) => decodeOutputItem(settleItem(item)));
  const { parts, logprobs } = takeLogprobs(attachSignatures(decoded));
  const finish = decodeFinish(body, hasCalls(parts));
  return {
    choices: [{ index: 0, parts, finish, logprobs: logprobs.length > 0 ? { content: logprobs } : null }],
    usage: readUsage(body),
    serviceTier: readTier(body),
    extras: markExtras(decodeFrame(body)),
  };
}

const STATED = new Set<unknown>(["message", "function_call", "custom_tool_call"]);

/** Removes the status of an ended item whose type always has one; the encoder adds it again. */
function settleItem(item: Fields): Fields {
  return item["status"] === "completed" && STATED.has(item["type"]) ? omit(item, STATUS) : item;
}

/** Removes the status of an item that has begun, if its type always has one, so that it equals the ended item. */
export function settleBegun(item: Fields): Fields {
  return settleItem(item["status"] === "in_progress" ? { ...item, status: "completed" } : item);
}

const STATUS = new Set(["status"]);

/** Takes the log probabilities out of the texts: the canonical model keeps them next to the texts. */
function takeLogprobs(parts: readonly Part[]): { parts: Part[]; logprobs: unknown[] } {
  const logprobs: unknown[] = [];
  const bare = parts.map((part) => {
    const list = part.kind === "text" ? readSpelling(part)?.part?.["logprobs"] : null;
    if (!Array.isArray(list) || list.length === 0) return part;
    logprobs.push(...list);
    return clearLogprobs(part);
  });
  return { parts: bare, logprobs };
}

/** Returns the part without the log probabilities that its spelling keeps. */
export function clearLogprobs(part: Part): Part {
  const spelling = readSpelling(part);
  const rest = spelling?.part;
  if (rest?.["logprobs"] === undefined) return part;
  return { ...part, extras: markSpelling({ ...spelling, part: { ...rest, logprobs: [] } }) };
}

/** Returns the service tier of a response. */
export function readTier(body: Fields): string | null {
  return typeof body["service_tier"] === "string" ? body["service_tier"] : null;
}

/** Returns the fields around an answer, except those that the gateway or the canonical model has itself. */
export function decodeFrame(body: Fields): Fields {
  return omit(body, OWN_FIELDS);
}

const OWN_FIELDS = new Set([
  "id",
  "object",
  "created_at",
  "model",
  "status",
  "error",
  "incomplete_details",
  "output",
  "store",
  "service_tier",
  "previous_response_id",
  "gateway_metadata",
]);
