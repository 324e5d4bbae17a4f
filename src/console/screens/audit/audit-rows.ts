/** What the audit screen shows of an entry. Pure functions. */
import type { AuditEntry } from "../../api/schema.ts";

/** Returns the entries that contain all words of a text in action, resource, account, key, user or fields. */
export function filterEntries(all: readonly AuditEntry[], typed: string): readonly AuditEntry[] {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  return all.filter(({ action, target, account_id, key_id, user_id, request_id, changes }) => {
    const parts = [action, target, account_id, key_id, user_id, request_id, JSON.stringify(changes)];
    const text = parts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Returns the action in short: the method and the path behind `/api/admin`; commands as they are. */
export function shortenAction(action: string): string {
  return action.replace(/^([A-Z]+) \/api\/admin\//, "$1 ");
}

/** Returns the page of the console about a resource; null if there is none. */
export function pageOf(target: string | null): string | null {
  if (target === null) return null;
  if (/^(gen|req)_/.test(target)) return `/console/requests/${target}`;
  if (/^(org|user|acct)_/.test(target)) return `/console/people/${target}`;
  if (target.startsWith("gateway-auto/")) return `/console/routing?tier=${encodeURIComponent(target)}`;
  return null;
}

/** Returns the names and values of the fields that were set in one line. */
export function printChanges(changes: Readonly<Record<string, unknown>>): string {
  return Object.entries(changes)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
