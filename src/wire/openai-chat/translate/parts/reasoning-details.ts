import { asFields, asText, type Fields } from "../../../../base/json/fields.ts";
import type { ReasoningPart } from "../../../canonical/model/parts.ts";
import { keepExtras, keptSpelling } from "./extras.ts";

/** The `format` of reasoning whose origin is unknown. */
const UNKNOWN_FORMAT = "unknown";

/** Decodes an entry of `reasoning_details` of a message or delta. `pieces` are the entries it was joined from. */
export function decodeDetail(raw: Fields, pieces: readonly Fields[] = [raw]): ReasoningPart {
  const type = asText(raw["type"]);
  const format = asText(raw["format"]);
  return {
    kind: "reasoning",
    text: asText(raw["text"]) ?? asText(raw["summary"]) ?? "",
    isSummary: type === "reasoning.summary",
    signature: asText(raw["signature"]),
    encrypted: asText(raw["data"]),
    id: asText(raw["id"]),
    origin: format === UNKNOWN_FORMAT ? null : format,
    ...keepExtras({}, { detail: raw, ...(pieces.length > 1 ? { pieces } : {}) }),
  };
}

/**
 * Encodes a part as entries of `reasoning_details`, the first at `index`. A part that came in this format is returned as it came.
 */
export function encodeDetails(part: ReasoningPart, index: number): Fields[] {
  const { detail, pieces } = keptSpelling(part);
  const raw = asFields(detail);
  if (raw !== null && isSame(decodeDetail(raw), part)) return Array.isArray(pieces) ? pieces : [raw];
  const { text, signature, encrypted } = part;
  const details: Fields[] = [];
  if (text !== "" || signature !== null || encrypted === null) {
    details.push({ ...encodeText(part), ...commonFields(part, index) });
  }
  if (encrypted !== null) {
    details.push({
      type: "reasoning.encrypted",
      data: encrypted,
      ...commonFields(part, index + details.length),
    });
  }
  return details;
}

function encodeText({ isSummary, text, signature }: ReasoningPart): Fields {
  const fields = isSummary ? { type: "reasoning.summary", summary: text } : { type: "reasoning.text", text };
  return signature === null ? fields : { ...fields, signature };
}

function commonFields({ id, origin }: ReasoningPart, index: number): Fields {
  return { ...(id === null ? {} : { id }), format: origin ?? UNKNOWN_FORMAT, index };
}

function isSame(a: ReasoningPart, b: ReasoningPart): boolean {
  return (
    a.text === b.text &&
    a.isSummary === b.isSummary &&
    a.signature === b.signature &&
    a.encrypted === b.encrypted &&
    a.id === b.id &&
    a.origin === b.origin
  );
}
