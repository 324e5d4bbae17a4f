import { beforeEach, describe, expect, test } from "bun:test";
import {
  type EndedTrial,
  MAX_TRIALS,
  type OidcTrial,
  type OidcTrialStore,
} from "../../../src/core/console/oidc-trial-store.ts";
import type { CreateStore } from "./create-store.ts";

const NOW = 1_795_000_000_123;

function trialOf(id: string, fields: Partial<OidcTrial> = {}): OidcTrial {
  return {
    id,
    stateHash: `state of ${id}`,
    configHash: "settings",
    sessionId: "sess_a",
    keyId: "key_a",
    sealed: "ciphertext",
    outcome: null,
    succeeded: 0,
    expiresAt: NOW + 1_000,
    ...fields,
  };
}

const SUCCESS: Pick<EndedTrial, "sealed" | "outcome" | "succeeded"> = {
  sealed: null,
  outcome: {
    problem: null,
    subject: "ada\0",
    rights: { isOperator: true, userId: null, organizations: [] },
    claims: [{ name: "groups", values: ["ops"], unknown: null }],
  },
  succeeded: 1,
};

/** The contract of an `OidcTrialStore`. */
export function testOidcTrialStore(createStore: CreateStore<OidcTrialStore>): void {
  describe("a store of trial sign-ins", () => {
    let store: OidcTrialStore;
    beforeEach(async () => {
      store = await createStore();
    });

    test("returns a trial as it was inserted, by its id and by its state", async () => {
      const trial = trialOf("trial_a");
      await store.insertTrial(trial, NOW);
      expect(await store.findTrial("trial_a")).toEqual(trial);
      expect(await store.findTrialByState("state of trial_a")).toEqual(trial);
      expect(await store.findTrial("trial_b")).toBeNull();
    });

    test("ends a trial once, and keeps its outcome and no settings", async () => {
      const trial = trialOf("trial_a");
      await store.insertTrial(trial, NOW);
      const ended: EndedTrial = { ...trial, ...SUCCESS, expiresAt: NOW + 5_000 };
      const ends = await Promise.all([store.endTrial(ended), store.endTrial(ended)]);
      expect(ends.toSorted()).toEqual([false, true]);
      expect(await store.findTrial("trial_a")).toEqual(ended);
    });

    test("knows the settings with which a trial has succeeded until it expires", async () => {
      const [good, bad] = [trialOf("trial_a"), trialOf("trial_b", { configHash: "bad settings" })];
      for (const trial of [good, bad]) await store.insertTrial(trial, NOW);
      expect(await store.hasSucceeded("settings", NOW)).toBe(false);
      await store.endTrial({ ...good, ...SUCCESS, expiresAt: NOW + 5_000 });
      await store.endTrial({ ...bad, ...SUCCESS, succeeded: 0, expiresAt: NOW + 5_000 });
      expect(await store.hasSucceeded("settings", NOW + 4_999)).toBe(true);
      expect(await store.hasSucceeded("settings", NOW + 5_000)).toBe(false);
      expect(await store.hasSucceeded("bad settings", NOW)).toBe(false);
    });

    test("deletes expired trials, and the oldest above the maximum, when another one begins", async () => {
      await store.insertTrial(trialOf("trial_000"), NOW);
      await store.insertTrial(trialOf("trial_001", { expiresAt: NOW + 9_000 }), NOW + 1_000);
      expect(await store.findTrial("trial_000")).toBeNull();
      for (let count = 2; count <= MAX_TRIALS + 1; count++)
        await store.insertTrial(trialOf(`trial_${String(count).padStart(3, "0")}`), NOW);
      expect(await store.findTrial("trial_001")).toBeNull();
      expect(await store.findTrial("trial_002")).not.toBeNull();
    });
  });
}
