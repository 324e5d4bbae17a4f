import type { Fields } from "../../../src/wire/json/fields.ts";
import { encodeLatin1 } from "../../../src/wire/json/scan.ts";

/** What a vendor says for one feature: whole, and as a stream, bytes read as Latin-1. */
export interface Vendor {
  /** Null where the feature is one of streams. */
  readonly whole: Fields | null;
  readonly stream: string;
}

/** Everything that a format's vendor can say, by the feature's name. */
export type VendorSayings = Readonly<Record<string, Vendor>>;

/** Events of data alone, as OpenAI's chat and Gemini send them. */
export function dataEvents(events: readonly (Fields | "[DONE]")[]): string {
  return encodeLatin1(
    events.map((event) => `data: ${event === "[DONE]" ? event : JSON.stringify(event)}\n\n`).join(""),
  );
}

/** Events named for their `type`. */
export function typedEvents(events: readonly Fields[]): string {
  return encodeLatin1(
    events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
}
