import { z } from "zod";
import { IdInput } from "../../core/accounts/resource-fields.ts";
import { presentEntry } from "../../core/audit/present-entry.ts";
import { describeVerdict, verifyAudit } from "../../core/audit/verify-audit.ts";
import { ACCOUNT_MANAGERS, listedAccountOf, OPERATOR } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../api/pages.ts";

const EntryView = z
  .object({
    place: z.number().int().describe("1 for the first entry, then one more each"),
    at: z.iso.datetime(),
    key_id: z.string().nullable().describe("The key that asked for it; null: the command"),
    user_id: z.string().nullable().describe("Whose key that is"),
    action: z.string().describe("Such as `PATCH /api/admin/users/:id` or `gateway users close`"),
    account_id: z.string().nullable().describe("The account that it concerns"),
    target: z.string().nullable().describe("The id of what was changed"),
    request_id: z.string().nullable(),
    changes: z.record(z.string(), z.unknown()).describe("The fields that were set; no secrets"),
    previous_hash: z.string().describe("The hash of the entry before"),
    hash: z.string().describe("SHA-256 over everything else in the entry, hex"),
  })
  .meta({ id: "AuditEntry", description: "A change: who did what, when" });

/** `GET /api/admin/audit`: who changed what, newest first. */
export const listAudit = defineEndpoint({
  method: "GET",
  path: "/api/admin/audit",
  tag: "Audit",
  summary: "Who changed what, newest first",
  access: ACCOUNT_MANAGERS,
  params: NOTHING,
  query: z.strictObject({
    ...PAGE_QUERY,
    after: z.coerce.number().int().min(1).optional().describe("`next` of the page before"),
    account_id: IdInput.optional().describe("Of one account alone"),
  }),
  body: NOTHING,
  response: pageView(EntryView),
  handle({ principal, query, deps }) {
    const accountId = listedAccountOf(principal, query.account_id);
    return makePage({
      limit: query.limit,
      load: (limit) => deps.audit.listAudit(accountId, query.after ?? Number.MAX_SAFE_INTEGER, limit),
      describe: presentEntry,
      cursorOf: ({ place }) => String(place),
    });
  },
});

/** `GET /api/admin/audit/verify`: whether the log is as it was written. */
export const getAuditVerdict = defineEndpoint({
  method: "GET",
  path: "/api/admin/audit/verify",
  tag: "Audit",
  summary: "Whether the audit log is as it was written, and where it is not",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: NOTHING,
  response: z.object({
    data: z.object({
      holds: z.boolean().describe("Every entry is as it was written"),
      entries: z.number().int().describe("Entries that hold: all, or those before the break"),
      last_hash: z
        .string()
        .describe(
          "The hash of the last of them: note it elsewhere, and you can tell that the end was not cut off",
        ),
      broken_at: z.number().int().nullable().describe("The place of the first entry that does not hold"),
      problem: z.string().nullable(),
    }),
  }),
  async handle({ deps }) {
    return { data: describeVerdict(await verifyAudit(deps.audit)) };
  },
});
