import type { Names } from "../../accounts/stores/find-names.ts";
import { adviseOn } from "./advise.ts";
import { REJECTED, type Rejection } from "./rejection.ts";

/** Makes the view of a rejected request, with who sent it and what to do. */
export function presentRejection(rejection: Rejection, names: Names): Record<string, unknown> {
  return {
    id: rejection.id,
    created_at: new Date(rejection.at).toISOString(),
    account_id: rejection.accountId,
    account_name: names.account(rejection.accountId),
    key_id: rejection.keyId,
    key_name: names.key(rejection.keyId),
    user_id: rejection.userId,
    user_name: names.account(rejection.userId),
    team_id: rejection.teamId,
    team_name: names.team(rejection.teamId),
    key_fingerprint: rejection.keyFingerprint,
    address_hash: rejection.addressHash,
    api: rejection.api,
    method: rejection.method,
    path: rejection.path,
    requested_model: rejection.model,
    outcome: REJECTED,
    status: rejection.status,
    error_type: rejection.code,
    message: rejection.message,
    advice: adviseOn(rejection),
    field: rejection.field,
    limit_source: rejection.limitSource,
    limit_kind: rejection.limitKind,
    limit: rejection.limit,
    budget_id: rejection.budgetId,
    client: rejection.client,
    client_version: rejection.clientVersion,
    user_agent: rejection.userAgent,
    count: rejection.count,
  };
}
