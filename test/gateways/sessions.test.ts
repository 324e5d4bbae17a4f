import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  CREDITS,
  expectExactBooks,
  expectOwnSignatures,
  expectWholeChain,
  expectWholeHistories,
} from "../sessions/check-session.ts";
import { runSession, type Session, TURNS } from "../sessions/run-session.ts";
import { createHttpClient, createSocketClient } from "../sessions/session-clients.ts";
import { type SessionVendors, startSessionVendors } from "../sessions/session-vendors.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../support/databases/redis.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { createAccountTools } from "../support/gateway/management.ts";
import { manage } from "../support/money.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Failures of the start of a server are no failures of the test. */
const START_MS = 90_000;
const NAMES = ["first", "second", "third"];
/** The turn before which the second gateway stops, and the one before which it starts again. */
const [STOPPED_AT, STARTED_AT] = [8, 14];
const CLIENTS = { HTTP: createHttpClient, WebSockets: createSocketClient };

describe.skipIf(POSTGRES_BIN === null || REDIS_SERVER === null).each(Object.entries(CLIENTS))(
  "a session of twenty turns over %s of three gateways, of which one stops and starts again",
  (_way, createClient) => {
    let database: TestPostgres;
    let redis: TestRedis;
    let vendors: SessionVendors;
    let shared: SharedGateways;
    let first: TestGateway;
    let account: string;
    let key: string;
    let session: Session;
    const asked = new Map<string, number>();

    beforeAll(async () => {
      [database, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
      vendors = startSessionVendors();
      shared = shareDatabase(await database.createMigratedDatabase());
      // Only kept responses bring back what vendors require.
      const options = {
        yaml: `${vendors.yaml}limits: {turn_memory_bytes: 0}\n`,
        environment: { REDIS_URL: redis.url },
        repeats: 0,
      };
      const running = new Map<string, TestGateway>();
      for (const name of NAMES) running.set(name, await shared.start(name, options));
      first = running.get("first") as TestGateway;
      const tools = createAccountTools(first);
      account = await tools.user();
      key = await tools.key(account);
      await manage(first, `/accounts/${account}/credits`, { amount: CREDITS / 1e9 });
      const client = createClient(key);
      session = await runSession(client, vendors, async (turn) => {
        if (turn === STOPPED_AT && running.delete("second")) await shared.stop("second");
        if (turn === STARTED_AT && !running.has("second"))
          running.set("second", await shared.start("second", options));
        const [name, gateway] = [...running][turn % running.size] as [string, TestGateway];
        asked.set(name, (asked.get(name) ?? 0) + 1);
        return gateway;
      });
      await client.close();
    }, START_MS);
    afterAll(async () => {
      await shared?.clear();
      vendors?.stop();
      await redis?.remove();
      await database?.remove();
    }, START_MS);

    test("reaches each gateway in several turns", () => {
      expect(session.responses).toHaveLength(TURNS.length);
      for (const name of NAMES) expect(asked.get(name)).toBeGreaterThan(3);
    });

    test("gives each vendor the whole conversation in its order, with all calls and results", () => {
      expectWholeHistories(session, vendors);
    });

    test("gives each vendor its own signatures and encrypted reasoning back, byte for byte", () => {
      expectOwnSignatures(vendors);
    });

    test("has one record for each response, and is charged what the vendors billed", async () => {
      await expectExactBooks(first, session, vendors, account);
    });

    test("is kept with each turn once, and read from another gateway than the last", async () => {
      await expectWholeChain(first, key, session);
    });
  },
);
