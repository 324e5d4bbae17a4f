import { describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createMemoryAnswerStore } from "../../src/storage/memory/answer-store.ts";
import { createTestClock } from "../support/test-clock.ts";
import { answerOf, testAnswerStore } from "./contracts/answer-store.ts";

const createStore = (maxBytes: number, clock = createTestClock()) =>
  createMemoryAnswerStore({ clock, random: createSystemRandom(), maxBytes });

testAnswerStore((clock) => createStore(1_000_000, clock));

describe("the answer store in memory", () => {
  test("evicts the oldest answers past its bound, and does not keep one that exceeds it alone", async () => {
    const store = createStore(5_000);
    for (let i = 0; i < 20; i++) await store.keepAnswer(`a${i}`, answerOf("x".repeat(500)), 1_000);
    expect(await store.findAnswer("a0")).toBeNull();
    expect(await store.findAnswer("a19")).not.toBeNull();
    await store.keepAnswer("a19", answerOf("x".repeat(6_000)), 1_000);
    expect(await store.findAnswer("a19")).toBeNull();
  });

  test("keeps nothing if its bound is 0", async () => {
    const store = createStore(0);
    await store.keepAnswer("a", answerOf("text"), 1_000);
    expect(await store.findAnswer("a")).toBeNull();
  });
});
