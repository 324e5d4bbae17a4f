import { describe, expect, test } from "bun:test";
import type { ConversationStore } from "../../../src/core/generation/conversation-store.ts";
import type { CalledTurn } from "../../../src/wire/canonical/called-turn.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

/** Creates an empty store with room for at least a hundred turns. */
export type CreateConversationStore = (clock: TestClock) => ConversationStore;

/** A turn with reasoning, known by its calls. */
export const turnOf = (text: string, ...callIds: string[]): CalledTurn => ({
  callIds,
  reasoning: [
    { kind: "reasoning", text, isSummary: false, signature: "sig", encrypted: null, id: null, origin: null },
  ],
  signatures: { call_1: { value: "proof", origin: "google-gemini-v1" } },
});

const HOUR_MS = 3_600_000;

/** The contract of a `ConversationStore`. */
export function testConversationStore(createStore: CreateConversationStore): void {
  describe("a conversation store", () => {
    test("returns a turn under each of its calls, and leaves out calls that it does not know", async () => {
      const store = createStore(createTestClock());
      const turn = turnOf("a thought", "call_1", "call_2");
      await store.rememberTurn("acct_a", turn);
      expect(await store.recallTurns("acct_a", ["call_2", "call_3", "call_1"])).toEqual(
        new Map([
          ["call_2", turn],
          ["call_1", turn],
        ]),
      );
    });

    test("returns a turn only to the scope that stored it", async () => {
      const store = createStore(createTestClock());
      await store.rememberTurn("acct_a", turnOf("of a", "call_1"));
      await store.rememberTurn("acct_b", turnOf("of b", "call_1"));
      const recall = async (scope: string) => (await store.recallTurns(scope, ["call_1"])).get("call_1");
      expect(await recall("acct_a")).toEqual(turnOf("of a", "call_1"));
      expect(await recall("acct_b")).toEqual(turnOf("of b", "call_1"));
      expect(await recall("acct_c")).toBeUndefined();
    });

    test("replaces an earlier turn that shares a call with a later one", async () => {
      const store = createStore(createTestClock());
      await store.rememberTurn("acct_a", turnOf("early", "call_1", "call_2"));
      await store.rememberTurn("acct_a", turnOf("late", "call_2"));
      expect(await store.recallTurns("acct_a", ["call_1", "call_2"])).toEqual(
        new Map([["call_2", turnOf("late", "call_2")]]),
      );
    });

    test("returns a turn that is still being stored, because a client's next request may be faster", async () => {
      const store = createStore(createTestClock());
      const stored = store.rememberTurn("acct_a", turnOf("a thought", "call_1"));
      const recalled = await store.recallTurns("acct_a", ["call_1"]);
      expect(recalled.get("call_1")).toEqual(turnOf("a thought", "call_1"));
      await stored;
    });

    test("expires a turn after an hour", async () => {
      const clock = createTestClock();
      const store = createStore(clock);
      await store.rememberTurn("acct_a", turnOf("a thought", "call_1"));
      clock.leap(HOUR_MS - 1);
      expect((await store.recallTurns("acct_a", ["call_1"])).size).toBe(1);
      clock.advance(1);
      expect((await store.recallTurns("acct_a", ["call_1"])).size).toBe(0);
    });
  });
}
