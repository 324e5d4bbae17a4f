import { describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/random.ts";
import { createTurnMemory } from "../../src/core/generation/turn-memory.ts";
import type { CalledTurn } from "../../src/wire/canonical/called-turn.ts";
import { createTestClock } from "../support/test-clock.ts";

const turnOf = (text: string, ...callIds: string[]): CalledTurn => ({
  callIds,
  reasoning: [
    { kind: "reasoning", text, isSummary: false, signature: "sig", encrypted: null, id: null, origin: null },
  ],
  proofs: { call_1: { value: "proof", origin: "google-gemini-v1" } },
});

const HOUR_MS = 3_600_000;

describe("the memory of turns", () => {
  test("gives a turn back by any of its calls, to whoever it belongs to and to nobody else", () => {
    const memory = createTurnMemory(createTestClock(), createSystemRandom(), 100_000);
    memory.remember("acct_a", turnOf("a thought", "call_1", "call_2"));
    expect(memory.recall("acct_a", "call_1")).toEqual(turnOf("a thought", "call_1", "call_2"));
    expect(memory.recall("acct_a", "call_2")).toEqual(turnOf("a thought", "call_1", "call_2"));
    expect(memory.recall("acct_b", "call_1")).toBeNull();
    expect(memory.recall("acct_a", "call_3")).toBeNull();
  });

  test("forgets after an hour", () => {
    const clock = createTestClock();
    const memory = createTurnMemory(clock, createSystemRandom(), 100_000);
    memory.remember("acct_a", turnOf("a thought", "call_1"));
    clock.leap(HOUR_MS - 1);
    expect(memory.recall("acct_a", "call_1")).not.toBeNull();
    clock.advance(1);
    expect(memory.recall("acct_a", "call_1")).toBeNull();
  });

  test("keeps to its bound: the oldest go first, and what is larger than all of it is not kept", () => {
    const memory = createTurnMemory(createTestClock(), createSystemRandom(), 5_000);
    for (let i = 0; i < 20; i++) memory.remember("acct_a", turnOf("x".repeat(500), `call_${i}`));
    const known = Array.from({ length: 20 }, (_, i) => memory.recall("acct_a", `call_${i}`) !== null);
    expect(known.slice(0, 12)).toEqual(Array(12).fill(false));
    expect(known.slice(-4)).toEqual(Array(4).fill(true));
    memory.remember("acct_a", turnOf("x".repeat(6_000), "call_large"));
    expect(memory.recall("acct_a", "call_large")).toBeNull();
    expect(memory.recall("acct_a", "call_19")).not.toBeNull();
  });

  test("of no size remembers nothing", () => {
    const memory = createTurnMemory(createTestClock(), createSystemRandom(), 0);
    memory.remember("acct_a", turnOf("a thought", "call_1"));
    expect(memory.recall("acct_a", "call_1")).toBeNull();
  });
});
