import { createHmac } from "node:crypto";
import { type ErrorCode, type Failure, statusOf } from "../../base/failures/errors.ts";
import { policyOf } from "../../core/accounts/records/merge-policies.ts";
import { ADMIN_KEY_ID } from "../../core/accounts/records/principal.ts";
import { hashSecret } from "../../core/accounts/records/secrets.ts";
import { parseClient } from "../../core/usage/clients/client-family.ts";
import {
  clipText,
  REJECTION_CHARS,
  type RejectedCaller,
  type Rejection,
  type RejectionReason,
} from "../../core/usage/rejections/rejection.ts";
import type { RequestContext } from "../context/context.ts";
import { urlOf } from "../context/url-of.ts";
import { findSecret, identifyByAddress } from "./identify.ts";

/**
 * Records a request that is answered with an error before it became a generation, and adds to its log line what is recorded. Requests to the
 * management API and the console are not recorded: their changes are in the audit log.
 */
export function recordRejection(request: Request, context: RequestContext, failure: Failure): void {
  const { deps, asked, logFields } = context;
  const path = urlOf(request).pathname;
  if (asked === null && !isStrayCall(request, path, failure.code)) return;
  const rejection = describeRejection(request, context, { failure, path });
  if (asked === null) deps.observers.requestObserver?.onRefused(failure);
  Object.assign(logFields, listLogFields(rejection));
  deps.reports.rejections.record(rejection);
}

/** The codes of requests for which there is no handler. */
const STRAY_CODES: ReadonlySet<ErrorCode> = new Set(["not_found", "method_not_allowed"]);
/** The paths of the management API and of the console, at their fixed places. */
const OTHER_PATHS = /^\/(?:api\/(?:admin|console|payments)|console|metrics)(?:\/|$)/;

/** Returns whether a request without a handler was meant for a client API: browsers and scanners send no key and no body. */
function isStrayCall({ method, headers }: Request, path: string, code: ErrorCode): boolean {
  if (!STRAY_CODES.has(code) || OTHER_PATHS.test(path)) return false;
  return findSecret(headers) !== null || !["GET", "HEAD", "OPTIONS"].includes(method);
}

interface Rejected {
  readonly failure: Failure;
  readonly path: string;
}

function describeRejection(
  request: Request,
  context: RequestContext,
  { failure, path }: Rejected,
): Rejection {
  const { requestId, startedAt, asked } = context;
  const sent = {
    model: clip(asked?.model, "model"),
    path: clip(path, "path"),
    userAgent: clip(request.headers.get("user-agent"), "userAgent"),
  };
  const client = parseClient(sent.userAgent);
  const isPrivate = demandsZeroRetention(context);
  return {
    id: requestId,
    at: startedAt,
    api: asked?.api ?? null,
    method: request.method,
    ...describeCaller(request, context),
    ...describeReason(failure, isPrivate),
    ...(isPrivate ? NOTHING_SENT : sent),
    client: client?.family ?? null,
    clientVersion: client?.version ?? null,
    count: 1,
  };
}

/** What is stored of the texts of a request under zero data retention. */
const NOTHING_SENT = { model: null, path: null, userAgent: null } as const;

/** Whether the request, its account or the operator demands that no text of the request is stored. */
function demandsZeroRetention({ asked, inferencePrincipal, deps }: RequestContext): boolean {
  if (asked?.zeroRetention === true) return true;
  const { policy } = deps.generation.settings;
  if (inferencePrincipal === null) return policy.zeroRetention;
  return policyOf(policy, inferencePrincipal).zeroRetention !== null;
}

function describeReason(failure: Failure, isPrivate: boolean): RejectionReason {
  const { code, message, metadata = {} } = failure;
  const { field, limit_source: source, limit_kind: kind, limit, budget } = metadata;
  return {
    code,
    status: statusOf(failure),
    message: isPrivate ? null : clip(message, "message"),
    field: isPrivate ? null : clip(field, "field"),
    limitSource: typeof source === "string" ? source : null,
    limitKind: typeof kind === "string" ? kind : null,
    limit: Number.isSafeInteger(limit) ? Number(limit) : null,
    budgetId: typeof budget === "string" ? budget : null,
  };
}

function describeCaller(request: Request, context: RequestContext): RejectedCaller {
  const { inferencePrincipal, deps } = context;
  const { keyCache, addressSalt } = deps.callers;
  const { addressHash } = identifyByAddress(request, context);
  const unknown = {
    ...{ accountId: null, userId: null, keyId: null, teamId: null },
    ...{ keyFingerprint: null, addressHash },
  };
  const secret = findSecret(request.headers);
  if (secret === null) return unknown;
  if (inferencePrincipal?.kind === "key") {
    const { account, key } = inferencePrincipal;
    return { ...unknown, accountId: account.id, userId: key.userId, keyId: key.id, teamId: key.teamId };
  }
  const hash = hashSecret(secret);
  if (hash === keyCache.adminHash) return { ...unknown, keyId: ADMIN_KEY_ID };
  const known = keyCache.peekKey(secret);
  if (known !== null) {
    const { id: keyId, accountId, userId, teamId } = known;
    return { ...unknown, accountId, userId, keyId, teamId };
  }
  return { ...unknown, keyFingerprint: fingerprintOf(hash, addressSalt) };
}

const FINGERPRINT_CHARS = 16;

/** Returns a keyed hash of an unknown key: requests with the same key have the same one, and the key cannot be found from it. */
function fingerprintOf(hash: string, salt: string): string {
  const digest = createHmac("sha256", salt).update(`key\0${hash}`).digest("hex");
  return `kf_${digest.slice(0, FINGERPRINT_CHARS)}`;
}

/** Returns the beginning of a text that a caller chose; null for anything else. */
function clip(text: unknown, name: keyof typeof REJECTION_CHARS): string | null {
  return typeof text === "string" ? clipText(text, REJECTION_CHARS[name]) : null;
}

/** Returns the fields of the log line, without those that it has anyway. */
function listLogFields(rejection: Rejection): Record<string, unknown> {
  const { message, api, method, path, model, field, client, limit } = rejection;
  const fields = {
    message,
    api,
    method,
    path,
    requested_model: model,
    field,
    limit_source: rejection.limitSource,
    limit_kind: rejection.limitKind,
    limit,
    budget: rejection.budgetId,
    account_id: rejection.accountId,
    team_id: rejection.teamId,
    key_fingerprint: rejection.keyFingerprint,
    address_hash: rejection.addressHash,
    client,
    client_version: rejection.clientVersion,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
