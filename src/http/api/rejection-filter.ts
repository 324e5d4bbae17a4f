import { z } from "zod";
import { IdInput } from "../../core/accounts/fields/resource-fields.ts";
import type { ManagementPrincipal } from "../../core/accounts/records/principal.ts";
import { CLIENT_FAMILIES } from "../../core/usage/clients/client-family.ts";
import type { RejectionFilter } from "../../core/usage/rejections/rejection-store.ts";
import { listedAccountOf, listedOwnersOf, READABLE_TEAM } from "./access.ts";
import { readRange, TIME_RANGE } from "./time-range.ts";

/** The query of a filter of rejected requests. */
export const REJECTION_FILTER = {
  from: TIME_RANGE.from.describe("Only requests at or after this time (RFC 3339)."),
  to: TIME_RANGE.to.describe("Only requests before this time (RFC 3339)."),
  account_id: IdInput.optional().describe("Only requests of this account."),
  key_id: IdInput.optional().describe("Only requests with this API key."),
  user_id: IdInput.optional().describe("Only requests of this user's keys."),
  team_id: IdInput.optional().describe(`Only requests of this team's keys. ${READABLE_TEAM}`),
  key_fingerprint: z
    .string()
    .regex(/^kf_[0-9a-f]{16}$/, "must be the key_fingerprint of a rejected request")
    .optional()
    .describe("Only requests with the unknown key of this fingerprint."),
  error_type: z.string().min(1).max(200).optional().describe("Only requests with this `error_type`."),
  status: z.coerce
    .number()
    .int()
    .min(400)
    .max(599)
    .optional()
    .describe("Only requests with this HTTP status."),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Only requests for this model, as the client sent it."),
  client: z.enum(CLIENT_FAMILIES).optional().describe("Only requests of this family of clients."),
};

const schema = z.object(REJECTION_FILTER);

/**
 * Returns the filter of a query, restricted to what the principal may see.
 * @throws GatewayError `not_found` for an account, a user or a team that the principal may not read; `invalid_request` for times in the wrong order.
 */
export function readRejectionFilter(
  query: z.infer<typeof schema>,
  principal: ManagementPrincipal,
): RejectionFilter {
  return {
    ...readRange(query),
    accountId: listedAccountOf(principal, query.account_id),
    ...listedOwnersOf(principal, query),
    keyId: query.key_id ?? null,
    keyFingerprint: query.key_fingerprint ?? null,
    code: query.error_type ?? null,
    status: query.status ?? null,
    model: query.model ?? null,
    client: query.client ?? null,
  };
}
