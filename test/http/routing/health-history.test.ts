import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { turnEventLoop } from "../../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const MINUTE_MS = 60_000;
/** The beginning of a bucket of each range: midnight UTC. */
const START = Date.UTC(2026, 10, 30);

let vendor: Vendor;
let other: Vendor;
let clock: TestClock;
let gateway: TestGateway;

beforeEach(async () => {
  vendor = startVendor(healthy("Hi"));
  other = startVendor(healthy("Hi"));
  clock = createTestClock(START);
  gateway = await startTestGateway({ clock, yaml: yaml() });
});

afterEach(async () => {
  await gateway.stop();
  await vendor.stop();
  await other.stop();
});

const PRICES = (prompt: string) => `name: up, prices: {prompt: "${prompt}", completion: "${prompt}"}`;

const yaml = () => `
providers:
  acme:
    name: Acme
    base_url: "${vendor.baseUrl}"
    api_keys: ["sk-acme-0123456789"]
    zero_retention: true
    models: [{id: x/one, ${PRICES("0.000001")}}, {id: x/two, ${PRICES("0.000001")}}, {id: x/both, ${PRICES("0.000001")}}]
  other:
    base_url: "${other.baseUrl}"
    api_keys: ["sk-other-0123456789"]
    models: [{id: x/both, ${PRICES("0.00001")}}]
`;

const admin = (path: string) => callAdmin(gateway, gateway.adminKey, "GET", path);

async function ask(model = "x/one", more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  const response = await postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }], ...more });
  await response.text();
  return response;
}

const breakVendor = (status = 500, message = "the disk is full") =>
  vendor.perform((call) => call.respond(status, { error: { message } }));

interface Bucket {
  readonly began_at: string;
}

interface Line {
  readonly provider: string;
  readonly total: object;
  readonly buckets: readonly Bucket[];
}

async function readHistory(
  query = "",
): Promise<{ body: Readonly<Record<string, unknown>>; lines: readonly Line[] }> {
  const { body, rows } = await admin(`/health/history${query}`);
  return { body: body as never, lines: rows as never };
}

const readIncidents = async (query = "") => (await admin(`/incidents${query}`)).rows;

/** Lets the recurring tasks run. */
async function pass(ms: number): Promise<void> {
  clock.leap(ms);
  await turnEventLoop(50);
}

const at = (ms: number) => new Date(START + ms).toISOString();

describe("GET /api/admin/health/history", () => {
  test("has the outcomes of each provider by minutes, quarters of an hour, and two hours", async () => {
    await ask();
    breakVendor();
    await ask();
    await pass(20 * MINUTE_MS);
    breakVendor(429, "slow down");
    await ask("x/two");
    vendor.perform(healthy("Hi"));
    await ask("x/both", { provider: { only: ["other"] } });
    const minutes = await readHistory();
    expect(minutes.body).toMatchObject({
      ...{ range: "hour", bucket_s: 60, bucket_count: 60 },
      ...{ from: at(-39 * MINUTE_MS), to: at(20 * MINUTE_MS) },
    });
    const counts = { attempts: 0, succeeded: 0, failed: 0, rate_limited: 0, key_refused: 0 };
    expect(minutes.lines).toEqual([
      {
        provider: "acme",
        total: { ...counts, attempts: 3, succeeded: 1, failed: 1, rate_limited: 1, state: "down" },
        buckets: [
          { began_at: at(0), ...counts, attempts: 2, succeeded: 1, failed: 1, state: "degraded" },
          { began_at: at(20 * MINUTE_MS), ...counts, attempts: 1, rate_limited: 1, state: "down" },
        ] as never,
      },
      {
        provider: "other",
        total: { ...counts, attempts: 1, succeeded: 1, state: "ok" },
        buckets: [
          { began_at: at(20 * MINUTE_MS), ...counts, attempts: 1, succeeded: 1, state: "ok" },
        ] as never,
      },
    ]);
    const begins = async (query: string) =>
      (await readHistory(query)).lines.map(({ buckets }) => buckets.map(({ began_at }) => began_at));
    expect(await begins("?range=day&provider=ACME")).toEqual([[at(0), at(15 * MINUTE_MS)]]);
    expect(await begins("?range=week&provider=acme")).toEqual([[at(0)]]);
  });

  test("counts a stream at its end: as succeeded, or as failed if it breaks off", async () => {
    await ask("x/one", { stream: true });
    vendor.perform(async (call) => {
      await call.begin(200, { "content-type": "text/event-stream" });
      await call.events({ choices: [{ index: 0, delta: { content: "Hel" } }] });
      call.connection.reset();
    });
    await ask("x/one", { stream: true });
    const [line] = (await readHistory()).lines;
    expect(line?.total).toMatchObject({ attempts: 2, succeeded: 1, failed: 1 });
  });

  test("counts no attempt that the request has caused to fail", async () => {
    breakVendor(400, "there is no such voice");
    await ask();
    expect((await readHistory()).lines).toEqual([]);
  });

  test("outlives the process", async () => {
    await ask();
    await gateway.stop({ keepData: true });
    const { dataDir, key } = gateway;
    gateway = await startTestGateway({ clock, dataDir, key, yaml: yaml() });
    expect((await readHistory()).lines).toMatchObject([{ provider: "acme", total: { succeeded: 1 } }]);
  });

  test("rejects a range that is none, and names the ones there are", async () => {
    const { status, body } = await admin("/health/history?range=year");
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(/range.*hour.*day.*week/);
  });
});

describe("GET /api/admin/incidents", () => {
  test("has a provider that fails from the opening of a circuit to its recovery, with what failed", async () => {
    breakVendor();
    for (let count = 0; count < 5; count++) await ask("x/both");
    await pass(2_000);
    const began = clock.now();
    await pass(3 * MINUTE_MS);
    const [open, ...others] = await readIncidents();
    expect(others).toEqual([]);
    expect(open).toMatchObject({
      ...{ provider: "acme", level: "degraded", models: ["x/both"] },
      ...{ began_at: new Date(began).toISOString(), ended_at: null, duration_s: 180, ended_by: null },
      ...{ failed_attempts: 5, saved_requests: 5, failed_requests: 0 },
      failures: [{ error_type: "upstream_error", status: 500, count: 5 }],
      last_failure: { model: "x/both", status: 500, message: expect.stringContaining("the disk is full") },
    });
    expect(await readIncidents("?state=ended")).toEqual([]);
    vendor.perform(healthy("Hi"));
    for (let count = 0; count < 2; count++) await ask("x/both");
    await pass(2_000);
    const [ended] = await readIncidents();
    expect(ended).toMatchObject({
      ...{ id: open?.["id"], ended_at: new Date(clock.now()).toISOString(), ended_by: "recovered" },
      ...{ failed_attempts: 5, saved_requests: 5 },
    });
    expect(await readIncidents("?state=open")).toEqual([]);
  });

  test("has a provider that is down as a whole, and requests that nothing answered", async () => {
    breakVendor(503, "overloaded");
    for (let count = 0; count < 6; count++) for (const model of ["x/one", "x/two"]) await ask(model);
    const [incident] = await readIncidents("?provider=acme");
    expect(incident).toMatchObject({ level: "down", ended_at: null });
    const { failed_requests, saved_requests, models } = incident as never as Record<string, never>;
    expect([failed_requests, saved_requests]).toEqual([12, 0] as never);
    expect(models).toEqual(["x/one", "x/two"] as never);
    expect(await readIncidents("?provider=other")).toEqual([]);
  });

  test("has a provider that rejects all platform keys", async () => {
    breakVendor(401, "who are you?");
    await ask();
    expect(await readIncidents()).toMatchObject([
      { level: "down", models: [], failures: [{ error_type: "upstream_error", status: 401, count: 1 }] },
    ]);
  });

  test("stores what a provider has said, but not about a request with zero data retention", async () => {
    const readMessage = async () => {
      const [incident] = await readIncidents();
      return (incident?.["last_failure"] as { message: string | null } | undefined)?.message;
    };
    breakVendor(500, "you said: Hi");
    for (let count = 0; count < 5; count++) await ask("x/one", { provider: { zdr: true } });
    expect(await readMessage()).toBeNull();
    await ask("x/two");
    expect(await readMessage()).toBe("you said: Hi");
  });

  test("ends with the last report of a gateway that died, and returns as another one", async () => {
    breakVendor();
    for (let count = 0; count < 5; count++) await ask();
    await pass(2_000);
    const seen = clock.now();
    await gateway.stop({ keepData: true });
    clock.leap(10 * MINUTE_MS);
    const { dataDir, key } = gateway;
    gateway = await startTestGateway({ clock, dataDir, key, yaml: yaml() });
    expect(await readIncidents()).toMatchObject([
      { ended_by: "unobserved", ended_at: new Date(seen).toISOString() },
    ]);
    for (let count = 0; count < 5; count++) await ask();
    expect(await readIncidents("?state=open")).toHaveLength(1);
    const first = await admin("/incidents?limit=1");
    const next = (first.body as { next: string }).next;
    expect(await readIncidents(`?limit=1&after=${next}`)).toMatchObject([{ ended_by: "unobserved" }]);
  });
});
