import type { KeyTrouble } from "./key-cooldowns.ts";

/** A message of a gateway to the others about a vendor, valid for a short time. */
export type HealthHint =
  /** A circuit has opened: of a model's endpoint, or of a provider if `model` is null. */
  | {
      readonly kind: "circuit";
      readonly provider: string;
      readonly model: string | null;
      readonly forMs: number;
    }
  /** A provider key cools down: for a model, or for all if `model` is null. */
  | {
      readonly kind: "key";
      readonly keyLabel: string;
      readonly model: string | null;
      readonly why: KeyTrouble;
      readonly forMs: number;
    };

/** The longest that a hint holds. Milliseconds. */
const MAX_HINT_MS = { circuit: 10_000, key: 60_000 } as const;
/** Longer messages are not read. */
const MAX_CHARS = 1_000;
const TROUBLES: readonly unknown[] = ["key_refused", "out_of_credit", "rate_limited"] satisfies KeyTrouble[];

/** Formats a hint as a message of one gateway. */
export function formatHint(from: string, hint: HealthHint): string {
  return JSON.stringify({ from, ...hint });
}

/**
 * Parses a message. Returns null for a message of this gateway, and for an unknown one, which a gateway of another version may have sent.
 * The time is limited.
 */
export function parseHint(text: string, ownId: string): HealthHint | null {
  const fields = text.length > MAX_CHARS ? null : readObject(text);
  if (fields === null || fields["from"] === ownId) return null;
  const { kind, provider, model = null, keyLabel, why, forMs } = fields;
  if ((typeof model !== "string" && model !== null) || typeof forMs !== "number" || !(forMs > 0)) return null;
  if (kind === "circuit" && typeof provider === "string")
    return { kind, provider, model, forMs: Math.min(forMs, MAX_HINT_MS.circuit) };
  if (kind === "key" && typeof keyLabel === "string" && TROUBLES.includes(why))
    return { kind, keyLabel, model, why: why as KeyTrouble, forMs: Math.min(forMs, MAX_HINT_MS.key) };
  return null;
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
