import { z } from "zod";
import { describeEntry } from "../../core/audit/describe-entry.ts";
import { verifyAudit } from "../../core/audit/verify-audit.ts";
import { IdField } from "../api/account-fields.ts";
import { MANAGING, OPERATOR, requireOwnAccount } from "../api/api-caller.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../api/pages.ts";

const EntryView = z.object({
  place: z.number().int(),
  at: z.iso.datetime(),
  key_id: z.string().nullable(),
  user_id: z.string().nullable(),
  action: z.string(),
  account_id: z.string().nullable(),
  target: z.string().nullable(),
  request_id: z.string().nullable(),
  changes: z.record(z.string(), z.unknown()),
  previous_hash: z.string(),
  hash: z.string(),
});

/** `GET /api/admin/audit`: who changed what, newest first. */
export const listAudit = defineEndpoint({
  method: "GET",
  path: "/api/admin/audit",
  tag: "Audit",
  summary: "Who changed what, newest first",
  access: MANAGING,
  params: NOTHING,
  query: z.strictObject({
    ...PAGE_QUERY,
    after: z.coerce.number().int().min(1).optional(),
    account_id: IdField.optional(),
  }),
  body: NOTHING,
  response: pageView(EntryView),
  handle({ caller, query, deps }) {
    const asked = query.account_id ?? caller.accountId;
    const accountId = asked === null ? null : requireOwnAccount(caller, asked);
    return makePage({
      limit: query.limit,
      load: (limit) => deps.audit.listAudit(accountId, query.after ?? Number.MAX_SAFE_INTEGER, limit),
      describe: describeEntry,
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
      holds: z.boolean(),
      entries: z.number().int(),
      last_hash: z.string(),
      broken_at: z.number().int().nullable(),
      problem: z.string().nullable(),
    }),
  }),
  async handle({ deps }) {
    const { entries, lastHash, flaw } = await verifyAudit(deps.audit);
    return {
      data: {
        holds: flaw === null,
        entries,
        last_hash: lastHash,
        broken_at: flaw?.place ?? null,
        problem: flaw?.problem ?? null,
      },
    };
  },
});
