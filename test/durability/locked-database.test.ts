import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { IS_LONG_RUN, RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

const messages = [{ role: "user", content: "Hello!" }];

let clock: TestClock;
let gateway: TestGateway;
let elsewhere: Database;

beforeEach(async () => {
  clock = createTestClock();
  gateway = await startTestGateway({ clock });
  elsewhere = openGatewayDatabase(gateway.dataDir);
  // The writer's lock, as of a backup or a command that does not end.
  elsewhere.exec("BEGIN IMMEDIATE");
});
afterEach(async () => {
  if (elsewhere.inTransaction) elsewhere.exec("ROLLBACK");
  elsewhere.close();
  await gateway.stop();
});

function createUser(): Promise<Response> {
  return fetch(`${gateway.url}/api/admin/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "new" }),
  });
}

/** Advances the clock while a request is in progress. */
async function pass(ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 100) {
    await turnEventLoop(3);
    clock.advance(100);
  }
  await turnEventLoop();
}

/** Waits until a request has reached the gateway. */
async function untilStarted(): Promise<void> {
  await (await fetch(`${gateway.url}/healthz`)).text();
  await turnEventLoop();
}

test.skipIf(!RUNS_SLOW_TESTS)(
  "requests are answered while another process locks the database, and their records are saved afterwards",
  async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const response = await postChat(gateway, { model: "sandbox/echo", messages });
      expect(response.status).toBe(200);
      await response.text();
      ids.push(response.headers.get("x-gateway-generation-id") as string);
      await pass(200);
    }
    await pass(6_000);
    expect(await (await fetch(`${gateway.url}/readyz`)).text()).toContain(
      "The store does not accept records; 3 wait",
    );
    elsewhere.exec("ROLLBACK");
    await pass(7_000);
    expect(await (await fetch(`${gateway.url}/readyz`)).json()).toEqual({ status: "ready" });
    const saved = elsewhere.query("SELECT id FROM generations ORDER BY id").all() as { id: string }[];
    expect(saved.map(({ id }) => id)).toEqual([...ids].sort());
  },
);

test("a management call waits while another process locks the database, without blocking other requests", async () => {
  const creating = createUser();
  await untilStarted();
  await pass(1_000);
  elsewhere.exec("ROLLBACK");
  await pass(200);
  expect((await creating).status).toBe(201);
});

test.skipIf(!IS_LONG_RUN)(
  "a management call is a 503 with Retry-After if another process locks the database for more than five seconds",
  async () => {
    const creating = createUser();
    await untilStarted();
    await pass(10_000);
    const response = await creating;
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    // The rejected call is recorded when the database can be changed again, which the end of the gateway waits for.
    elsewhere.exec("ROLLBACK");
    await pass(7_000);
  },
);
