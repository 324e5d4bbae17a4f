import type { Command } from "commander";
import type { Stores } from "../../app/stores.ts";
import { presentEntry } from "../../core/audit/present-entry.ts";
import { presentVerdict, verifyAudit } from "../../core/audit/verify-audit.ts";
import { tellDatabase } from "../callers/command-stores.ts";
import { withStores } from "../callers/with-stores.ts";
import { resolveScope } from "../endpoint/named-resources.ts";
import { addJsonOption, DEFAULT_LIMIT, type JsonOption, readLimit } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatTable } from "../render/format-table.ts";
import { printTime } from "../render/print-values.ts";

interface ListOptions extends JsonOption {
  readonly account?: string;
  readonly limit: number;
}

/** `gateway audit list|verify`: administrative changes, and the integrity of their log. */
export function declareAuditCommands(audit: Command): void {
  addJsonOption(
    audit
      .command("list")
      .description("List audit log entries, newest first")
      .option("--account <account>", "Only entries of this account")
      .option("--limit <number>", "Maximum number of rows", readLimit, DEFAULT_LIMIT),
  ).action((options: ListOptions) => withStores((stores) => list(stores, options)));
  addJsonOption(
    audit.command("verify").description("Verify the hash chain of the log; exits with 1 if it is broken"),
  ).action((options: JsonOption) => withStores((stores) => verify(stores, options)));
}

async function list(stores: Stores, { account, limit, json }: ListOptions): Promise<string> {
  const { accountId } = await resolveScope(stores, { account });
  const entries = await stores.audit.listAudit(accountId, Number.MAX_SAFE_INTEGER, limit);
  if (json) return JSON.stringify({ data: entries.map(presentEntry) });
  if (entries.length === 0) return "No entries.";
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

async function verify(stores: Stores, { json }: JsonOption): Promise<string> {
  if (!json) tellDatabase(stores);
  const verdict = await verifyAudit(stores.audit);
  const { entries, lastHash, flaw } = verdict;
  if (flaw !== null) process.exitCode = EXIT_CODES.failed;
  if (json) return JSON.stringify({ data: presentVerdict(verdict) });
  return flaw === null
    ? `All ${entries} entries are intact. Hash of the last entry: ${lastHash}.`
    : `Entry ${flaw.place} is not intact: ${flaw.problem}. The ${entries} entries before it are.`;
}
