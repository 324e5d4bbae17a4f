import { describe, expect, test } from "bun:test";
import type { KeyStore } from "../../../src/core/accounts/stores/key-store.ts";
import {
  type ConsoleSession,
  MAX_SESSIONS_OF_KEY,
  SESSION_IDLE_MS,
} from "../../../src/core/console/console-session.ts";
import type { ConsoleSessionStore, SessionQuery } from "../../../src/core/console/console-session-store.ts";
import type { CreateStore } from "./create-store.ts";
import { keyOf } from "./samples.ts";

/** The stores of one connection. */
export interface SessionStores {
  readonly sessions: ConsoleSessionStore;
  readonly keys: KeyStore;
}

const NOW = 1_795_000_000_123;
const EVERY: SessionQuery = { accountId: null, userId: null, afterId: null, limit: 1_000, now: NOW };

function sessionOf(id: string, fields: Partial<ConsoleSession> = {}): ConsoleSession {
  return {
    id,
    hash: `hash of ${id}`,
    keyId: "key_operator",
    keyHash: "hash of a key",
    accountId: "acct_default",
    userId: null,
    userAgent: null,
    authenticatedAt: null,
    createdAt: NOW,
    lastUsedAt: NOW,
    expiresAt: NOW + 1_000,
    ...fields,
  };
}

/** The contract of a `ConsoleSessionStore`. */
export function testConsoleSessionStore(createStore: CreateStore<SessionStores>): void {
  const list = async ({ sessions }: SessionStores, query: Partial<SessionQuery> = {}) =>
    (await sessions.listSessions({ ...EVERY, ...query })).map(({ id }) => id);

  describe("a console session store", () => {
    test("returns a session with every field as it was inserted, by id and by hash", async () => {
      const { sessions } = await createStore();
      const session = sessionOf("sess_1", { userId: "user_a", userAgent: "Firefox", authenticatedAt: 1_000 });
      await sessions.insertSession(session);
      expect(await sessions.findSession("sess_1")).toEqual(session);
      expect(await sessions.findSessionByHash(session.hash)).toEqual(session);
      expect([await sessions.findSession("sess_2"), await sessions.findSessionByHash("a\0b")]).toEqual([
        null,
        null,
      ]);
    });

    test("lists live sessions newest first, of an account or a user, page by page", async () => {
      const stores = await createStore();
      for (const id of ["sess_1", "sess_3"]) await stores.sessions.insertSession(sessionOf(id));
      const other = { accountId: "org_a", userId: "user_a" };
      await stores.sessions.insertSession(sessionOf("sess_2", other));
      await stores.sessions.insertSession(sessionOf("sess_4", { accountId: "org_a", userId: "user_b" }));
      expect(await list(stores)).toEqual(["sess_4", "sess_3", "sess_2", "sess_1"]);
      expect(await list(stores, { limit: 2, afterId: "sess_4" })).toEqual(["sess_3", "sess_2"]);
      expect(await list(stores, { accountId: "org_a" })).toEqual(["sess_4", "sess_2"]);
      expect(await list(stores, { accountId: "org_a", userId: "user_a" })).toEqual(["sess_2"]);
    });

    test("does not list a session that has expired or was idle for too long", async () => {
      const stores = await createStore();
      await stores.sessions.insertSession(sessionOf("sess_1"));
      expect(await list(stores, { now: NOW + 999 })).toEqual(["sess_1"]);
      expect(await list(stores, { now: NOW + 1_000 })).toEqual([]);
      await stores.sessions.insertSession(sessionOf("sess_2", { expiresAt: NOW * 2 }));
      expect(await list(stores, { now: NOW + SESSION_IDLE_MS })).toEqual([]);
    });

    test("does not list a session whose key is revoked or has expired", async () => {
      const stores = await createStore();
      await stores.keys.insertKey(keyOf("key_1"));
      await stores.keys.insertKey(keyOf("key_2", { expiresAt: NOW + 10 }));
      await stores.sessions.insertSession(sessionOf("sess_1", { keyId: "key_1" }));
      await stores.sessions.insertSession(sessionOf("sess_2", { keyId: "key_2" }));
      expect(await list(stores)).toEqual(["sess_2", "sess_1"]);
      await stores.keys.revokeKey("key_1", NOW);
      expect(await list(stores)).toEqual(["sess_2"]);
      expect(await list(stores, { now: NOW + 10 })).toEqual([]);
    });

    test("moves the time of the last use forward only", async () => {
      const { sessions } = await createStore();
      await sessions.insertSession(sessionOf("sess_1"));
      await sessions.touchSession("sess_1", NOW + 5);
      await sessions.touchSession("sess_1", NOW + 4);
      expect((await sessions.findSession("sess_1"))?.lastUsedAt).toBe(NOW + 5);
    });

    test("deletes a session once, for every connection", async () => {
      const [here, there] = [await createStore(), await createStore()];
      await here.sessions.insertSession(sessionOf("sess_1"));
      expect(await there.sessions.deleteSession("sess_1")).toBe(true);
      expect(await here.sessions.deleteSession("sess_1")).toBe(false);
      expect(await here.sessions.findSessionByHash("hash of sess_1")).toBeNull();
    });

    test("deletes sessions that have ended when another is inserted", async () => {
      const { sessions } = await createStore();
      await sessions.insertSession(sessionOf("sess_1"));
      await sessions.insertSession(sessionOf("sess_2", { expiresAt: NOW * 2 }));
      await sessions.insertSession(sessionOf("sess_3", { createdAt: NOW + 1_000 }));
      expect(await sessions.findSession("sess_1")).toBeNull();
      expect(await sessions.findSession("sess_2")).not.toBeNull();
    });

    test("keeps a bounded number of sessions for each key, and deletes the oldest above it", async () => {
      const stores = await createStore();
      await stores.sessions.insertSession(sessionOf("sess_0", { keyId: "key_other" }));
      for (let index = 1; index <= MAX_SESSIONS_OF_KEY + 2; index++)
        await stores.sessions.insertSession(sessionOf(`sess_${String(index).padStart(4, "0")}`));
      const ids = await list(stores);
      expect(ids).toHaveLength(MAX_SESSIONS_OF_KEY + 1);
      expect(ids.slice(-2)).toEqual(["sess_0003", "sess_0"]);
    });

    test("gives a one-time code to one of the callers that take it at the same time", async () => {
      const stores = [await createStore(), await createStore()];
      await stores[0]?.sessions.insertCode({ hash: "code", expiresAt: NOW + 10, now: NOW });
      const taken = await Promise.all(
        stores.flatMap(({ sessions }) => Array.from({ length: 5 }, () => sessions.takeCode("code", NOW))),
      );
      expect(taken.filter((wasTaken) => wasTaken)).toHaveLength(1);
      expect(await stores[0]?.sessions.takeCode("code", NOW)).toBe(false);
    });

    test("does not take a code that has expired or is unknown", async () => {
      const { sessions } = await createStore();
      await sessions.insertCode({ hash: "code", expiresAt: NOW + 10, now: NOW });
      expect(await sessions.takeCode("other", NOW)).toBe(false);
      expect(await sessions.takeCode("code", NOW + 10)).toBe(false);
    });
  });
}
