import { tableOf } from "../../render/columns.ts";

/**
 * Formats changes of settings. `moment` says when those take effect that need no restart.
 */
export function showChanges(changes: readonly object[], moment: string): string {
  return tableOf(
    [
      ["setting", "name"],
      ["before", "before", (value, change) => printValue(value, change["is_secret"] === true)],
      ["after", "after", (value, change) => printAfter(value, change["is_secret"] === true)],
      ["takes effect", "needs_restart", (waits) => (waits === true ? "after a restart" : moment)],
    ],
    "The configuration has not changed.",
  )({ data: changes });
}

function printValue(value: unknown, isSecret: boolean): string {
  if (value === null) return "–";
  return isSecret ? "a secret" : JSON.stringify(value);
}

function printAfter(value: unknown, isSecret: boolean): string {
  return isSecret ? `${printValue(value, true)} (changed)` : printValue(value, false);
}
