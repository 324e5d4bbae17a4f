import { describe, expect, test } from "bun:test";
import {
  type HealthHistoryStore,
  INCIDENTS_MS,
  type OutcomeSum,
} from "../../../src/core/routing/history/health-history-store.ts";
import {
  type Incident,
  type IncidentReport,
  NO_FAILURES,
} from "../../../src/core/routing/history/incident.ts";
import type { CreateStore } from "./create-store.ts";

const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;

const ALL = { provider: null, isOpen: null, before: null, limit: 100 };

function sumOf(more: Partial<OutcomeSum> = {}): OutcomeSum {
  const counts = { succeeded: 3, failed: 2, rateLimited: 1, keyRefused: 0 };
  return { provider: "acme", range: "hour", beganAt: NOW, ...counts, ...more };
}

let ids = 0;

function reportOf(more: Partial<IncidentReport> = {}): IncidentReport {
  const id = `inc_${String(++ids).padStart(6, "0")}`;
  const facts = {
    id,
    provider: "acme",
    observer: "gateway_a",
    isSeen: true,
    isContinued: false,
    level: "down",
    models: [],
  } as const;
  return { ...facts, ...NO_FAILURES, at: NOW, ...more };
}

const FAILED = {
  failures: [{ type: "upstream_error", status: 500, count: 4 }],
  sample: {
    ...{ at: NOW, model: "acme/one", type: "upstream_error", status: 500, message: "bro\u0000ken" },
    generationId: "gen_1",
  },
  failedAttempts: 4,
  savedRequests: 2,
  failedRequests: 1,
};

async function findOnly(store: HealthHistoryStore, now = NOW): Promise<Incident> {
  const [incident, ...others] = await store.listIncidents(ALL, now);
  expect(others).toEqual([]);
  return incident as Incident;
}

/** The contract of a `HealthHistoryStore`. */
export function testHealthHistoryStore(createStore: CreateStore<HealthHistoryStore>): void {
  describe("a store of outcomes", () => {
    test("adds up what several connections have counted in the same bucket", async () => {
      const [here, there] = [await createStore(), await createStore()];
      await here.addOutcomes([]);
      await here.addOutcomes([sumOf(), sumOf({ range: "day" }), sumOf({ provider: "beta" })]);
      await Promise.all([
        there.addOutcomes([sumOf({ keyRefused: 7 }), sumOf({ provider: "beta" })]),
        here.addOutcomes([sumOf({ provider: "beta" }), sumOf()]),
      ]);
      const sums = await there.listOutcomes({ range: "hour", from: NOW, provider: null });
      const thrice = { succeeded: 9, failed: 6, rateLimited: 3 };
      expect(sums).toEqual([
        sumOf({ ...thrice, keyRefused: 7 }),
        sumOf({ provider: "beta", ...thrice, keyRefused: 0 }),
      ]);
    });

    test("lists the sums of one range, from a time on, of all providers or of one", async () => {
      const store = await createStore();
      const later = sumOf({ beganAt: NOW + 60_000 });
      const beta = sumOf({ provider: "beta", beganAt: NOW + 120_000 });
      await store.addOutcomes([later, beta, sumOf(), sumOf({ range: "week", beganAt: NOW + 60_000 })]);
      const list = (from: number, provider: string | null) =>
        store.listOutcomes({ range: "hour", from, provider });
      expect(await list(NOW, null)).toEqual([sumOf(), later, beta]);
      expect(await list(NOW + 1, null)).toEqual([later, beta]);
      expect(await list(NOW, "beta")).toEqual([beta]);
    });

    test("deletes the sums that are older than their range, for the week those of more than eight days", async () => {
      const store = await createStore();
      await store.addOutcomes([
        sumOf(),
        sumOf({ range: "week" }),
        sumOf({ range: "week", provider: "beta", beganAt: NOW + DAY_MS }),
      ]);
      const count = async (range: OutcomeSum["range"]) =>
        (await store.listOutcomes({ range, from: 0, provider: null })).length;
      await store.sweepHistory(NOW + 60 * 60_000);
      expect([await count("hour"), await count("week")]).toEqual([1, 2]);
      await store.sweepHistory(NOW + 7 * DAY_MS);
      expect([await count("hour"), await count("week")]).toEqual([0, 2]);
      await store.sweepHistory(NOW + 8 * DAY_MS + 2 * 60 * 60_000);
      expect(await count("week")).toBe(1);
    });
  });

  describe("a store of incidents", () => {
    test("keeps what was reported of an incident, from its beginning to its end", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const first = reportOf({ level: "degraded", models: ["acme/one"], ...FAILED });
      await here.reportIncident(first);
      await here.reportIncident(reportOf({ models: ["acme/two"], ...FAILED, at: NOW + 1_000 }));
      const open = await findOnly(there);
      expect(open).toEqual({
        ...{ id: first.id, provider: "acme", level: "down", models: ["acme/one", "acme/two"] },
        ...{ beganAt: NOW, endedAt: null, end: null, seenAt: NOW + 1_000 },
        observers: { gateway_a: NOW + 1_000 },
        failures: [{ type: "upstream_error", status: 500, count: 8 }],
        sample: FAILED.sample,
        ...{ failedAttempts: 8, savedRequests: 4, failedRequests: 2 },
      });
      await here.reportIncident(reportOf({ isSeen: false, at: NOW + 5_000 }));
      expect(await findOnly(there)).toEqual({
        ...open,
        ...{ endedAt: NOW + 5_000, end: "recovered", seenAt: NOW + 5_000, observers: {} },
      });
    });

    test("has one incident for several gateways that see it at the same time, which lasts until none sees it", async () => {
      const [here, there] = [await createStore(), await createStore()];
      await Promise.all([
        here.reportIncident(reportOf(FAILED)),
        there.reportIncident(reportOf({ observer: "gateway_b", ...FAILED })),
      ]);
      expect(await findOnly(here)).toMatchObject({ failedAttempts: 8, endedAt: null });
      await here.reportIncident(reportOf({ isSeen: false, at: NOW + 5_000 }));
      expect(await findOnly(here)).toMatchObject({ endedAt: null, observers: { gateway_b: NOW } });
      await there.reportIncident(reportOf({ observer: "gateway_b", isSeen: false, at: NOW + 6_000 }));
      expect(await findOnly(here)).toMatchObject({ endedAt: NOW + 6_000, end: "recovered" });
    });

    test("continues an incident that returns within two minutes, and begins another one later", async () => {
      const store = await createStore();
      await store.reportIncident(reportOf());
      await store.reportIncident(reportOf({ isSeen: false, at: NOW + 5_000 }));
      await store.reportIncident(reportOf({ at: NOW + 100_000 }));
      expect(await findOnly(store, NOW + 100_000)).toMatchObject({ beganAt: NOW, endedAt: null, end: null });
      await store.reportIncident(reportOf({ isSeen: false, at: NOW + 110_000 }));
      await store.reportIncident(reportOf({ at: NOW + 300_000 }));
      const incidents = await store.listIncidents(ALL, NOW + 300_000);
      expect(incidents.map(({ beganAt, endedAt }) => [beganAt, endedAt])).toEqual([
        [NOW + 300_000, null],
        [NOW, NOW + 110_000],
      ]);
    });

    test("ignores the end of an incident that it does not have", async () => {
      const store = await createStore();
      await store.reportIncident(reportOf({ isSeen: false }));
      expect(await store.listIncidents(ALL, NOW)).toEqual([]);
    });

    test("ends an incident whose gateways have died with their last report", async () => {
      const store = await createStore();
      await store.reportIncident(reportOf({ at: NOW + 1_000 }));
      const ended = { endedAt: NOW + 1_000, end: "unobserved" } as const;
      expect(await findOnly(store, NOW + 60_000)).toMatchObject({ endedAt: null });
      expect(await findOnly(store, NOW + 62_000)).toMatchObject(ended);
      const list = (isOpen: boolean) => store.listIncidents({ ...ALL, isOpen }, NOW + 62_000);
      expect([(await list(true)).length, (await list(false)).length]).toEqual([0, 1]);
      await store.reportIncident(reportOf({ at: NOW + 10 * 60_000 }));
      expect(await store.listIncidents(ALL, NOW + 10 * 60_000)).toMatchObject([
        { beganAt: NOW + 10 * 60_000, endedAt: null },
        ended,
      ]);
      await store.sweepHistory(NOW + 20 * 60_000);
      expect(await store.listIncidents({ ...ALL, isOpen: false }, NOW + 10 * 60_000)).toHaveLength(2);
    });

    test("continues an incident that its gateway has seen all the time, although it could not report it", async () => {
      const store = await createStore();
      await store.reportIncident(reportOf());
      const [later, end] = [NOW + 10 * 60_000, NOW + 20 * 60_000];
      await store.sweepHistory(later);
      expect(await findOnly(store, later)).toMatchObject({ end: "unobserved" });
      await store.reportIncident(reportOf({ at: later, isContinued: true }));
      expect(await findOnly(store, later)).toMatchObject({ beganAt: NOW, endedAt: null, end: null });
      await store.reportIncident(reportOf({ at: end, isContinued: true, isSeen: false }));
      expect(await findOnly(store, end)).toMatchObject({ endedAt: end, end: "recovered" });
    });

    test("lists the incidents of all providers or of one, page by page", async () => {
      const store = await createStore();
      for (const provider of ["acme", "beta", "gamma"]) await store.reportIncident(reportOf({ provider }));
      const list = async (filter: object) =>
        (await store.listIncidents({ ...ALL, ...filter }, NOW)).map(({ id, provider }) => ({ id, provider }));
      const all = await list({});
      expect(all.map(({ provider }) => provider)).toEqual(["gamma", "beta", "acme"]);
      expect(await list({ limit: 1, before: all[0]?.id })).toEqual(all.slice(1, 2));
      expect(await list({ provider: "beta" })).toEqual(all.slice(1, 2));
    });

    test("deletes incidents that ended more than 90 days ago, and keeps those that last", async () => {
      const store = await createStore();
      await store.reportIncident(reportOf());
      await store.reportIncident(reportOf({ isSeen: false, at: NOW + 1_000 }));
      await store.sweepHistory(NOW + INCIDENTS_MS);
      await store.reportIncident(reportOf({ provider: "beta", at: NOW + INCIDENTS_MS }));
      expect(await store.listIncidents(ALL, NOW + INCIDENTS_MS)).toHaveLength(2);
      await store.sweepHistory(NOW + INCIDENTS_MS + 2_000);
      expect(await store.listIncidents(ALL, NOW + INCIDENTS_MS)).toMatchObject([{ provider: "beta" }]);
    });
  });
}
