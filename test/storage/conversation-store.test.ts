import { describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createMemoryConversationStore } from "../../src/storage/memory/conversation-store.ts";
import { createTestClock } from "../support/test-clock.ts";
import { testConversationStore, turnOf } from "./contracts/conversation-store.ts";

const createStore = (maxBytes: number, clock = createTestClock()) =>
  createMemoryConversationStore({ clock, random: createSystemRandom(), maxBytes });

testConversationStore((clock) => createStore(1_000_000, clock));

describe("the conversation store in memory", () => {
  test("evicts the oldest turns past its bound, and does not store a turn that exceeds it alone", async () => {
    const store = createStore(5_000);
    const isKnown = async (callId: string) => (await store.recallTurns("acct_a", [callId])).size === 1;
    for (let i = 0; i < 20; i++)
      await store.rememberTurn("acct_a", [`call_${i}`], turnOf("x".repeat(500), `call_${i}`));
    const known = await Promise.all(Array.from({ length: 20 }, (_, i) => isKnown(`call_${i}`)));
    expect(known.slice(0, 12)).toEqual(Array(12).fill(false));
    expect(known.slice(-4)).toEqual(Array(4).fill(true));
    await store.rememberTurn("acct_a", ["call_large"], turnOf("x".repeat(6_000), "call_large"));
    expect(await isKnown("call_large")).toBe(false);
    expect(await isKnown("call_19")).toBe(true);
  });

  test("stores nothing if its bound is 0", async () => {
    const store = createStore(0);
    await store.rememberTurn("acct_a", ["call_1"], turnOf("a thought", "call_1"));
    expect((await store.recallTurns("acct_a", ["call_1"])).size).toBe(0);
  });
});
