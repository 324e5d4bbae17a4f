import type { Command } from "commander";
import { getAuditVerdict, listAudit } from "../../../http/routes/platform/admin-audit.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { rangeOptions } from "../../endpoint/range-options.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { tableOf } from "../../render/columns.ts";

/** `gateway audit list|verify`: administrative changes, and the integrity of their log. */
export function declareAuditCommands(audit: Command): void {
  const columns = [
    ["number", "place"],
    ["time", "at"],
    ["by", "key_id", (id: unknown) => String(id ?? "command")],
    ["what", "action"],
    ["of", "target"],
    ["change", "changes", printChanges],
  ] as const;
  declareCommands(audit, [
    defineCommand({
      name: "list",
      endpoint: listAudit,
      rows: DEFAULT_LIMIT,
      options: rangeOptions("changes"),
      examples: [
        "gateway audit list --account Acme --from 2026-11-23",
        "gateway audit list --actor command",
        "gateway audit list --target key_01jz2b3c4d5e6f7g8h9j0k1m2n",
      ],
      show: tableOf(columns, "No entries."),
    }),
    defineCommand({
      name: "verify",
      description: "Verify the hash chain of the log. Exits with 1 if it is broken",
      endpoint: getAuditVerdict,
      namesDatabase: true,
      hasFailed: ({ data }) => !data.holds,
      show: ({ data: { holds, entries, last_hash, broken_at, problem } }) =>
        holds
          ? `All ${entries} entries are intact. Hash of the last entry: ${last_hash}.`
          : `Entry ${broken_at} is not intact: ${problem}. The ${entries} entries before it are.`,
    }),
  ]);
}

type Fields = Readonly<Record<string, unknown>>;

/** Prints the fields that a change has set: `spend_limit 20 → 50`, or the names of those whose former values are not known. */
function printChanges(changes: unknown): string {
  const { before, after } = changes as { readonly before?: Fields | null; readonly after?: Fields | null };
  if (before === undefined || after === undefined) return Object.keys(changes as Fields).join(" ");
  const names = Object.keys(after ?? before ?? {});
  if (before === null || after === null) return names.join(" ");
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name} ${printValue(before[name])} → ${printValue(after[name])}`)
    .join(", ");
}

function printValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "none");
}
