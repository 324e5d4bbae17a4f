import { describe, expect, test } from "bun:test";
import { StoredTurns } from "../../src/core/generation/attempt/request-turns.ts";
import type { ConversationStore } from "../../src/core/generation/memory/conversation-store.ts";

const failingStore: ConversationStore = {
  keepsTurns: true,
  isEmpty: false,
  rememberTurn: async () => {
    throw new Error("no connection");
  },
  recallTurns: async () => {
    throw new Error("no connection");
  },
};

describe("the turns of a request", () => {
  test("turns are unknown while the conversation store fails, and the log has a warning", async () => {
    const warnings: unknown[] = [];
    const turns = new StoredTurns(failingStore, () => "acct_a", {
      warn: (_, fields) => warnings.push(fields),
    });
    await turns.load({ prefix: "p", list: () => ["call_1"] });
    expect(turns.recall("call_1")).toBeNull();
    turns.remember({ keys: ["call_1"], reasoning: [], signatures: {} });
    await Promise.resolve();
    expect(warnings).toEqual([{ detail: "Error: no connection" }, { detail: "Error: no connection" }]);
  });

  test("turns are loaded once, even if the request is encoded several times", async () => {
    const asked: (readonly string[])[] = [];
    const store: ConversationStore = {
      ...failingStore,
      recallTurns: async (_, callIds) => {
        asked.push(callIds);
        return new Map();
      },
    };
    const turns = new StoredTurns(store, () => "acct_a", { warn() {} });
    await turns.load({ prefix: "p", list: () => ["call_1"] });
    await turns.load({ prefix: "p", list: () => ["call_1", "call_2"] });
    await turns.load({ prefix: "p", list: () => ["call_1", "call_2"] });
    expect(asked).toEqual([["call_1"], ["call_2"]]);
  });

  test("no names are computed for a store that has no turn", async () => {
    const store: ConversationStore = { ...failingStore, isEmpty: true };
    const turns = new StoredTurns(store, () => "acct_a", { warn() {} });
    const list = (): never => {
      throw new Error("names were asked for");
    };
    expect(turns.load({ prefix: "p", list })).toBeNull();
    expect(turns.hasAny).toBe(false);
  });
});
