import { type Fields, omit } from "../../json/fields.ts";
import { OWN_MESSAGE_FIELDS } from "../own-fields.ts";
import { type DeltaText, encodeReasoning, hasOtherContent, readDeltaText } from "../reasoning.ts";
import type { ToolCallTracker } from "../tool-call-tracker.ts";
import { listCalls, nameOf, type ToolCallOut, textOf } from "../tool-calls.ts";

/** The client's version of a vendor's delta. */
interface RelayedDelta {
  /** The client's delta; null where there is nothing to send. */
  readonly delta: Fields | null;
  /** Whether it has any content for a person or an agent. */
  readonly hasContent: boolean;
  /** Bytes of text in it. */
  readonly bytes: number;
}

/** A refusal is passed on unchanged unless it is empty. */
const OWN_DELTA_FIELDS: ReadonlySet<string> = new Set([...OWN_MESSAGE_FIELDS, "refusal"]);

/** Corrects a vendor's delta. `isFirst`: it is the first of its choice, which names the role. */
export function relayDelta(tools: ToolCallTracker, delta: Fields, isFirst: boolean): RelayedDelta {
  const text = readDeltaText(delta);
  const pieces = listCalls(delta);
  const calls = pieces.length === 0 ? [] : tools.step(pieces);
  const rest = otherFields(delta);
  if (typeof delta["refusal"] === "string" && delta["refusal"] !== "") rest["refusal"] = delta["refusal"];
  const hasText = (text.content ?? "") !== "" || text.reasoning !== null || calls.length > 0;
  const hasContent = hasText || hasOtherContent(rest);
  const isEmpty = !hasContent && !isFirst && !text.details?.length && Object.keys(rest).length === 0;
  return {
    delta: isEmpty
      ? null
      : {
          ...(isFirst ? { role: "assistant" } : {}),
          ...encodeText(text, isFirst),
          ...encodeCalls(calls),
          ...rest,
        },
    hasContent,
    bytes: countBytes(text, calls),
  };
}

/** Returns the fields of a delta that the gateway does not write itself, without nulls. */
export function otherFields(delta: Fields): Record<string, unknown> {
  const rest = omit(delta, OWN_DELTA_FIELDS);
  for (const key in rest) if (rest[key] === null || rest[key] === undefined) delete rest[key];
  return rest;
}

/** Encodes text and reasoning of a delta. An empty text is sent only with the first delta of a choice. */
export function encodeText(text: DeltaText, isFirst = false): Fields {
  const hasContent = text.content !== null && (text.content !== "" || isFirst);
  return { ...(hasContent ? { content: text.content } : {}), ...encodeReasoning(text) };
}

function encodeCalls(calls: readonly ToolCallOut[]): Fields {
  return calls.length > 0 ? { tool_calls: calls } : {};
}

function countBytes(text: DeltaText, calls: readonly ToolCallOut[]): number {
  let bytes = Buffer.byteLength(text.content ?? "") + Buffer.byteLength(text.reasoning ?? "");
  for (const call of calls) bytes += Buffer.byteLength(textOf(call)) + nameOf(call).length;
  return bytes;
}
