import { asFields, type Fields, omit } from "../../../../base/json/fields.ts";
import type { Part, ReasoningPart } from "../../../canonical/model/parts.ts";
import { unwrapReasoning, wrapReasoning } from "../../../canonical/model/reasoning-envelope.ts";
import { OPENAI_START, originOfItem } from "../../reasoning-origin.ts";
import { markSpelling, readSpelling } from "./extras.ts";

const KNOWN = new Set(["id", "type", "summary", "content", "encrypted_content"]);

/**
 * Decodes a reasoning item: one part for each summary and text, one for the encrypted content, all with the item's id. Null if it
 * is empty or of an unknown form.
 */
export function decodeReasoning(item: Fields): ReasoningPart[] | null {
  const { summary, content, encrypted_content: encrypted } = item;
  const id = readText(item["id"]);
  const carried = typeof encrypted === "string" ? unwrapReasoning(encrypted) : null;
  if (carried !== null) return [{ kind: "reasoning", text: joinTexts(summary), ...carried }];
  const summaries = readTexts(summary, "summary_text");
  const contents = readTexts(content, "reasoning_text");
  if (summaries === null || contents === null) return null;
  const parts = [
    ...summaries.map((entry) => decodeText(entry, id, true)),
    ...contents.map((entry) => decodeText(entry, id, false)),
  ];
  if (typeof encrypted === "string" && encrypted !== "") parts.push(makeEncrypted(encrypted, id));
  return parts.length === 0 ? null : markItem(parts, restOfReasoning(item));
}

/** Returns the fields of a reasoning item that its parts do not have. */
export function restOfReasoning(item: Fields): Fields {
  const rest = omit(item, KNOWN);
  const { content, encrypted_content: encrypted } = item;
  if (content === null || (Array.isArray(content) && content.length === 0)) rest["content"] = content;
  if (encrypted === null || encrypted === "") rest["encrypted_content"] = encrypted;
  return rest;
}

/** Returns the part of a reasoning item that only its vendor can read. */
export function makeEncrypted(encrypted: string, id: string | null): ReasoningPart {
  const origin = originOfItem(id, encrypted.startsWith(OPENAI_START));
  return { kind: "reasoning", text: "", isSummary: false, signature: null, encrypted, id, origin };
}

function decodeText(entry: Fields, id: string | null, isSummary: boolean): ReasoningPart {
  return {
    kind: "reasoning",
    text: String(entry["text"]),
    isSummary,
    signature: null,
    encrypted: null,
    id,
    origin: null,
    extras: markSpelling({ part: omit(entry, new Set(["text"])) }),
  };
}

/** Attaches the other fields of an item to its first part, and marks the others as its continuation. */
export function markItem<P extends Part>(parts: readonly P[], item: Fields): P[] {
  return parts.map((part, index) => markPosition(part, index === 0 ? item : null));
}

/** Marks a part as the first of its item, which keeps the item's other fields, or (with null) as a continuation. */
export function markPosition<P extends Part>(part: P, item: Fields | null): P {
  const position = item === null ? { continues: true as const } : { item };
  return { ...part, extras: markSpelling({ ...readSpelling(part), ...position }) };
}

function readTexts(list: unknown, type: string): Fields[] | null {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return null;
  const entries = list.map(asFields);
  const isKnown = entries.every((entry) => entry?.["type"] === type && typeof entry["text"] === "string");
  return isKnown ? (entries as Fields[]) : null;
}

function joinTexts(list: unknown): string {
  return (readTexts(list, "summary_text") ?? []).map((entry) => entry["text"]).join("");
}

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Returns the first value of the parts of an item that is not null. */
export function pickFirst<K extends "id" | "origin" | "signature" | "encrypted">(
  parts: readonly ReasoningPart[],
  key: K,
): string | null {
  return parts.find((part) => part[key] !== null)?.[key] ?? null;
}

/** Returns whether the item is this format's own: encrypted by one of its vendors, or written in it without encryption. */
export function isOwnReasoning(parts: readonly ReasoningPart[]): boolean {
  const origin = pickFirst(parts, "origin");
  if (pickFirst(parts, "signature") !== null) return false;
  const encrypted = pickFirst(parts, "encrypted");
  if (encrypted === null) {
    return origin === null && parts.some((part) => readSpelling(part) !== null);
  }
  return origin === originOfItem(pickFirst(parts, "id"), encrypted.startsWith(OPENAI_START));
}

/** Encodes parts as the reasoning item of this format that they were, or could have been. */
export function encodeReasoning(parts: readonly ReasoningPart[]): Record<string, unknown> {
  const id = pickFirst(parts, "id");
  const encrypted = pickFirst(parts, "encrypted");
  const isOwn = parts.some((part) => readSpelling(part) !== null);
  const isContent = (part: ReasoningPart) => isOwn && !part.isSummary && part.text !== "";
  const contents = parts.filter(isContent);
  const summaries = parts.filter((part) => !isContent(part) && (part.isSummary || part.text !== ""));
  return {
    type: "reasoning",
    ...findItemRest(parts),
    ...(id === null ? {} : { id }),
    summary: summaries.map((part) => encodeText(part, "summary_text")),
    ...(contents.length > 0 ? { content: contents.map((part) => encodeText(part, "reasoning_text")) } : {}),
    ...(encrypted === null ? {} : { encrypted_content: encrypted }),
  };
}

/** Returns the item's fields that its first part keeps. */
export function findItemRest(parts: readonly Part[]): Fields | undefined {
  for (const part of parts) {
    const item = readSpelling(part)?.item;
    if (item !== undefined) return item;
  }
  return undefined;
}

function encodeText(part: ReasoningPart, type: string): Fields {
  return { ...(readSpelling(part)?.part ?? { type }), text: part.text };
}

/**
 * Encodes another vendor's reasoning as an item that clients display and send back: its text is in the summary, and what its
 * vendor needs back in `encrypted_content`.
 */
export function encodeForeignReasoning(parts: readonly ReasoningPart[]): Record<string, unknown> {
  const texts = parts.filter((part) => part.text !== "");
  const encrypted = wrapReasoning({
    signature: pickFirst(parts, "signature"),
    encrypted: pickFirst(parts, "encrypted"),
    id: pickFirst(parts, "id"),
    origin: pickFirst(parts, "origin"),
    isSummary: parts.some((part) => part.isSummary),
  });
  const summary = texts.map((part) => ({ type: "summary_text", text: part.text }));
  return { type: "reasoning", summary, encrypted_content: encrypted };
}
