import { z } from "zod";
import { CLIENT_FAMILIES } from "../../core/usage/clients/client-family.ts";
import { REJECTED } from "../../core/usage/rejections/rejection.ts";

const text = z.string().nullable();

/** A rejected request (`presentRejection`). */
export const RejectionView = z
  .object({
    id: z.string().describe("Id of the request, as in the response header `x-request-id`."),
    created_at: z.iso.datetime(),
    account_id: text,
    account_name: text,
    key_id: text.describe(
      "API key of the request, also if it is revoked or expired. `null` without a known key.",
    ),
    key_name: text,
    user_id: text,
    user_name: text,
    team_id: text.describe("Team of the key. `null` for a key without a team."),
    team_name: text,
    key_fingerprint: text.describe(
      "Keyed hash of a key that the gateway does not know: equal for equal keys.",
    ),
    address_hash: text.describe("Keyed hash of the client's address."),
    api: text.describe("Client API, such as `chat.completions`. `null` for a path or method that none has."),
    method: text,
    path: text,
    requested_model: text.describe("The model as the client sent it."),
    outcome: z.literal(REJECTED),
    status: z.int(),
    error_type: z.string(),
    message: text.describe("What the client was told. `null` under zero data retention."),
    advice: z.string().describe("What to do about it."),
    field: text.describe("Field of the request that is at fault."),
    limit_source: text.describe("Scope of the limit that was reached, such as `key` or `account`."),
    limit_kind: text,
    limit: z.int().nullable(),
    budget_id: text,
    client: z.enum(CLIENT_FAMILIES).nullable().describe("Family of the client, by its `User-Agent`."),
    client_version: text,
    user_agent: text,
    count: z
      .int()
      .min(1)
      .describe(
        "Number of requests that this entry stands for. Many rejections of one caller are counted together; fields in which they differ are `null`.",
      ),
  })
  .meta({ id: "Rejection", description: "A request that was rejected before it became a generation." });
