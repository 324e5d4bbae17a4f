import type { Fields } from "../../../src/base/json/fields.ts";
import { encodeLatin1 } from "../../../src/base/json/scan.ts";

/** A vendor's answer with one feature: whole, and as a stream, bytes as Latin-1. */
export interface Vendor {
  /** Null if only streams have the feature. */
  readonly whole: Fields | null;
  readonly stream: string;
}

/** The answers of a format's vendor by the name of the feature. */
export type VendorSayings = Readonly<Record<string, Vendor>>;

/** Encodes events that have only data, as OpenAI's chat and Gemini send them. */
export function dataEvents(events: readonly (Fields | "[DONE]")[]): string {
  return encodeLatin1(
    events.map((event) => `data: ${event === "[DONE]" ? event : JSON.stringify(event)}\n\n`).join(""),
  );
}

/** Encodes events that are named after their `type`. */
export function typedEvents(events: readonly Fields[]): string {
  return encodeLatin1(
    events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
}
