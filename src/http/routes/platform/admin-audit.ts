import { z } from "zod";
import { formatTime } from "../../../base/time/time.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import type { AuditEntry } from "../../../core/audit/records.ts";
import { presentVerdict, verifyAudit } from "../../../core/audit/verify-audit.ts";
import { ACCOUNT_MANAGERS, listedAccountOf, OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";

const AuditEntryView = z
  .object({
    place: z.number().int().describe("Position of the entry in the log, from 1."),
    at: z.iso.datetime(),
    key_id: z
      .string()
      .nullable()
      .describe("Id of the key that made the change. `null` means a command of the operator."),
    user_id: z
      .string()
      .nullable()
      .describe("Id of the key's user. `null` for the operator and for service keys."),
    action: z
      .string()
      .describe("The request or command, such as `PATCH /api/admin/users/:id` or `gateway users close`."),
    account_id: z
      .string()
      .nullable()
      .describe("Id of the account that the change is about. `null` means the gateway as a whole."),
    target: z.string().nullable().describe("Id of the changed resource."),
    request_id: z.string().nullable(),
    changes: z
      .record(z.string(), z.unknown())
      .describe("The fields that were set, with their values. Contains no secrets."),
    previous_hash: z.string().describe("Hash of the previous entry."),
    hash: z.string().describe("SHA-256 of all other fields of the entry, in hex."),
  })
  .meta({ id: "AuditEntry", description: "An entry of the audit log: a change and who made it." });

/** `GET /api/admin/audit`: the entries of the audit log, newest first. */
export const listAudit = defineEndpoint({
  method: "GET",
  path: "/api/admin/audit",
  tag: "Audit",
  summary: "List the entries of the audit log, newest first",
  access: ACCOUNT_MANAGERS,
  query: z.strictObject({
    ...PAGE_QUERY,
    after: z.coerce.number().int().min(1).optional().describe("The `next` of the previous page."),
    account_id: IdInput.optional().describe("Only entries about this account."),
  }),
  response: pageView(AuditEntryView),
  handle({ principal, query, deps }) {
    const accountId = listedAccountOf(principal, query.account_id);
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.resources.audit.listAudit(accountId, query.after ?? Number.MAX_SAFE_INTEGER, limit),
      present: (entries) => entries.map(presentEntry),
      cursorOf: ({ place }) => String(place),
    });
  },
});

/** `GET /api/admin/audit/verify`: whether the hash chain of the log is intact. */
export const getAuditVerdict = defineEndpoint({
  method: "GET",
  path: "/api/admin/audit/verify",
  tag: "Audit",
  summary: "Verify the hash chain of the audit log",
  access: OPERATOR,
  response: z.object({
    data: z.object({
      holds: z.boolean().describe("Whether all entries are unchanged."),
      entries: z
        .number()
        .int()
        .describe("Number of valid entries: all of them, or those before the first invalid one."),
      last_hash: z
        .string()
        .describe(
          "Hash of the last valid entry. Store it elsewhere, to detect later whether the end of the log was removed.",
        ),
      broken_at: z
        .number()
        .int()
        .nullable()
        .describe("Position of the first invalid entry. `null` means there is none."),
      problem: z.string().nullable().describe("What is wrong with the first invalid entry."),
    }),
  }),
  async handle({ deps }) {
    return { data: presentVerdict(await verifyAudit(deps.resources.audit)) };
  },
});

/** Returns an entry as the management API and the command show it. */
function presentEntry(entry: AuditEntry): Record<string, unknown> {
  return {
    place: entry.place,
    at: formatTime(entry.at),
    key_id: entry.keyId,
    user_id: entry.userId,
    action: entry.action,
    account_id: entry.accountId,
    target: entry.target,
    request_id: entry.requestId,
    changes: entry.changes,
    previous_hash: entry.previousHash,
    hash: entry.hash,
  };
}
