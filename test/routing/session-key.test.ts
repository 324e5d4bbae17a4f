import { describe, expect, test } from "bun:test";
import type { InferencePrincipal } from "../../src/core/accounts/records/principal.ts";
import {
  type AccountRecord,
  FIRST_SECRET,
  type KeyRecord,
  NO_KEY_DEFAULTS,
  OPEN_POLICY,
} from "../../src/core/accounts/records/records.ts";
import { freeSessionKeyOf, sessionKeyOf } from "../../src/core/routing/affinity/session-key.ts";

function keyOf(accountId: string, keyId: string): InferencePrincipal {
  const key: KeyRecord = {
    id: keyId,
    kind: "inference",
    accountId,
    userId: null,
    name: "",
    hash: "",
    hint: "",
    teamId: null,
    tags: null,
    ...FIRST_SECRET,
    spendLimit: null,
    spendLimitPeriod: null,
    models: null,
    rateLimit: null,
    promptLog: null,
    cache: null,
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
  const account: AccountRecord = {
    id: accountId,
    kind: "user",
    name: "",
    overdraft: null,
    monthlyLimit: null,
    policy: OPEN_POLICY,
    rateLimit: null,
    plan: null,
    email: null,
    externalId: null,
    createdAt: 0,
    ...NO_KEY_DEFAULTS,
    closedAt: null,
  };
  return { kind: "key", key, account, member: null, team: null };
}

const ADA = keyOf("user_ada", "key_1");
const ADAS_OTHER_KEY = keyOf("user_ada", "key_2");
const BOB = keyOf("user_bob", "key_3");
const ANONYMOUS: InferencePrincipal = { kind: "anonymous", addressHash: "0a" };
const OTHER_ANONYMOUS: InferencePrincipal = { kind: "anonymous", addressHash: "0b" };

function asked(session: string | null, user: string | null = null, prefix = "prefix") {
  return { action: "chat", session, user, prompt: { hashPrefix: () => prefix } } as const;
}

describe("the session key of cache affinity", () => {
  test("derives from the session that the client names, else from the conversation's prefix", () => {
    expect(sessionKeyOf(asked("s", null, "a"), ADA)).toBe(sessionKeyOf(asked("s", "u", "b"), ADA));
    expect(sessionKeyOf(asked(null, "u", "a"), ADA)).toBe(sessionKeyOf(asked(null, "v", "a"), ADA));
    expect(sessionKeyOf(asked(null, "u", "a"), ADA)).not.toBe(sessionKeyOf(asked(null, "u", "b"), ADA));
    expect(sessionKeyOf(asked("a"), ADA)).not.toBe(sessionKeyOf(asked(null, null, "a"), ADA));
  });

  test("is the same for all keys of an account, and differs between accounts and between client addresses", () => {
    for (const request of [asked("s"), asked(null)]) {
      expect(sessionKeyOf(request, ADA)).toBe(sessionKeyOf(request, ADAS_OTHER_KEY));
      expect(sessionKeyOf(request, ADA)).not.toBe(sessionKeyOf(request, BOB));
      expect(sessionKeyOf(request, ANONYMOUS)).not.toBe(sessionKeyOf(request, OTHER_ANONYMOUS));
    }
  });

  test("is null for embeddings, whose prompts are not cached", () => {
    expect(sessionKeyOf({ ...asked("s"), action: "embeddings" }, ADA)).toBeNull();
  });
});

describe("the session key of free models", () => {
  test("derives from the session, else the user, else the API key, else client address and prefix", () => {
    const first = freeSessionKeyOf(asked("s", "u", "a"), ADA);
    expect(freeSessionKeyOf(asked("s", "v", "b"), ADAS_OTHER_KEY)).toBe(first);
    const user = freeSessionKeyOf(asked(null, "u", "a"), ADA);
    expect(freeSessionKeyOf(asked(null, "u", "b"), ADAS_OTHER_KEY)).toBe(user);
    const key = freeSessionKeyOf(asked(null, null, "a"), ADA);
    expect(freeSessionKeyOf(asked(null, null, "b"), ADA)).toBe(key);
    expect(freeSessionKeyOf(asked(null), ADAS_OTHER_KEY)).not.toBe(key);
    const address = freeSessionKeyOf(asked(null, null, "a"), ANONYMOUS);
    expect(freeSessionKeyOf(asked(null, null, "a"), ANONYMOUS)).toBe(address);
    expect(freeSessionKeyOf(asked(null, null, "b"), ANONYMOUS)).not.toBe(address);
    expect(new Set([first, user, key, address]).size).toBe(4);
  });

  test("differs between accounts", () => {
    expect(freeSessionKeyOf(asked("s"), ADA)).not.toBe(freeSessionKeyOf(asked("s"), BOB));
    expect(freeSessionKeyOf(asked(null, "u"), ADA)).not.toBe(freeSessionKeyOf(asked(null, "u"), BOB));
  });

  test("does not reveal the values from which it derives", () => {
    expect(freeSessionKeyOf(asked("the-session"), ADA)).toMatch(/^[\w-]{43}$/);
  });
});
