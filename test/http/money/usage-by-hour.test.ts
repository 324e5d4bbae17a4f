import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import { documentOf, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BEGIN = Date.parse("2027-01-31T21:10:00Z");

/** The usage of one gateway: 3 requests in the first hour, 2 in the next, of which one fails; 1 request two days later. */
describe("usage by hour", () => {
  let vendor: Vendor;
  let gateway: TestGateway;
  let clock: TestClock;

  beforeAll(async () => {
    vendor = startVendor();
    clock = createTestClock(BEGIN);
    const yaml = `
storage: { hourly_usage_days: 1 }
providers:
  mine:
    base_url: ${vendor.baseUrl}
    api_keys: [vendor-key]
    models: [{ id: mine/chat, prices: { prompt: "0.000001", completion: "0.00001" } }]`;
    gateway = await startTestGateway({ yaml, clock });
    for (const ms of [100, 2_000, 8_000]) await chat(ms);
    clock.advance(HOUR_MS);
    await chat(2_000);
    await chat(null);
  });
  afterAll(async () => {
    await gateway.stop();
    vendor.stop();
  });

  /** Requests an answer that takes some milliseconds; null: one that fails. */
  async function chat(ms: number | null): Promise<void> {
    vendor.perform((call) => {
      if (ms === null) return call.respond(400, { error: { message: "no such thing" } });
      clock.advance(ms);
      return call.respond(200, documentOf("Hello!"));
    });
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "mine/chat", messages: [{ role: "user", content: "Hello!" }] }),
    });
    expect(response.status).toBe(ms === null ? 400 : 200);
    await response.text();
  }

  const usage = (query: string) => callAdmin(gateway, gateway.adminKey, "GET", `/usage?${query}`);

  test("has a line for each hour with requests, and is of the last 24 hours by default", async () => {
    const { body, rows } = await usage("group_by=hour");
    expect([body["from"], body["to"]]).toEqual(["2027-01-30T23:00:00.000Z", "2027-01-31T23:00:00.000Z"]);
    expect(rows).toMatchObject([
      { hour: "2027-01-31T21:00:00.000Z", requests: 3, errors: 0 },
      { hour: "2027-01-31T22:00:00.000Z", requests: 2, errors: 1 },
    ]);
  });

  test("is restricted to hours, of which the last is not included", async () => {
    const range = "from=2027-01-31T22:00:00Z&to=2027-01-31T23:00:00Z";
    expect((await usage(`group_by=model&${range}`)).rows).toMatchObject([
      { model: "mine/chat", requests: 2 },
    ]);
    const india = encodeURIComponent("2027-02-01T03:30:00+05:30");
    expect((await usage(`group_by=hour&from=2027-01-31&to=${india}`)).rows).toHaveLength(1);
  });

  test("has lines for up to three groups, with failures by their error", async () => {
    const { rows } = await usage("group_by=hour,provider,outcome");
    const found = rows.map(({ hour, provider, outcome, requests }) => [hour, provider, outcome, requests]);
    expect(found).toEqual([
      ["2027-01-31T21:00:00.000Z", "mine", "completed", 3],
      ["2027-01-31T22:00:00.000Z", "mine", "completed", 1],
      ["2027-01-31T22:00:00.000Z", "mine", "invalid_request", 1],
    ]);
  });

  test("has percentiles of the time to the first token and of the duration, also in CSV", async () => {
    const { rows } = await usage("group_by=hour,outcome");
    const [first, , failed] = rows;
    // The middles of the buckets of 2 and of 8 seconds.
    expect(first?.["latency_ms"]).toEqual({ p50: 2_153, p90: 8_611, p99: 8_611 });
    expect(first?.["duration_ms"]).toEqual({ p50: 2_153, p90: 8_611, p99: 8_611 });
    expect([failed?.["latency_ms"], failed?.["duration_ms"]]).toEqual([null, null]);
    const answer = await fetch(`${gateway.url}/api/admin/usage?group_by=hour,outcome&format=csv`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    expect(answer.headers.get("content-disposition")).toContain(
      'filename="usage-by-hour-and-outcome-2027-01-30T230000.000Z-2027-01-31T230000.000Z.csv"',
    );
    const [heading, line, , last] = (await answer.text()).split("\r\n");
    expect(heading).toStartWith("hour,outcome,requests");
    expect(heading).toEndWith(
      "latency_ms_p50,latency_ms_p90,latency_ms_p99,duration_ms_p50,duration_ms_p90,duration_ms_p99,cache_saved,answers_saved,provider_cost,margin",
    );
    expect(line).toContain(",2153,8611,8611,2153,8611,8611,");
    expect(last).toContain(",,,,,,");
  });

  test("has the days of a time zone, also as CSV", async () => {
    const days = async (query: string) => {
      const { body, rows } = await usage(`group_by=day&${query}`);
      const lines = rows.map(({ day, requests }) => `${day} ${requests}`);
      return [body["from"], body["to"], body["timezone"], body["days_are_exact"], ...lines];
    };
    const range = "from=2027-01-31&to=2027-02-01";
    expect(await days(range)).toEqual(["2027-01-31", "2027-02-01", "UTC", true, "2027-01-31 5"]);
    // The requests of 21 o'clock are of the 31st in Berlin as well, those of 22 o'clock in Athens are not.
    expect(await days(`${range}&timezone=Europe/Athens`)).toEqual([
      ...["2027-01-31", "2027-02-01", "Europe/Athens", true],
      ...["2027-01-31 3", "2027-02-01 2"],
    ]);
    expect(await days("from=2027-02-01&to=2027-02-01&timezone=Europe/Athens")).toContain("2027-02-01 2");
    // Half an hour is not stored: the hours that begin at 21 and 22 o'clock in UTC begin on the 1st in India.
    expect(await days(`${range}&timezone=Asia/Kolkata`)).toEqual([
      ...["2027-01-31", "2027-02-01", "Asia/Kolkata", false],
      "2027-02-01 5",
    ]);
    const csv = await fetch(
      `${gateway.url}/api/admin/usage?group_by=day&${range}&timezone=Europe/Athens&format=csv`,
      { headers: { authorization: `Bearer ${gateway.adminKey}` } },
    );
    expect(csv.headers.get("x-gateway-warning")).toBeNull();
    expect((await csv.text()).split("\r\n").slice(1, 3)).toEqual([
      expect.stringMatching(/^2027-01-31,3,/),
      expect.stringMatching(/^2027-02-01,2,/),
    ]);
    const unknown = await usage("timezone=Nowhere");
    expect(unknown.status).toBe(400);
    expect(unknown.body["error"]).toMatchObject({ metadata: { field: "timezone" } });
  });

  test("is merged into days once it is older than storage.hourly_usage_days", async () => {
    clock.advance(2 * DAY_MS);
    await chat(100);
    const report = "from=2027-01-31&to=2027-02-28&group_by=";
    const before = (await usage(`${report}day,outcome`)).rows;
    // Hours are merged once an hour, by a timer.
    for (let minutes = 0; minutes < 61; minutes++) clock.advance(HOUR_MS / 60);
    await usage("group_by=day");
    const byHour = async () =>
      (await usage(`${report}hour`)).rows.map(({ hour, requests }) => [hour, requests]);
    for (let turn = 0; turn < 20 && (await byHour()).length > 2; turn++) clock.advance(200);
    expect(await byHour()).toEqual([
      [null, 5],
      ["2027-02-02T22:00:00.000Z", 1],
    ]);
    expect((await usage(`${report}day,outcome`)).rows).toEqual(before);
  });

  test("counts a day whose hours are no longer stored for the same date of a time zone, and says so", async () => {
    const of = async (query: string) => {
      const { body, rows } = await usage(`group_by=day&timezone=Europe/Athens&${query}`);
      return [body["days_are_exact"], ...rows.map(({ day, requests }) => `${day} ${requests}`)];
    };
    expect(await of("from=2027-01-31&to=2027-02-28")).toEqual([false, "2027-01-31 5", "2027-02-03 1"]);
    expect(await of("from=2027-01-31&to=2027-01-31")).toEqual([false, "2027-01-31 5"]);
    expect(await of("from=2027-02-02&to=2027-02-28")).toEqual([true, "2027-02-03 1"]);
    const csv = await fetch(
      `${gateway.url}/api/admin/usage?timezone=Europe/Athens&from=2027-01-31&to=2027-02-28&format=csv`,
      { headers: { authorization: `Bearer ${gateway.adminKey}` } },
    );
    expect(csv.headers.get("x-gateway-warning")).toContain("days of UTC");
  });
});
