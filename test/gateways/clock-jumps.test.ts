import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Clock, systemClock } from "../../src/base/time/clock.ts";
import { createSteadyTime } from "../../src/base/time/steady-time.ts";
import { HOUR_MS } from "../../src/base/time/time.ts";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";
import { postRawChat } from "../support/clients/raw-client.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { findLedgerProblems } from "../support/money.ts";
import { closing, healthy, opening, startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Starts of servers, and gateways that get to know each other. */
const SLOW_MS = 60_000;
/** The cost of a complete answer of the vendor. Nanodollars. */
const COST = 20_000;
/** What must be left for a request, because an answer may be longer than it is asked to be. Nanodollars. */
const NEEDED = 514_000;
const CREDITS = 60 * COST;
const CHAT = { model: "acme/model", max_tokens: 5, messages: [{ role: "user", content: "Hello!" }] };
const PER_MINUTE = 10;
/** More than the window of a limit or a cooldown, also for a clock that runs slower. Milliseconds. */
const WINDOW_MS = 70_000;

/** A machine whose clock is set while it runs. Its timers are real. */
function createMachine() {
  let set = 0;
  let passed = 0;
  const now = createSteadyTime(
    () => Date.now() + set + passed,
    () => performance.now() + passed,
  );
  const clock: Clock = { ...systemClock, now };
  return {
    clock,
    setClock(byMs: number) {
      set += byMs;
      // A running gateway reads its clock many times a second.
      now();
    },
    pass(ms: number) {
      passed += ms;
    },
  };
}

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)(
  "the clock of one of two gateways on one database",
  () => {
    let server: TestPostgres;
    let vendor: Vendor;
    let database: Postgres;
    let shared: SharedGateways;
    let machine: ReturnType<typeof createMachine>;
    /** Its clock is right. */
    let a: TestGateway;
    /** Its clock jumps. */
    let b: TestGateway;

    beforeAll(async () => {
      server = await startTestPostgres();
      vendor = startVendor();
    }, SLOW_MS);
    afterAll(async () => {
      vendor.stop();
      await server.remove();
    });
    beforeEach(async () => {
      const url = await server.createMigratedDatabase();
      vendor.perform(healthy("Alpha"));
      database = openTestPostgres(url);
      shared = shareDatabase(url);
      machine = createMachine();
      const models = [{ id: CHAT.model, prices: { prompt: "0.000001", completion: "0.000002" } }];
      const providers = { vendor: { base_url: vendor.baseUrl, api_keys: ["sk-vendor-0123456789"], models } };
      const storage = { max_staleness_ms: HOUR_MS };
      const yaml = JSON.stringify({ limits: { attempts: 1 }, storage, providers });
      a = await shared.start("a", { yaml });
      b = await shared.start("b", { yaml, clock: machine.clock });
    }, SLOW_MS);
    afterEach(async () => {
      await shared.clear();
      await database.close();
    });

    async function ask(gateway: TestGateway, key: string): Promise<number> {
      const response = await postChat({ ...gateway, key }, CHAT);
      await response.arrayBuffer();
      return response.status;
    }

    /** Sends requests to gateways in turn and returns how many each status had. */
    async function askAll(gateways: readonly TestGateway[], key: string, requests: number) {
      const counts: Record<number, number> = {};
      for (let turn = 0; turn < requests; turn++) {
        const status = await ask(gateways[turn % gateways.length] as TestGateway, key);
        counts[status] = (counts[status] ?? 0) + 1;
      }
      return counts;
    }

    /** Creates a key of an account with credits for 60 answers. */
    async function addPayer(): Promise<{ readonly user: string; readonly key: string }> {
      const tools = createAccountTools(a);
      const user = await tools.user();
      await callAdmin(a, a.adminKey, "POST", `/accounts/${user}/credits`, { amount: CREDITS / 1e9 });
      return { user, key: await tools.key(user) };
    }

    /** Creates a key with a limit of requests per minute, of which each gateway admits its half. */
    async function addLimited(): Promise<string> {
      const make = () =>
        createAccountTools(a).key("acct_default", { rate_limit: { requests_per_minute: PER_MINUTE } });
      for (const gateway of [a, b])
        await eventually("both gateways to have counted each other", async () => {
          const counts = await askAll([gateway], await make(), PER_MINUTE);
          return counts[200] === PER_MINUTE / 2;
        });
      return make();
    }

    async function readBalance(user: string) {
      const [row] = await database.run<{ amount: string; leased: string }>(
        "SELECT amount, leased FROM balances WHERE account_id = $1",
        [user],
      );
      return { amount: Number(row?.amount), leased: Number(row?.leased) };
    }

    /** Sends requests to both gateways until both answer that nothing is left. Returns how many were answered. */
    async function spendAll(key: string): Promise<number> {
      let answered = 0;
      await eventually("the end of the credits", async () => {
        const counts = await askAll([a, b], key, 2);
        expect(Object.keys(counts).filter((status) => status !== "200" && status !== "402")).toEqual([]);
        answered += counts[200] ?? 0;
        return counts[402] === 2;
      });
      return answered;
    }

    for (const [how, jumpMs] of [
      ["forward", HOUR_MS],
      ["back", -HOUR_MS],
    ] as const) {
      test(
        `is set ${how} by an hour: requests are answered after the next poll at the latest, and all credits can be spent once`,
        async () => {
          const { user, key } = await addPayer();
          expect(await askAll([a, b], key, 10)).toEqual({ 200: 10 });
          machine.setClock(jumpMs);
          await eventually("an answer of the gateway", async () => {
            const status = await ask(b, a.key);
            expect([200, 503]).toContain(status);
            return status === 200;
          });
          expect(await askAll([a, b], key, 10)).toEqual({ 200: 10 });
          const answered = 20 + (await spendAll(key));
          await Promise.all([a.stop(), b.stop()]);
          const spent = answered * COST;
          expect(await readBalance(user)).toEqual({ amount: CREDITS - spent, leased: 0 });
          expect(spent).toBeLessThanOrEqual(CREDITS);
          expect(CREDITS - spent).toBeLessThan(NEEDED);
        },
        SLOW_MS,
      );

      test(
        `is set ${how} by an hour: a minute later it admits its half of a rate limit again, and calls a vendor that asked for a pause`,
        async () => {
          const limited = await addLimited();
          expect((await askAll([a, b], limited, 2 * PER_MINUTE + 2))[200]).toBe(PER_MINUTE);
          vendor.perform((call) =>
            call.respond(429, { error: { message: "slow down" } }, { "retry-after": "20" }),
          );
          expect(await ask(b, b.key)).toBe(429);
          vendor.perform(healthy("Alpha"));
          machine.setClock(jumpMs);
          machine.pass(WINDOW_MS);
          await eventually("an answer of the gateway", async () => (await ask(b, b.key)) === 200);
          expect(await askAll([b], limited, PER_MINUTE)).toEqual({
            200: PER_MINUTE / 2,
            429: PER_MINUTE / 2,
          });
        },
        SLOW_MS,
      );
    }

    test(
      "is set back by an hour: a stream that runs is completed and charged once",
      async () => {
        const { user, key } = await addPayer();
        vendor.perform(async (call) => {
          await call.begin();
          await call.events(...opening("Alpha"));
          await call.gate();
          await call.events(...closing());
          await call.end();
        });
        const client = await postRawChat({ ...b, key }, { ...CHAT, stream: true });
        await client.waitForText("Alpha");
        machine.setClock(-HOUR_MS);
        (await vendor.call(0)).openGate();
        await client.waitForText("[DONE]");
        await eventually("the charge", async () => (await readBalance(user)).amount === CREDITS - COST);
        expect(await findLedgerProblems(a)).toEqual([]);
      },
      SLOW_MS,
    );
  },
);
