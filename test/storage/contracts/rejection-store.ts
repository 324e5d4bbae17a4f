import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../../src/base/secrets/ids.ts";
import type { Rejection } from "../../../src/core/usage/rejections/rejection.ts";
import { ANY_REJECTION, type RejectionStore } from "../../../src/core/usage/rejections/rejection-store.ts";
import { sweepRejections } from "../../../src/core/usage/rejections/sweep-rejections.ts";
import type { CreateStore } from "./create-store.ts";

const AT = 1_700_000_000_000;

/** Returns the id of a request that arrived a number of seconds after the first. */
export const requestIdAt = (second: number) => `${lowestIdAt("req", AT + second * 1_000)}00aaaaaaaaaaaaaa`;

/** Returns a row of a request that arrived a number of seconds after the first. */
export function rejectionAt(second: number, more: Partial<Rejection> = {}): Rejection {
  return {
    id: requestIdAt(second),
    at: AT + second * 1_000,
    api: "chat.completions",
    method: "POST",
    path: "/v1/chat/completions",
    accountId: "user_1",
    userId: "user_1",
    keyId: "key_1",
    teamId: null,
    keyFingerprint: null,
    addressHash: "0123456789abcdef0123456789abcdef",
    model: "sandbox/echo",
    code: "rate_limit_exceeded",
    status: 429,
    message: "This key may send 1 request a minute. \u{1f40e}",
    field: null,
    limitSource: "key",
    limitKind: "requests",
    limit: 1,
    budgetId: null,
    client: "curl",
    clientVersion: "8.14.1",
    userAgent: "curl/8.14.1",
    count: 1,
    ...more,
  };
}

/** The contract of a `RejectionStore`. */
export function testRejectionStore(createStore: CreateStore<RejectionStore>): void {
  const fill = async (rows: readonly Rejection[]) => {
    const store = await createStore();
    await store.addRejections(rows);
    const list = async (query = {}) =>
      (await store.listRejections({ ...ANY_REJECTION, before: null, limit: 10, ...query })).map(
        ({ id }) => id,
      );
    return { store, list };
  };

  describe("a rejection store", () => {
    test("finds a row as it was added, and keeps the first of two with one id", async () => {
      const { store } = await fill([rejectionAt(1)]);
      await store.addRejections([rejectionAt(1, { count: 7 }), rejectionAt(2)]);
      await store.addRejections([]);
      expect(await store.findRejection(requestIdAt(1))).toEqual(rejectionAt(1));
      expect(await store.findRejection(requestIdAt(3))).toBeNull();
    });

    test("keeps nulls in every field that may have none", async () => {
      const bare = {
        ...{ api: null, method: null, path: null, accountId: null, userId: null, keyId: null },
        ...{ keyFingerprint: null, addressHash: null, model: null, message: null, field: null, limit: null },
        ...{
          teamId: null,
          limitSource: null,
          limitKind: null,
          client: null,
          clientVersion: null,
          userAgent: null,
        },
      };
      const { store } = await fill([rejectionAt(1, bare)]);
      expect(await store.findRejection(requestIdAt(1))).toEqual(rejectionAt(1, bare));
    });

    test("lists rows newest first, in pages", async () => {
      const { list } = await fill([rejectionAt(2), rejectionAt(1), rejectionAt(3)]);
      expect(await list({ limit: 2 })).toEqual([requestIdAt(3), requestIdAt(2)]);
      expect(await list({ before: requestIdAt(2) })).toEqual([requestIdAt(1)]);
    });

    test("lists only rows that match every part of the filter", async () => {
      const { list } = await fill([
        rejectionAt(1),
        rejectionAt(2, { accountId: "user_2", userId: "user_2", keyId: "key_2" }),
        rejectionAt(3, { keyId: null, keyFingerprint: "kf_1", code: "authentication", status: 401 }),
        rejectionAt(4, { model: "other/model", client: "codex", teamId: "team_1" }),
      ]);
      const ids = (...seconds: number[]) => seconds.map(requestIdAt);
      expect(await list({ accountId: "user_2" })).toEqual(ids(2));
      expect(await list({ userId: "user_1" })).toEqual(ids(4, 3, 1));
      expect(await list({ keyId: "key_1" })).toEqual(ids(4, 1));
      expect(await list({ teamId: "team_1" })).toEqual(ids(4));
      expect(await list({ keyFingerprint: "kf_1" })).toEqual(ids(3));
      expect(await list({ code: "authentication", status: 401 })).toEqual(ids(3));
      expect(await list({ model: "other/model" })).toEqual(ids(4));
      expect(await list({ client: "codex", keyId: "key_1" })).toEqual(ids(4));
      expect(await list({ fromMs: AT + 2_000, toMs: AT + 4_000 })).toEqual(ids(3, 2));
    });

    test("deletes rows of requests before a time, at most as many as the limit", async () => {
      const { store, list } = await fill([rejectionAt(1), rejectionAt(2), rejectionAt(3)]);
      expect(await store.deleteRejectionsBefore(AT + 3_000, 1)).toBe(1);
      expect(await store.deleteRejectionsBefore(AT + 3_000, 10)).toBe(1);
      expect(await list()).toEqual([requestIdAt(3)]);
    });

    test("a sweep keeps the newest rows, and callers without a key displace only rows of each other", async () => {
      const unknown = { keyId: null, accountId: null, userId: null };
      const { store, list } = await fill([
        ...[1, 2, 3].map((second) => rejectionAt(second)),
        ...[4, 5, 6, 7].map((second) => rejectionAt(second, unknown)),
      ]);
      expect(await sweepRejections(store, 0, { known: 2, unknown: 1 })).toEqual({ hasMore: false });
      expect(await list()).toEqual([7, 3, 2].map(requestIdAt));
    });
  });
}
