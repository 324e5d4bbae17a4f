import type { Stores } from "../../app/stores/stores.ts";
import type { AuditDraft } from "../../core/audit/records.ts";

/** Appends the changes of a command to the audit log. The entry has no key; its action is the name of the command. */
export async function auditCommand(
  { audit, clock }: Stores,
  change: Pick<AuditDraft, "action" | "accountId" | "target" | "changes">,
): Promise<void> {
  await audit.appendAudit({ ...change, at: clock.now(), keyId: null, userId: null, requestId: null });
}
