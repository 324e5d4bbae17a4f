import type { Fields } from "../../../base/json/fields.ts";
import { isEmpty } from "../../../base/json/fields.ts";
import type { ChunkDelta } from "../read-chunk.ts";
import { type DeltaText, encodeReasoning, hasOtherContent } from "../reasoning.ts";
import type { ToolCallTracker } from "../tool-call-tracker.ts";
import { nameOf, type ToolCallOut, textOf } from "../tool-calls.ts";

/** The client's version of a vendor's delta. */
interface RelayedDelta {
  /** The client's delta; null if there is nothing to send. */
  readonly delta: Fields | null;
  /** Whether it has any content for a person or an agent. */
  readonly hasContent: boolean;
  /** Bytes of text in it. */
  readonly bytes: number;
}

/** Corrects a vendor's delta. `isFirst`: it is the first of its choice, which names the role. */
export function relayDelta(tools: ToolCallTracker, delta: ChunkDelta, isFirst: boolean): RelayedDelta {
  const { content, reasoning, details, refusal } = delta;
  const calls = delta.calls.length === 0 ? [] : tools.step(delta.calls);
  const others = refusal === "" ? delta.others : { ...delta.others, refusal };
  const hasText = (content ?? "") !== "" || reasoning !== null || calls.length > 0;
  const hasContent = hasText || hasOtherContent(others);
  const isNothing = !hasContent && !isFirst && !details?.length && isEmpty(others);
  return {
    delta: isNothing
      ? null
      : {
          ...(isFirst ? { role: "assistant" } : {}),
          ...encodeText(delta, isFirst),
          ...encodeCalls(calls),
          ...others,
        },
    hasContent,
    bytes: countBytes(delta, calls),
  };
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
