import type { Command } from "commander";
import { getAuditVerdict, listAudit } from "../../../http/routes/platform/admin-audit.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
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
    ["fields", "changes", (changes: unknown) => Object.keys(changes as object).join(" ")],
  ] as const;
  declareCommands(audit, [
    defineCommand({
      name: "list",
      endpoint: listAudit,
      rows: DEFAULT_LIMIT,
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
