import { describe, expect, test } from "bun:test";
import { KeyUses } from "../../src/core/accounts/memory/key-uses.ts";
import type { KeyUse } from "../../src/core/accounts/stores/key-store.ts";

const HOUR_MS = 3_600_000;
const NOON = 12 * HOUR_MS;

function createUses(accept: () => Promise<void> = async () => {}) {
  const saved: (readonly KeyUse[])[] = [];
  const uses = new KeyUses({
    async recordKeyUses(group) {
      await accept();
      saved.push(group);
    },
  });
  return { uses, saved };
}

describe("the uses of keys", () => {
  test("are saved once for each key and hour, with the beginning of the hour", async () => {
    const { uses, saved } = createUses();
    for (const minutes of [1, 30, 59]) uses.record("key_1", NOON + minutes * 60_000);
    await uses.save();
    uses.record("key_1", NOON + HOUR_MS - 1);
    await uses.save();
    expect(saved).toEqual([[{ id: "key_1", usedAt: NOON }]]);
    uses.record("key_1", NOON + HOUR_MS);
    await uses.save();
    expect(saved[1]).toEqual([{ id: "key_1", usedAt: NOON + HOUR_MS }]);
  });

  test("are kept if the store does not take them, and saved with the next ones", async () => {
    let isAway = true;
    const { uses, saved } = createUses(async () => {
      if (isAway) throw new Error("away");
    });
    uses.record("key_1", NOON);
    await expect(uses.save()).rejects.toThrow("away");
    isAway = false;
    uses.record("key_2", NOON);
    await uses.save();
    expect(saved.flat().map(({ id }) => id)).toEqual(["key_1", "key_2"]);
  });

  test("of a later hour, which are recorded while those of the earlier one are saved, are saved next", async () => {
    const { uses, saved } = createUses(async () => uses.record("key_1", NOON + HOUR_MS));
    uses.record("key_1", NOON);
    await uses.save();
    await uses.save();
    expect(saved.flat().map(({ usedAt }) => usedAt)).toEqual([NOON, NOON + HOUR_MS]);
  });

  test("of very many keys are saved in small groups, a bounded number at a time, between which other work goes on", async () => {
    const { uses, saved } = createUses();
    for (let key = 0; key < 2_001; key++) uses.record(`key_${key}`, NOON);
    let turns = 0;
    let isSaving = true;
    const work = () => {
      turns += 1;
      if (isSaving) setImmediate(work);
    };
    setImmediate(work);
    await uses.save();
    isSaving = false;
    expect(saved.map((group) => group.length)).toEqual(Array(8).fill(250));
    expect(turns).toBeGreaterThanOrEqual(7);
    await uses.save();
    expect(new Set(saved.flat().map(({ id }) => id)).size).toBe(2_001);
    expect(saved).toHaveLength(9);
  });
});
