import { describe, expect, test } from "bun:test";
import type { InferencePrincipal } from "../../src/core/accounts/principal.ts";
import { type AccountRecord, type KeyRecord, OPEN_POLICY } from "../../src/core/accounts/records.ts";
import { freeSessionKeyOf, sessionKeyOf } from "../../src/core/routing/session-key.ts";

function keyOf(accountId: string, keyId: string): InferencePrincipal {
  const key: KeyRecord = {
    id: keyId,
    kind: "inference",
    accountId,
    userId: null,
    name: "",
    hash: "",
    hint: "",
    spendLimit: null,
    models: null,
    rateLimit: null,
    promptLog: null,
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  };
  const account: AccountRecord = {
    id: accountId,
    kind: "user",
    name: "",
    overdraft: null,
    monthlyLimit: null,
    policy: OPEN_POLICY,
    rateLimit: null,
    createdAt: 0,
    closedAt: null,
  };
  return { kind: "key", key, account, member: null };
}

const ADA = keyOf("user_ada", "key_1");
const ADAS_OTHER_KEY = keyOf("user_ada", "key_2");
const BOB = keyOf("user_bob", "key_3");
const NOBODY: InferencePrincipal = { kind: "anonymous", addressHash: "0a" };
const NOBODY_ELSE: InferencePrincipal = { kind: "anonymous", addressHash: "0b" };

function asked(session: string | null, user: string | null = null, prefix = "prefix") {
  return { action: "chat", session, user, hashPrefix: () => prefix } as const;
}

describe("the key of a warm cache", () => {
  test("is the session's where the client names one, else that of how the conversation begins", () => {
    expect(sessionKeyOf(asked("s", null, "a"), ADA)).toBe(sessionKeyOf(asked("s", "u", "b"), ADA));
    expect(sessionKeyOf(asked(null, "u", "a"), ADA)).toBe(sessionKeyOf(asked(null, "v", "a"), ADA));
    expect(sessionKeyOf(asked(null, "u", "a"), ADA)).not.toBe(sessionKeyOf(asked(null, "u", "b"), ADA));
    expect(sessionKeyOf(asked("a"), ADA)).not.toBe(sessionKeyOf(asked(null, null, "a"), ADA));
  });

  test("is an account's own, whichever of its keys is used, and an address's own", () => {
    for (const request of [asked("s"), asked(null)]) {
      expect(sessionKeyOf(request, ADA)).toBe(sessionKeyOf(request, ADAS_OTHER_KEY));
      expect(sessionKeyOf(request, ADA)).not.toBe(sessionKeyOf(request, BOB));
      expect(sessionKeyOf(request, NOBODY)).not.toBe(sessionKeyOf(request, NOBODY_ELSE));
    }
  });

  test("is none where nothing is cached", () => {
    expect(sessionKeyOf({ ...asked("s"), action: "embeddings" }, ADA)).toBeNull();
  });
});

describe("the key that a free model is picked by", () => {
  test("is the session's, the user's, the key's, or the address's with how the conversation begins", () => {
    const first = freeSessionKeyOf(asked("s", "u", "a"), ADA);
    expect(freeSessionKeyOf(asked("s", "v", "b"), ADAS_OTHER_KEY)).toBe(first);
    const user = freeSessionKeyOf(asked(null, "u", "a"), ADA);
    expect(freeSessionKeyOf(asked(null, "u", "b"), ADAS_OTHER_KEY)).toBe(user);
    const key = freeSessionKeyOf(asked(null, null, "a"), ADA);
    expect(freeSessionKeyOf(asked(null, null, "b"), ADA)).toBe(key);
    expect(freeSessionKeyOf(asked(null), ADAS_OTHER_KEY)).not.toBe(key);
    const address = freeSessionKeyOf(asked(null, null, "a"), NOBODY);
    expect(freeSessionKeyOf(asked(null, null, "a"), NOBODY)).toBe(address);
    expect(freeSessionKeyOf(asked(null, null, "b"), NOBODY)).not.toBe(address);
    expect(new Set([first, user, key, address]).size).toBe(4);
  });

  test("is an account's own", () => {
    expect(freeSessionKeyOf(asked("s"), ADA)).not.toBe(freeSessionKeyOf(asked("s"), BOB));
    expect(freeSessionKeyOf(asked(null, "u"), ADA)).not.toBe(freeSessionKeyOf(asked(null, "u"), BOB));
  });

  test("says nothing of what it is made of", () => {
    expect(freeSessionKeyOf(asked("the-session"), ADA)).toMatch(/^[\w-]{43}$/);
  });
});
