import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { fetchGeneration, makeSite, postChatTo, type Site } from "../support/gateway/gateway-process.ts";
import { IS_LONG_RUN, RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { findFreePort } from "../support/servers/free-port.ts";
import { startTcpProxy, type TcpProxy } from "../support/servers/tcp-proxy.ts";

const messages = [{ role: "user", content: "Hello!" }];
const TEST_MS = 120_000;
/** How long a database is away from the first attempt to connect on. */
const AWAY_MS = 3_000;

let site: Site | null = null;
afterEach(() => site?.remove());

test.skipIf(!RUNS_SLOW_TESTS)(
  "a start without the database waits for the configured time, says so, and ends with exit code 1 and the reason",
  async () => {
    const url = `postgres://gateway:secret@127.0.0.1:${await findFreePort()}/gateway`;
    site = makeSite(`database: {url: "${url}", start_wait_ms: 2500}`);
    const { exitCode, printed } = await site.startExpectingFailure();
    expect(exitCode).toBe(1);
    expect(printed).toContain('"message":"waiting for the database"');
    expect(printed).toMatch(/the database .*127\.0\.0\.1.* cannot be used/);
    expect(printed).not.toContain("secret");
    expect(printed).not.toContain("    at ");
  },
);

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)("a gateway whose database goes away", () => {
  let server: TestPostgres;
  let proxy: TcpProxy;
  /** Until when connections find no server. Milliseconds of `performance.now`. */
  let awayUntil = 0;

  beforeAll(async () => {
    server = await startTestPostgres();
    proxy = await startTcpProxy(() => (isAway() ? [] : [server.port]));
  });
  afterAll(async () => {
    proxy.stop();
    await server.remove();
  });

  /** If `awayUntil` is infinite, the time begins with the first connection. */
  function isAway(): boolean {
    const now = performance.now();
    if (awayUntil === Number.POSITIVE_INFINITY) awayUntil = now + AWAY_MS;
    return now < awayUntil;
  }

  async function makeDatabaseSite(): Promise<Site> {
    const url = new URL(await server.createDatabase());
    url.port = String(proxy.port);
    site = makeSite(`database: {url: "${url.href}", start_wait_ms: 60000}\nserver: {drain_notice_ms: 0}`);
    return site;
  }

  test(
    "waits for it at its start, also for a new database, and serves once it is there",
    async () => {
      awayUntil = Number.POSITIVE_INFINITY;
      const gateway = await (await makeDatabaseSite()).start();
      expect(gateway.printed()).toContain("waiting for the database");
      expect((await postChatTo(gateway, { model: "sandbox/echo", messages })).status).toBe(200);
      expect(await gateway.terminate()).toBe(0);
    },
    TEST_MS,
  );

  test.each([
    ["refuses connections", () => proxy.cut()],
    ["does not answer", () => proxy.stall()],
  ])(
    "stops with exit code 0 while it %s, and the next start saves the records from the journal",
    async (_how, takeAway) => {
      const place = await makeDatabaseSite();
      const gateway = await place.start();
      const chat = () => postChatTo(gateway, { model: "sandbox/echo", messages });
      const response = await eventually("an answer while the database is away", async () => {
        await (await chat()).text();
        takeAway();
        await eventually("the gateway to notice", async () =>
          (await (await fetch(`${gateway.url}/readyz`)).text()).includes("has not been read"),
        );
        const answer = await chat();
        await answer.text();
        if (answer.status === 200) return answer;
        // The gateway has noticed in between that its own start has created the key, and must read it again.
        proxy.heal();
        return null;
      });
      const id = response.headers.get("x-gateway-generation-id") as string;
      expect(await gateway.terminate()).toBe(0);
      expect(gateway.printed()).toContain("the journal keeps them for the next start");
      expect(place.journalFiles()).not.toEqual([]);
      proxy.heal();
      const next = await place.start(gateway.key);
      expect(await fetchGeneration(next, id)).toMatchObject({ outcome: "completed" });
      expect(await next.terminate()).toBe(0);
      expect(place.journalFiles()).toEqual([]);
    },
    TEST_MS,
  );
});
