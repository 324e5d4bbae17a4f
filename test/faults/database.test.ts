import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { findFreePort } from "../support/servers/free-port.ts";
import { type OutageSite, startOutageSite } from "../support/vendors/outage-site.ts";

/** What happens to the database, and what ends it. */
interface Outage {
  readonly name: string;
  begin(site: OutageSite): Promise<void> | void;
  end(site: OutageSite): Promise<void> | void;
}

const TEST_MS = 120_000;

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)("while the database", () => {
  let server: TestPostgres;
  let site: OutageSite;

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    site = await startOutageSite(server, await server.createMigratedDatabase());
    await site.serve(5);
    site.takeStatuses();
  });
  afterEach(() => site.stop());

  const unreachable: readonly Outage[] = [
    { name: "is killed", begin: () => server.kill(), end: () => server.start() },
    { name: "is paused", begin: () => server.pause(), end: () => server.resume() },
    { name: "refuses connections", begin: ({ proxy }) => proxy.cut(), end: ({ proxy }) => proxy.heal() },
    {
      name: "is behind a network that drops packets",
      begin: ({ proxy }) => proxy.stall(),
      end: ({ proxy }) => proxy.heal(),
    },
    {
      name: "fails over to another address",
      begin: () => server.kill(),
      end: async () => server.start(await findFreePort()),
    },
  ];

  test.each(unreachable)(
    "$name, known keys are served, all else is a 503 with Retry-After, and each record is saved once afterwards",
    async ({ begin, end }) => {
      await begin(site);
      const readiness = await site.untilReady("degraded");
      expect(readiness).toContain("The store");
      await site.serve(20);
      expect([...site.takeStatuses().keys()]).toEqual([200]);
      for (const rejected of [await site.manages(), await callWith(site, site.unusedKey)])
        expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([503, "5"]);
      await end(site);
      await site.untilReady("ready");
      await site.serve(5);
      // Valid all the time, but not known before.
      expect((await callWith(site, site.unusedKey)).status).toBe(404);
      expect([...site.takeStatuses().keys()]).toEqual([200]);
      expect(await site.checkBooks()).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "is read-only, known keys are served, changes are a 503 with Retry-After, and each record is saved once afterwards",
    async () => {
      await setReadOnly(site.url(), true);
      await site.untilReady("degraded");
      await site.serve(20);
      expect([...site.takeStatuses().keys()]).toEqual([200]);
      const managed = await site.manages();
      expect([managed.status, managed.headers.get("retry-after")]).toEqual([503, "5"]);
      await setReadOnly(site.url(), false);
      await site.untilReady("ready");
      expect(await site.checkBooks()).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "answers slowly, all keys are served, and each record is saved once",
    async () => {
      site.proxy.delay(200);
      await site.serve(50);
      expect([...site.takeStatuses().keys()]).toEqual([200]);
      expect((await site.manages()).status).toBe(201);
      site.proxy.heal();
      expect(await site.checkBooks()).toEqual([]);
    },
    TEST_MS,
  );
});

test.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)(
  "after storage.max_staleness_ms without the database, known keys are a 503 with Retry-After, and valid again at once when it is back",
  async () => {
    const server = await startTestPostgres();
    const url = await server.createMigratedDatabase();
    const site = await startOutageSite(server, url, { yaml: "storage: {max_staleness_ms: 4000}" });
    await site.serve(5);
    site.proxy.cut();
    await site.untilReady("degraded");
    await eventually("the gateway to be unready", async () => {
      const ready = await fetch(`${site.gateway.url}/readyz`);
      return ready.status === 503 && (await ready.text()).includes("requests with a key are rejected");
    });
    // The requests that began before.
    await site.serve(1);
    site.takeStatuses();
    await site.serve(5);
    expect([...site.takeStatuses().keys()]).toEqual([503]);
    site.proxy.heal();
    await site.untilReady("ready");
    await site.serve(1);
    site.takeStatuses();
    await site.serve(5);
    expect([...site.takeStatuses().keys()]).toEqual([200]);
    expect(await site.checkBooks()).toEqual([]);
    await site.stop();
    await server.remove();
  },
  TEST_MS,
);

/** Asks for a generation that does not exist, which is a 404 for every valid key. */
function callWith({ gateway }: OutageSite, key: string): Promise<Response> {
  return fetch(`${gateway.base}/generation?id=gen_none`, { headers: { authorization: `Bearer ${key}` } });
}

/** Makes a database reject changes, or accept them again, on connections that begin after it. Ends the others. */
async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  const name = new URL(url).pathname.slice(1);
  try {
    await sql.unsafe("SET default_transaction_read_only = off");
    await sql.unsafe(
      `ALTER DATABASE ${name} SET default_transaction_read_only = ${isReadOnly ? "on" : "off"}`,
    );
    await sql.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
  } finally {
    await sql.close({ timeout: 0 });
  }
}
