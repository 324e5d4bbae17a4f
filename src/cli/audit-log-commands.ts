import type { Command } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { presentEntry } from "../core/audit/present-entry.ts";
import { describeVerdict, verifyAudit } from "../core/audit/verify-audit.ts";
import { formatTable } from "./format-table.ts";
import { printTime } from "./print-values.ts";
import { readLimit, USUAL_LIMIT } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

interface ListOptions {
  readonly account?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `gateway audit list|verify`: who changed what, and whether the log is as it was written. */
export function addAuditCommands(program: Command): void {
  const audit = program.command("audit").description("look at the audit log, and verify it");
  audit
    .command("list")
    .description("who changed what, newest first")
    .option("--account <id>", "of one account alone")
    .option("--limit <number>", "how many at most", readLimit, USUAL_LIMIT)
    .option("--json", "print JSON")
    .action((options: ListOptions) => withStores((stores) => list(stores, options)));
  audit
    .command("verify")
    .description("follow the chain from its first entry; fails where it breaks")
    .option("--json", "print JSON")
    .action((options: { readonly json?: boolean }) => withStores((stores) => verify(stores, options)));
}

async function list({ audit }: Stores, { account, limit, json }: ListOptions): Promise<string> {
  const entries = await audit.listAudit(account ?? null, Number.MAX_SAFE_INTEGER, limit);
  if (json) return JSON.stringify({ data: entries.map(presentEntry) });
  if (entries.length === 0) return "Nothing was changed yet.";
  const rows = entries.map(({ place, at, keyId, action, target, changes }) => [
    String(place),
    printTime(at),
    keyId ?? "command",
    action,
    target ?? "",
    Object.keys(changes).join(" "),
  ]);
  return formatTable(["number", "time", "by", "what", "of", "fields"], rows);
}

async function verify({ audit }: Stores, { json }: { readonly json?: boolean }): Promise<string> {
  const verdict = await verifyAudit(audit);
  const { entries, lastHash, flaw } = verdict;
  if (flaw !== null) process.exitCode = 1;
  if (json) return JSON.stringify({ data: describeVerdict(verdict) });
  return flaw === null
    ? `All ${entries} entries are as they were written. The last has the hash ${lastHash}.`
    : `Entry ${flaw.place} does not hold: ${flaw.problem}. The ${entries} before it do.`;
}
