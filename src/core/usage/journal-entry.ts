import { asFields } from "../../wire/json/fields.ts";
import type { RecordEntry, UsageRecord } from "./records.ts";

/** An entry of the journal: what it holds, or the name of a kind that this version does not know. */
export type JournalEntry =
  | { readonly kind: "usage"; readonly entry: RecordEntry }
  | { readonly kind: "unknown"; readonly name: string };

const VERSION = 1;
const NAME_CHARS = 40;

/** A usage record, printed already, as an entry of the journal. Other kinds of entries may stand beside it. */
export function encodeUsageEntry(json: string): string {
  return `{"v":${VERSION},"kind":"usage","usage":${json}}`;
}

/** Reads an entry of the journal, whichever version wrote it. */
export function decodeJournalEntry(text: string): JournalEntry {
  const envelope = asFields(parse(text));
  if (envelope === null) return { kind: "unknown", name: "not an object" };
  const { v, kind, usage } = envelope;
  const record = asFields(usage);
  if (v !== VERSION || kind !== "usage" || typeof record?.["id"] !== "string") {
    return { kind: "unknown", name: `${nameOf(kind)} v${nameOf(v)}` };
  }
  return {
    kind: "usage",
    entry: { record: record as unknown as UsageRecord, json: JSON.stringify(record) },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Of what another version wrote nothing but a short word goes to the log. */
function nameOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).slice(0, NAME_CHARS) : "?";
}
