import { asFields } from "../../../base/json/fields.ts";
import type { UsageRecord } from "../records/records.ts";
import type { EntryFrame, Journal, JournalPosition } from "./journal.ts";

/** A decoded journal entry, or the name of a kind that this version does not know. */
type JournalEntry =
  | { readonly kind: "usage"; readonly record: UsageRecord }
  | { readonly kind: "unknown"; readonly name: string };

const VERSION = 1;
const NAME_CHARS = 40;

/** The entry of a generation record: its JSON in this frame. Other kinds of entries may follow in later versions. */
export const USAGE_FRAME: EntryFrame = { start: `{"v":${VERSION},"kind":"usage","usage":`, end: "}" };

/** Decodes a journal entry of any version. */
export function decodeJournalEntry(text: string): JournalEntry {
  const envelope = asFields(parse(text));
  if (envelope === null) return { kind: "unknown", name: "not an object" };
  const { v, kind, usage } = envelope;
  const record = asFields(usage);
  if (v !== VERSION || kind !== "usage" || typeof record?.["id"] !== "string") {
    return { kind: "unknown", name: `${nameOf(kind)} v${nameOf(v)}` };
  }
  return { kind: "usage", record: record as unknown as UsageRecord };
}

/** Returns the record at a position of a journal; null if it is damaged. @throws Error if the journal cannot be read. */
export function readUsage(journal: Pick<Journal, "read">, at: JournalPosition): UsageRecord | null {
  const text = journal.read(at);
  const decoded = text === null ? null : decodeJournalEntry(text);
  return decoded?.kind === "usage" ? decoded.record : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns a short text for the log: entries of other versions may contain anything. */
function nameOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).slice(0, NAME_CHARS) : "?";
}
