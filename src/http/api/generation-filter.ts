import { z } from "zod";
import { fail } from "../../base/failures/errors.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { IdInput } from "../../core/accounts/fields/resource-fields.ts";
import type { ManagementPrincipal } from "../../core/accounts/records/principal.ts";
import { canonicalModel } from "../../core/catalog/served/catalog.ts";
import type { IdentityHash } from "../../core/generation/memory/identity-hash.ts";
import { CLIENT_FAMILIES, MAX_VERSION } from "../../core/usage/clients/client-family.ts";
import type { GenerationFilter } from "../../core/usage/generations/generation-list.ts";
import { OUTCOMES } from "../../core/usage/records/records.ts";
import type { StoreDeps } from "../context/store-deps.ts";
import { listedAccountOf, listedOwnersOf, READABLE_TEAM } from "./access.ts";
import { readRange, TIME_RANGE } from "./time-range.ts";

const name = z.string().min(1).max(200).optional();

/** The query of a filter of generations. */
export const GENERATION_FILTER = {
  from: TIME_RANGE.from.describe("Only generations of requests at or after this time (RFC 3339)."),
  to: TIME_RANGE.to.describe("Only generations of requests before this time (RFC 3339)."),
  account_id: IdInput.optional().describe("Only generations of this account."),
  key_id: IdInput.optional().describe("Only generations of this API key."),
  user_id: IdInput.optional().describe("Only generations of this user's keys."),
  team_id: IdInput.optional().describe(`Only generations of this team's keys. ${READABLE_TEAM}`),
  session_id: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      "Only generations of this session: the `session_id` of a generation, or the session that the client sent. The latter requires `account_id`, unless the key belongs to an account.",
    ),
  tag: z
    .string()
    .min(1)
    .max(BOUNDS.tagChars)
    .optional()
    .describe("Only generations of requests with this tag."),
  client: z
    .enum(CLIENT_FAMILIES)
    .optional()
    .describe("Only generations of clients of this family, which is read from the `User-Agent`."),
  client_version: z
    .string()
    .min(1)
    .max(MAX_VERSION)
    .optional()
    .describe("Only generations of clients of this version, such as `2.0.14`."),
  model: name.describe("Only generations of the model with this id."),
  model_contains: name.describe(
    "Only generations of models whose id contains this text, such as `claude`. Case does not matter.",
  ),
  provider: name.describe("Only generations whose last attempt was at the provider with this slug."),
  outcome: z.enum(OUTCOMES).optional().describe("Only generations with this outcome."),
  error_type: name.describe("Only generations with this `error_type`, such as `provider_error`."),
};

const schema = z.object(GENERATION_FILTER);

type FilterDeps = Pick<StoreDeps["generation"], "accounts" | "serving">;

/**
 * Returns the filter of a query, restricted to what the principal may see.
 * @throws GatewayError `not_found` for an account, a user or a team that the principal may not read; `invalid_request` for times in the wrong
 * order, and for a client's session without an account.
 */
export function readGenerationFilter(
  query: z.infer<typeof schema>,
  principal: ManagementPrincipal,
  { accounts: { hashIdentity }, serving }: FilterDeps,
): GenerationFilter {
  const range = readRange(query);
  const accountId = listedAccountOf(principal, query.account_id);
  return {
    accountId,
    sessionId:
      query.session_id === undefined ? null : findSessionId(query.session_id, accountId, hashIdentity),
    tag: query.tag ?? null,
    client: query.client ?? null,
    clientVersion: query.client_version ?? null,
    keyId: query.key_id ?? null,
    ...listedOwnersOf(principal, query),
    model: query.model === undefined ? null : canonicalModel(serving().catalog, query.model),
    modelContains: query.model_contains?.toLowerCase() ?? null,
    provider: query.provider?.toLowerCase() ?? null,
    outcome: query.outcome ?? null,
    errorType: query.error_type ?? null,
    ...range,
  };
}

/** Returns the hash of a session that is named by its hash, or as its client names it. Sessions are separate for each account. */
function findSessionId(name: string, accountId: string | null, hashIdentity: IdentityHash): string {
  if (SESSION_HASH.test(name)) return name;
  if (accountId === null)
    fail("invalid_request", "Set account_id too: sessions are separate for each account.", {
      metadata: { field: "session_id" },
    });
  return hashIdentity("session", accountId, name.trim());
}

/** The form of a session's hash (`createIdentityHash`). */
const SESSION_HASH = /^s_[\w-]{32}$/;

/** The id of a generation or of a request. */
export const GenerationId = z
  .string()
  .regex(/^(?:gen|req)_\w{1,60}$/, "must be the id of a generation, gen_…, or of a request, req_…");
