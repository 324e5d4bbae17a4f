import type { Stores } from "../app/wire-up.ts";
import type { AuditDraft } from "../core/audit/records.ts";

/** Writes what a command has changed to the audit log: by nobody's key, under the command's name. */
export async function auditCommand(
  { audit, clock }: Stores,
  change: Pick<AuditDraft, "action" | "accountId" | "target" | "changes">,
): Promise<void> {
  await audit.appendAudit({ ...change, at: clock.now(), keyId: null, userId: null, requestId: null });
}
