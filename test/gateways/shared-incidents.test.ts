import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { postChat, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

const CHAT = { model: "acme/model", messages: [{ role: "user", content: "Hi" }] };

describe.skipIf(POSTGRES_BIN === null)("two gateways on one database whose provider fails", () => {
  let server: TestPostgres;
  let vendor: Vendor;
  let shared: SharedGateways;
  let clock: TestClock;
  let a: TestGateway;
  let b: TestGateway;

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    vendor = startVendor(healthy("Hi"));
    clock = createTestClock(Date.UTC(2026, 10, 30));
    shared = shareDatabase(await server.createMigratedDatabase());
    const options = {
      clock,
      yaml: JSON.stringify({
        providers: {
          acme: {
            base_url: vendor.baseUrl,
            api_keys: ["sk-acme-0123456789"],
            models: [
              { id: "acme/model", name: "up", prices: { prompt: "0.000001", completion: "0.000001" } },
            ],
          },
        },
      }),
    };
    a = await shared.start("a", options);
    b = await shared.start("b", options);
  });
  afterEach(async () => {
    await shared.clear();
    vendor.stop();
  });

  async function ask(gateway: TestGateway, times = 1): Promise<void> {
    for (let count = 0; count < times; count++) await (await postChat(gateway, CHAT)).text();
  }

  async function read(gateway: TestGateway, path: string) {
    return (await callAdmin(gateway, gateway.adminKey, "GET", path)).rows;
  }

  test("see one incident together, which lasts until both see the provider answer again", async () => {
    await ask(a);
    vendor.perform((call) => call.respond(500, { error: { message: "broken" } }));
    await ask(a, 5);
    await ask(b, 5);
    await read(b, "/incidents");
    const [incident, ...others] = await read(a, "/incidents");
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ provider: "acme", ended_at: null, failed_requests: 10 });
    const failed = Number(incident?.["failed_attempts"]);
    await read(b, "/health/history");
    expect(await read(a, "/health/history")).toMatchObject([
      { provider: "acme", total: { attempts: failed + 1, succeeded: 1, failed } },
    ]);
    vendor.perform(healthy("Hi"));
    clock.advance(10_000);
    await turnEventLoop(50);
    await ask(a, 2);
    expect(await read(a, "/incidents?state=open")).toHaveLength(1);
    await ask(b, 2);
    await read(b, "/incidents");
    expect(await read(a, "/incidents")).toMatchObject([{ id: incident?.id, ended_by: "recovered" }]);
  });

  test("end the incident of one of them that has stopped, with its last report", async () => {
    vendor.perform((call) => call.respond(500, { error: { message: "broken" } }));
    await ask(a, 5);
    expect(await read(a, "/incidents?state=open")).toHaveLength(1);
    await shared.stop("a");
    expect(await read(b, "/incidents?state=open")).toHaveLength(1);
    await waitFor(async () => {
      clock.advance(2_000);
      await turnEventLoop(5);
      return (await read(b, "/incidents?state=open")).length === 0 ? true : null;
    });
    expect(await read(b, "/incidents")).toMatchObject([
      { ended_by: "unobserved", ended_at: "2026-11-30T00:00:00.000Z" },
    ]);
  });
});
