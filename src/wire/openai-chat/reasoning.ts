import { asFields, asText, type Fields } from "../../base/json/fields.ts";
import type { ReasoningPart } from "../canonical/model/parts.ts";

/** The text and the reasoning of a delta or message. Vendors spell them differently. */
export interface DeltaText {
  /** Null where the field is absent or null. */
  readonly content: string | null;
  readonly reasoning: string | null;
  /** `reasoning_details` as the vendor gave them. */
  readonly details: readonly unknown[] | null;
}

/** Reads `content` (text or parts), `reasoning_content`, `reasoning` and `reasoning_details`. */
export function readDeltaText(source: Fields): DeltaText {
  const parts = Array.isArray(source["content"]) ? readParts(source["content"]) : null;
  const content = parts ? parts.content : asText(source["content"]);
  const reasoning =
    asText(source["reasoning_content"]) ?? asText(source["reasoning"]) ?? parts?.reasoning ?? null;
  const details = Array.isArray(source["reasoning_details"]) ? source["reasoning_details"] : null;
  return { content, reasoning: reasoning === "" ? null : reasoning, details };
}

/** Encodes reasoning in the three spellings that clients read; no client shows it twice (docs/api/chat.md, "Reasoning"). */
export function encodeReasoning({ reasoning, details }: DeltaText): Fields {
  if (reasoning === null) return details === null ? {} : { reasoning_details: details };
  return {
    reasoning,
    reasoning_content: reasoning,
    reasoning_details: details ?? [{ type: "reasoning.text", text: reasoning, format: "unknown", index: 0 }],
  };
}

/**
 * Returns whether a message has content, such as media, in a field that is not in `known`. Empty values and numbers do not count.
 */
export function hasOtherContent(fields: Fields, known: ReadonlySet<string> = NO_FIELDS): boolean {
  for (const name in fields) {
    if (known.has(name)) continue;
    const value = fields[name];
    if (typeof value === "object" && value !== null ? Object.keys(value).length > 0 : asText(value))
      return true;
  }
  return false;
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Separates the parts of a reasoning summary in the joined text. Each part is a paragraph, usually with a title. */
export const SUMMARY_BREAK = "\n\n";

/** Joins reasoning parts into the single string that this format has for them. */
export function joinReasoning(parts: readonly Pick<ReasoningPart, "text" | "isSummary">[]): string {
  let joined = "";
  let followsSummary = false;
  for (const { text, isSummary } of parts) {
    if (text === "") continue;
    joined += followsSummary && isSummary ? SUMMARY_BREAK + text : text;
    followsSummary = isSummary;
  }
  return joined;
}

/** Reads Mistral's content parts: `thinking` parts contain reasoning, `text` parts the answer. */
function readParts(parts: readonly unknown[]): { content: string | null; reasoning: string | null } {
  let content = "";
  let reasoning = "";
  for (const part of parts) {
    const fields = asFields(part);
    if (fields?.["type"] === "thinking") reasoning += joinTexts(fields["thinking"]);
    else content += asText(fields?.["text"]) ?? "";
  }
  return { content: content === "" ? null : content, reasoning: reasoning === "" ? null : reasoning };
}

/** Returns the text of Mistral's `thinking`, which is a string or a list of text parts. */
export function joinTexts(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  if (!Array.isArray(thinking)) return "";
  return thinking.map((part) => asText(asFields(part)?.["text"]) ?? "").join("");
}
