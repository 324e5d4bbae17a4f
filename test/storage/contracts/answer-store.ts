import { describe, expect, test } from "bun:test";
import type { AnswerStore } from "../../../src/core/extensions/answers/answer-store.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

/** Creates an empty store with room for at least a hundred short answers. */
export type CreateAnswerStore = (clock: TestClock) => AnswerStore;

export const answerOf = (body: string) => ({ generationId: "gen_1", body, createdAt: 5 });

/** The contract of an `AnswerStore`. */
export function testAnswerStore(createStore: CreateAnswerStore): void {
  describe("an answer store", () => {
    test("returns the answer that was kept last under a name, and null under any other", async () => {
      const store = createStore(createTestClock());
      await store.keepAnswer("a", answerOf("early"), 1_000);
      await store.keepAnswer("a", answerOf("late, with ü and \u0000"), 1_000);
      expect(await store.findAnswer("a")).toEqual(answerOf("late, with ü and \u0000"));
      expect(await store.findAnswer("b")).toBeNull();
    });

    test("forgets an answer when its time is over", async () => {
      const clock = createTestClock();
      const store = createStore(clock);
      await store.keepAnswer("a", answerOf("text"), 1_000);
      clock.advance(999);
      expect(await store.findAnswer("a")).toEqual(answerOf("text"));
      clock.advance(1);
      expect(await store.findAnswer("a")).toBeNull();
    });
  });
}
