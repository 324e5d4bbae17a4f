/** What the audit screen shows of an entry, and how its address is read. Pure functions. */
import { ACTIONS, type AuditKind } from "./audit-kinds.ts";

/** Returns the page of the console about a resource; null if there is none. */
export function pageOf(target: string | null): string | null {
  if (target === null) return null;
  if (/^(gen|req)_/.test(target)) return `/console/requests/${target}`;
  if (target.startsWith("key_") && target !== "key_operator") return `/console/keys/${target}`;
  if (target.startsWith("budget_")) return "/console/budgets";
  if (/^(org|user|acct)_/.test(target)) return `/console/people/${target}`;
  if (target.startsWith("gateway-auto/")) return `/console/routing?tier=${encodeURIComponent(target)}`;
  return null;
}

const DAY_MS = 86_400_000;

/** The ranges of time that end now, in days. */
export const RANGES = { "24h": 1, "7d": 7, "30d": 30, "365d": 365 } as const;

/** Returns the filters of the API for those of the address. Values that are not valid count as absent. */
export function toAuditQuery(
  query: Readonly<Record<string, string>>,
  now: number,
): Readonly<Record<string, string>> {
  const { last = "", kind = "", actor, target, account_id } = query;
  const days = Object.hasOwn(RANGES, last) ? RANGES[last as keyof typeof RANGES] : null;
  const actions = Object.hasOwn(ACTIONS, kind) ? ACTIONS[kind as AuditKind] : undefined;
  return {
    ...(days === null ? {} : { from: new Date(now - days * DAY_MS).toISOString() }),
    ...(actions === undefined ? {} : { action: actions.join(",") }),
    ...(actor ? { actor } : {}),
    ...(target ? { target } : {}),
    ...(account_id ? { account_id } : {}),
  };
}
