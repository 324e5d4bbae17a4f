import { readIdTime } from "../../../src/base/secrets/ids.ts";
import {
  type AccountRecord,
  FIRST_SECRET,
  type KeyRecord,
  type MemberRecord,
  NO_KEY_DEFAULTS,
  OPEN_POLICY,
  type TeamRecord,
} from "../../../src/core/accounts/records/records.ts";
import type { AuditDraft } from "../../../src/core/audit/records.ts";
import { PLATFORM_ACCOUNT, type Transfer } from "../../../src/core/ledger/records/records.ts";
import type { ProviderKeyRecord } from "../../../src/core/provider-keys/records.ts";
import type { RecordEntry, UsageRecord } from "../../../src/core/usage/records/records.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";

export function accountOf(id: string, fields: Partial<AccountRecord> = {}): AccountRecord {
  return {
    id,
    kind: id.startsWith("org_") ? "organization" : "user",
    name: `name of ${id}`,
    overdraft: 0,
    monthlyLimit: null,
    policy: OPEN_POLICY,
    rateLimit: null,
    plan: null,
    email: null,
    externalId: null,
    createdAt: 1_000,
    ...NO_KEY_DEFAULTS,
    closedAt: null,
    ...fields,
  };
}

export function memberOf(
  organizationId: string,
  userId: string,
  fields: Partial<MemberRecord> = {},
): MemberRecord {
  return {
    organizationId,
    userId,
    role: "member",
    source: "manual",
    dailyLimit: null,
    createdAt: 1_000,
    ...fields,
  };
}

export function teamOf(id: string, fields: Partial<TeamRecord> = {}): TeamRecord {
  return {
    id,
    organizationId: "org_a",
    name: `name of ${id}`,
    policy: OPEN_POLICY,
    rateLimit: null,
    promptLog: null,
    cache: null,
    tags: null,
    createdAt: 1_000,
    deletedAt: null,
    ...fields,
  };
}

export function keyOf(id: string, fields: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    kind: "inference",
    accountId: "user_a",
    userId: "user_a",
    name: `name of ${id}`,
    hash: `hash of ${id}`,
    hint: "gw_a…z",
    teamId: null,
    tags: null,
    ...FIRST_SECRET,
    spendLimit: null,
    spendLimitPeriod: null,
    models: null,
    rateLimit: null,
    promptLog: null,
    cache: null,
    createdAt: 1_000,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...fields,
  };
}

export function providerKeyOf(id: string, fields: Partial<ProviderKeyRecord> = {}): ProviderKeyRecord {
  return {
    id,
    accountId: "user_a",
    provider: "openai",
    name: `name of ${id}`,
    lastFour: "wxyz",
    sealed: { masterKeyId: "master_1", ciphertext: `ciphertext of ${id}` },
    order: 0,
    enabled: true,
    models: null,
    members: null,
    teams: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    lastUsedAt: null,
    lastError: null,
    ...fields,
  };
}

export function grantOf(id: string, amount: number, fields: Partial<Transfer> = {}): Transfer {
  return {
    id,
    kind: "grant",
    from: PLATFORM_ACCOUNT,
    to: "user_a",
    amount,
    createdAt: 1_000,
    note: null,
    expiresAt: null,
    ...fields,
  };
}

/** A generation of `user_a` that has ended and cost 30 nanodollars. Its time is that in the id, if the id has one. */
export function usageOf(id: string, fields: Partial<UsageRecord> = {}): RecordEntry {
  const record = {
    ...NO_TOKENS,
    id,
    createdAt: readIdTime(id) ?? 1_000,
    finishedAt: 2_000,
    accountId: "user_a",
    keyId: "key_a",
    userId: "user_a",
    addressHash: null,
    model: "author/model",
    requestedModel: "author/model",
    provider: "provider",
    promptTokens: 10,
    prices: null,
    firstTokenAt: null,
    costNanodollars: 30,
    upstreamCostNanodollars: 30,
    attempts: [],
    outcome: "completed",
    ...fields,
  } as UsageRecord;
  return { record, json: JSON.stringify(record) };
}

/** A generation that is still running. */
export function openUsageOf(id: string, fields: Partial<UsageRecord> = {}): RecordEntry {
  return usageOf(id, {
    outcome: "open",
    finishedAt: null,
    costNanodollars: 0,
    upstreamCostNanodollars: 0,
    ...fields,
  });
}

export function auditDraftOf(target: string, fields: Partial<AuditDraft> = {}): AuditDraft {
  return {
    at: 1_000,
    keyId: "key_a",
    userId: null,
    action: "PATCH /api/admin/users/:id",
    accountId: "user_a",
    target,
    requestId: "req_a",
    changes: { name: "é\u2028", nested: { b: 1, "1": [0.1, null] } },
    ...fields,
  };
}
