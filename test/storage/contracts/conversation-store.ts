import { describe, expect, test } from "bun:test";
import type { ConversationStore } from "../../../src/core/generation/memory/conversation-store.ts";
import type { CalledTurn } from "../../../src/wire/canonical/answer/called-turn.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

/** Creates an empty store with room for at least a hundred turns. */
export type CreateConversationStore = (clock: TestClock) => ConversationStore;

/** A turn with reasoning. */
export const turnOf = (text: string, ...keys: string[]): CalledTurn => ({
  keys,
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
      await store.rememberTurn("acct_a", ["call_1", "call_2"], turn);
      expect(await store.recallTurns("acct_a", ["call_2", "call_3", "call_1"])).toEqual(
        new Map([
          ["call_2", turn],
          ["call_1", turn],
        ]),
      );
    });

    test("returns a turn only to the scope that stored it", async () => {
      const store = createStore(createTestClock());
      await store.rememberTurn("acct_a", ["call_1"], turnOf("of a", "call_1"));
      await store.rememberTurn("acct_b", ["call_1"], turnOf("of b", "call_1"));
      const recall = async (scope: string) => (await store.recallTurns(scope, ["call_1"])).get("call_1");
      expect(await recall("acct_a")).toEqual(turnOf("of a", "call_1"));
      expect(await recall("acct_b")).toEqual(turnOf("of b", "call_1"));
      expect(await recall("acct_c")).toBeUndefined();
    });

    test("returns none of two turns that were stored under one name, and both under their other names", async () => {
      const store = createStore(createTestClock());
      const early = turnOf("early", "call_1", "call_2");
      const late = turnOf("late", "call_2", "call_3");
      await store.rememberTurn("acct_a", ["call_1", "call_2"], early);
      await store.rememberTurn("acct_a", ["call_2", "call_3"], late);
      // The second one once more: an ambiguous name stays ambiguous.
      await store.rememberTurn("acct_a", ["call_2", "call_3"], late);
      expect(await store.recallTurns("acct_a", ["call_1", "call_2", "call_3"])).toEqual(
        new Map([
          ["call_1", early],
          ["call_3", late],
        ]),
      );
    });

    test("returns a turn that was stored twice", async () => {
      const store = createStore(createTestClock());
      const turn = turnOf("a thought", "call_1");
      await store.rememberTurn("acct_a", ["call_1"], turn);
      await store.rememberTurn("acct_a", ["call_1"], turnOf("a thought", "call_1"));
      expect((await store.recallTurns("acct_a", ["call_1"])).get("call_1")).toEqual(turn);
    });

    test("makes a name ambiguous that two callers give to different turns at the same time", async () => {
      const store = createStore(createTestClock());
      await Promise.all(
        ["one", "two", "three"].map((text) =>
          store.rememberTurn("acct_a", ["call_1"], turnOf(text, "call_1")),
        ),
      );
      expect((await store.recallTurns("acct_a", ["call_1"])).size).toBe(0);
    });

    test("returns a turn that is still being stored, because a client's next request may be faster", async () => {
      const store = createStore(createTestClock());
      const stored = store.rememberTurn("acct_a", ["call_1"], turnOf("a thought", "call_1"));
      const recalled = await store.recallTurns("acct_a", ["call_1"]);
      expect(recalled.get("call_1")).toEqual(turnOf("a thought", "call_1"));
      await stored;
    });

    test("expires a turn after an hour", async () => {
      const clock = createTestClock();
      const store = createStore(clock);
      await store.rememberTurn("acct_a", ["call_1"], turnOf("a thought", "call_1"));
      clock.leap(HOUR_MS - 1);
      expect((await store.recallTurns("acct_a", ["call_1"])).size).toBe(1);
      clock.advance(1);
      expect((await store.recallTurns("acct_a", ["call_1"])).size).toBe(0);
    });
  });
}
