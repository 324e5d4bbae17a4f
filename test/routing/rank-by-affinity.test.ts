import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { rankByAffinity } from "../../src/core/routing/affinity/rank-by-affinity.ts";

const IDS = ["acme/one:free", "acme/two:free", "acme/three:free", "openai/gpt-oss-20b:free"];
const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 12 });
const sessions = fc.uniqueArray(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 20 });

describe("the order of free models for a session", () => {
  test.each([
    ["", ["acme/two:free", "acme/three:free", "acme/one:free", "openai/gpt-oss-20b:free"]],
    ["session-1", ["acme/three:free", "openai/gpt-oss-20b:free", "acme/one:free", "acme/two:free"]],
    ["session-2", ["openai/gpt-oss-20b:free", "acme/one:free", "acme/three:free", "acme/two:free"]],
    ["ünï", ["openai/gpt-oss-20b:free", "acme/two:free", "acme/three:free", "acme/one:free"]],
  ])("is the same in every version for session %j", (session, order) => {
    expect(rankByAffinity(session, IDS)).toEqual(order);
  });

  test("contains every id once and does not depend on the order of the ids", () => {
    fc.assert(
      fc.property(ids, fc.string(), (list, session) => {
        const ranked = rankByAffinity(session, list);
        expect([...ranked].sort()).toEqual([...list].sort());
        expect(rankByAffinity(session, list.toReversed())).toEqual(ranked);
      }),
    );
  });

  test("moves only the sessions of a removed model, to their next model", () => {
    fc.assert(
      fc.property(ids, sessions, fc.nat(), (list, all, at) => {
        const gone = list[at % list.length] as string;
        const left = list.filter((id) => id !== gone);
        for (const session of all) {
          const before = rankByAffinity(session, list);
          expect(rankByAffinity(session, left)).toEqual(before.filter((id) => id !== gone));
        }
      }),
    );
  });

  test("moves only the sessions that a new model wins", () => {
    fc.assert(
      fc.property(ids, sessions, (list, all) => {
        const [comes, ...there] = list as [string, ...string[]];
        for (const session of all) {
          const now = rankByAffinity(session, list)[0];
          if (now !== comes) expect(now).toBe(rankByAffinity(session, there)[0] as string);
        }
      }),
    );
  });

  test("spreads sessions evenly over the models", () => {
    const led = new Map(IDS.map((id) => [id, 0]));
    for (let session = 0; session < 4_000; session++) {
      const first = rankByAffinity(`session-${session}`, IDS)[0] as string;
      led.set(first, (led.get(first) ?? 0) + 1);
    }
    for (const count of led.values()) expect(Math.abs(count - 1_000)).toBeLessThan(120);
  });
});
