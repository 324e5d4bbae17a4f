import type { Program } from "./program.ts";
import type { KnownChange } from "./read-state.ts";
import { FIRST_POSTGRES } from "./versions.ts";

/** Fields of the API whose values an upgrade changes on purpose. */
export const KNOWN_CHANGES: readonly KnownChange[] = [
  { at: /last_used_at$/, why: "reading uses keys" },
  {
    at: /\.(finished_at|duration|generation_time)$|\.transfers\.\d+\.created_at$|\/ledger\?\S+\.created_at$/,
    why: "the recovery after a kill ends generations, and charges them, at its own time",
  },
  { at: /^the console session\.body\.base_url$/, why: "each start listens on another port" },
  { at: /^the console session\.body\.version$/, why: "it is that of the program" },
  {
    at: /^keys that a member's for management key may list/,
    only: "0.1.0",
    why: "since the first PostgreSQL stores, a member may list those that are theirs",
  },
  { at: /\.pinned\.\d+\.file$/, why: "each installation has a file of its own" },
  {
    at: /^GET \/api\/admin\/users\?\S+\.created_at$/,
    from: "1970-01-01T00:00:00.000Z",
    why: "the operator's account gets the time of its first key",
  },
  {
    at: /^GET \/api\/admin\/named-routes(\/\S+)?\.body\.data(\.\w+)?\.version$/,
    why: "a version of the operator's route is a revision of the stored configuration",
  },
  {
    at: /^GET \/api\/admin\/(tiers|named-routes)\.body\.data\.(gateway-auto\/odd|odd-alias|odd-group)$/,
    only: FIRST_POSTGRES,
    why: "a tier or named route that this version rejects is left out, and logged",
  },
];

/** The same when the earlier version reads again what the later one has read. */
export const KNOWN_CHANGES_BACK: readonly KnownChange[] = [
  ...KNOWN_CHANGES,
  {
    at: /^GET \/api\/admin\/rejections\?\S+\.body\.(data\.req_\w+|next)/,
    why: "they are written by a timer",
  },
  { at: /^GET \/api\/admin\/audit/, why: "reading the prompt log is audited" },
  { at: /\.outcome$/, from: "completed", why: "versions up to 0.2 do not tell repeated answers apart" },
  {
    at: /^GET \/api\/admin\/usage\?\S+\.p\d+$/,
    from: 12,
    why: "versions up to 0.2 know no times below 10 ms",
  },
  {
    at: /^GET \/api\/admin\/named-routes\?account_id=\S+\.body\.data$/,
    only: FIRST_POSTGRES,
    why: "they leave out named routes with members that they do not know",
  },
];

/** What changes of an account and its budgets while an earlier version serves. */
export const KNOWN_SPENDING: readonly KnownChange[] = [
  {
    at: /\.(spent|spent_nanodollars|remaining|remaining_nanodollars|values|state|resets_at)$/,
    why: "requests were served, and a day may have ended",
  },
  {
    at: /^users\/\w+\.body\.data\.name$|\.(account_name|subject_name)$/,
    from: "Ada",
    why: "the test changes the name of the user",
  },
];

/** What requests of keys are answered otherwise for a known reason. */
export const KNOWN_OUTCOMES: readonly KnownChange[] = [
  {
    at: /^request [12] of a user's with a rate limit key/,
    why: "requests of the minute before count, unless it is over or another version counted them; the third is always too many",
  },
  {
    at: /^request 1 of a user's with a log and a cache key\.credentials$/,
    why: "the answer cache in Redis may have the answer by then",
  },
  {
    at: /^a repeated generation\.status$/,
    only: FIRST_POSTGRES,
    why: "they describe a request in another way: it is a conflict, and not charged again",
  },
];

/** Returns the changes that are known of an upgrade from a version. */
export function knownOf(
  changes: readonly KnownChange[],
  { name }: Pick<Program, "name">,
): readonly KnownChange[] {
  return changes.filter(({ only = name }) => only === name);
}

/** Operations of an API that store nothing, or nothing that a test could read again. */
export const STORES_NOTHING: ReadonlySet<string> = new Set([
  "GET /",
  "GET /api/admin/catalog",
  "GET /api/admin/catalog/changes",
  "GET /api/admin/config/providers",
  "GET /api/admin/config/schema",
  "GET /api/admin/gateways",
  "GET /api/admin/generations/histogram",
  "GET /api/admin/generations/stream",
  "GET /api/admin/health",
  // Its buckets move on with the time.
  "GET /api/admin/health/history",
  "GET /api/admin/me",
  "GET /api/admin/models",
  "GET /api/admin/models/{author}/{model}",
  "GET /api/admin/settings",
  "GET /api/admin/webhooks",
  "GET /api/gateway",
  "GET /api/gateway/model/{author}/{model}",
  "GET /api/gateway/models",
  "GET /api/gateway/models/count",
  "GET /api/gateway/models/user",
  "GET /api/gateway/models/{author}/{model}",
  "GET /api/gateway/models/{author}/{model}/endpoints",
  "GET /api/gateway/models/{id}",
  "GET /api/gateway/providers",
  "GET /docs",
  "GET /docs/reference",
  "GET /healthz",
  "GET /metrics",
  "GET /openapi.json",
  "GET /readyz",
  // The public list of models is not there in a test.
  "POST /api/admin/catalog/changes/{id}/approve",
  "POST /api/admin/catalog/changes/{id}/reject",
  "POST /api/admin/catalog/refresh",
  "POST /api/admin/config/guardrails/try",
  "POST /api/admin/config/providers/{provider}/models",
  "POST /api/admin/config/providers/{provider}/test",
  "POST /api/admin/health/{provider}/clear",
  "POST /api/admin/health/{provider}/test",
  "POST /api/admin/policy/dry-run",
  "POST /api/admin/route/explain",
  "POST /api/admin/settings/reload",
  "POST /api/admin/webhooks/test",
  "POST /api/console/playground-key",
  // The list of members has them, or those who are in no team yet.
  "GET /api/admin/organizations/{id}/members/{user_id}",
  "GET /api/admin/organizations/{id}/teams/{team_id}/candidates",
  "POST /api/console/invitations/preview",
  // They are kept for minutes.
  "GET /api/console/oidc/trials/{id}",
  "POST /api/console/oidc/trials",
  // They end the session that is read.
  "DELETE /api/admin/sessions/{id}",
  "DELETE /api/console/session",
  // The list has all of it, or the lists of accounts together.
  "GET /api/admin/budgets/{id}",
  "GET /api/admin/keys/{id}",
  "GET /api/admin/provider-keys",
  // The generations of every endpoint are stored alike.
  "POST /api/gateway/audio/speech",
  "POST /api/gateway/audio/transcriptions",
  "POST /api/gateway/images/generations",
  "POST /api/gateway/moderations",
  "POST /api/gateway/rerank",
  "POST /api/fim/completions",
  "POST /api/gateway/completions",
  "POST /api/gateway/messages/count_tokens",
  "POST /api/gateway/route/explain",
  "POST /api/admin/accounts/{id}/provider-keys/{key_id}/test",
]);
