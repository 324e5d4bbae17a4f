import { type Fields, omit } from "../../json/fields.ts";
import { OWN_MESSAGE_FIELDS } from "../own-fields.ts";
import { encodeReasoning, readSpoken, type Spoken, saysBeside } from "../reasoning.ts";
import { listCalls, nameOf, type ToolCallOut, type ToolCallTracker, textOf } from "../tool-calls.ts";

/** What the client gets for a delta of the vendor. */
export interface RelayedDelta {
  /** The client's delta; null where there is nothing to send. */
  readonly delta: Fields | null;
  /** Whether it holds anything that a person or an agent would read. */
  readonly saysSomething: boolean;
  /** Bytes of text in it. */
  readonly bytes: number;
}

/** An empty refusal says nothing; any other is passed on as it is. */
const OWN_DELTA_FIELDS: ReadonlySet<string> = new Set([...OWN_MESSAGE_FIELDS, "refusal"]);

/** Corrects a delta of the vendor. `isFirst`: it is the first of its choice, which names the role. */
export function relayDelta(tools: ToolCallTracker, delta: Fields, isFirst: boolean): RelayedDelta {
  const spoken = readSpoken(delta);
  const pieces = listCalls(delta);
  const calls = pieces.length === 0 ? [] : tools.step(pieces);
  const rest = otherFields(delta);
  if (typeof delta["refusal"] === "string" && delta["refusal"] !== "") rest["refusal"] = delta["refusal"];
  const isSpoken = (spoken.content ?? "") !== "" || spoken.reasoning !== null || calls.length > 0;
  const saysSomething = isSpoken || saysBeside(rest);
  const isSilent = !saysSomething && !isFirst && !spoken.details?.length && Object.keys(rest).length === 0;
  return {
    delta: isSilent
      ? null
      : {
          ...(isFirst ? { role: "assistant" } : {}),
          ...encodeSaid(spoken, isFirst),
          ...encodeCalls(calls),
          ...rest,
        },
    saysSomething,
    bytes: countBytes(spoken, calls),
  };
}

/** The fields of a delta that the gateway does not write itself; those that are null are left out. */
export function otherFields(delta: Fields): Record<string, unknown> {
  const rest = omit(delta, OWN_DELTA_FIELDS);
  for (const key in rest) if (rest[key] === null || rest[key] === undefined) delete rest[key];
  return rest;
}

/** A delta with text, reasoning or both. An empty text is sent only with the first delta of a choice. */
export function encodeSaid(spoken: Spoken, isFirst = false): Fields {
  const hasContent = spoken.content !== null && (spoken.content !== "" || isFirst);
  return { ...(hasContent ? { content: spoken.content } : {}), ...encodeReasoning(spoken) };
}

function encodeCalls(calls: readonly ToolCallOut[]): Fields {
  return calls.length > 0 ? { tool_calls: calls } : {};
}

function countBytes(spoken: Spoken, calls: readonly ToolCallOut[]): number {
  let bytes = Buffer.byteLength(spoken.content ?? "") + Buffer.byteLength(spoken.reasoning ?? "");
  for (const call of calls) bytes += Buffer.byteLength(textOf(call)) + nameOf(call).length;
  return bytes;
}
