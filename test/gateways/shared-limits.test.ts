import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../support/databases/redis.ts";
import { eventually } from "../support/eventually.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { createAccountTools } from "../support/gateway/management.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { documentOf, healthy, type Play, startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Starts of servers, and gateways that get to know each other at their renewals. */
const SLOW_MS = 90_000;
const MODEL = "mine/chat";

/** What is reserved for the answer to a request without a bound, as long as its key has used nothing. */
const HOLD_TOKENS = 900;

const yamlFor = (vendorUrl: string) => `
limits: { attempts: 1, repeats: 0, hold_tokens: ${HOLD_TOKENS} }
providers:
  mine:
    base_url: ${vendorUrl}
    api_keys: [vendor-key]
    models: [{ id: ${MODEL}, prices: { prompt: "0", completion: "0" } }]
`;

/** Returns one gateway after the other. */
function alternate(gateways: readonly TestGateway[], turn: number): TestGateway {
  return gateways[turn % gateways.length] as TestGateway;
}

const readiness = async (gateway: TestGateway) => {
  const response = await fetch(`${gateway.url}/readyz`);
  const body = (await response.json()) as { status?: string; problems?: readonly string[] };
  return { code: response.status, status: body.status, problems: (body.problems ?? []).join(" ") };
};

/** Waits until all gateways report a status, and the problem it has. */
function untilAll(gateways: readonly TestGateway[], status: string, problem = "") {
  return eventually(
    `all gateways are ${status}`,
    async () => {
      const all = await Promise.all(gateways.map(readiness));
      return all.every((one) => one.status === status && one.problems.includes(problem)) ? all : null;
    },
    SLOW_MS,
  );
}

/** Answers with as many tokens as were asked for, or as are expected, once a gate is open. */
const answerWhole: Play = async (call) => {
  await call.gate();
  const completion_tokens = Number(call.body["max_tokens"] ?? HOLD_TOKENS);
  await call.respond(
    200,
    documentOf("word ".repeat(completion_tokens), { usage: { prompt_tokens: 3, completion_tokens } }),
  );
};

/**
 * Sends requests to the gateways in turn. Each answer has `tokens` tokens; a bounded request states them as its bound. No request is
 * answered before all were admitted or rejected. Returns the tokens that were used.
 */
async function useAtOnce(
  { gateways, vendor }: { readonly gateways: readonly TestGateway[]; readonly vendor: Vendor },
  key: string,
  load: { readonly requests: number; readonly tokens: number; readonly isBounded?: boolean },
): Promise<number> {
  const { requests, tokens, isBounded = true } = load;
  vendor.perform(answerWhole);
  const before = vendor.calls.length;
  let rejected = 0;
  const answers = Array.from({ length: requests }, async (_, turn) => {
    const status = await chat(alternate(gateways, turn), key, isBounded ? tokens : null);
    if (status === 429) rejected += 1;
    return status;
  });
  await eventually("all have been decided", () => vendor.calls.length - before + rejected === requests);
  for (const call of vendor.calls.slice(before)) call.openGate();
  const statuses = await Promise.all(answers);
  vendor.perform(healthy("Alpha"));
  return statuses.filter((status) => status === 200).length * tokens;
}

async function chat(gateway: TestGateway, key: string, maxTokens: number | null = 5): Promise<number> {
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: MODEL,
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
      messages: [{ role: "user", content: "Hello!" }],
    }),
  });
  await response.text();
  return response.status;
}

/** Sends requests to the gateways in turn, several at a time, and returns how many of them were admitted. */
async function countAdmitted(
  gateways: readonly TestGateway[],
  key: string,
  requests: number,
): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: requests }, (_, turn) => chat(alternate(gateways, turn), key)),
  );
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
}

/** Creates a key with a rate limit. */
function addKey([gateway]: readonly TestGateway[], limit: Readonly<Record<string, number>>): Promise<string> {
  return createAccountTools(gateway as TestGateway).key("acct_default", { rate_limit: limit });
}

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)("three gateways without Redis", () => {
  let database: TestPostgres;
  let vendor: Vendor;
  let shared: SharedGateways;
  const gateways: TestGateway[] = [];

  beforeAll(async () => {
    database = await startTestPostgres();
    vendor = startVendor(healthy("Alpha"));
    shared = shareDatabase(await database.createDatabase());
    for (const folder of ["first", "second", "third"])
      gateways.push(await shared.start(folder, { yaml: yamlFor(vendor.baseUrl) }));
  }, SLOW_MS);
  afterAll(async () => {
    await shared?.clear();
    vendor?.stop();
    await database?.remove();
  }, SLOW_MS);

  test(
    "are ready when all have counted them, and admit together exactly the limits of a key",
    async () => {
      await untilAll(gateways, "ready");
      // Those that started first see the last one at their next renewal.
      await eventually(
        "all have the same number of gateways",
        async () =>
          (await countAdmitted(gateways, await addKey(gateways, { requests_per_minute: 10 }), 30)) === 10,
        SLOW_MS,
      );
      for (const limit of [1, 2, 11]) {
        const key = await addKey(gateways, { requests_per_minute: limit });
        expect(await countAdmitted(gateways, key, 3 * limit)).toBe(limit);
      }
    },
    SLOW_MS,
  );

  test(
    "use together no more than the tokens a minute of a key, whether 40 or 400 requests come at once",
    async () => {
      for (const requests of [40, 400]) {
        const key = await addKey(gateways, { tokens_per_minute: 60_000 });
        const used = await useAtOnce({ gateways, vendor }, key, { requests, tokens: 2_500 });
        expect(used).toBeLessThanOrEqual(60_000);
        expect(used).toBeGreaterThan(50_000);
      }
    },
    SLOW_MS,
  );
});

describe.skipIf(POSTGRES_BIN === null || REDIS_SERVER === null || !IS_LONG_RUN)(
  "three gateways with one Redis",
  () => {
    let database: TestPostgres;
    let redis: TestRedis;
    let vendor: Vendor;
    let shared: SharedGateways;
    let gateways: readonly TestGateway[];

    beforeAll(async () => {
      [database, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
      vendor = startVendor();
      shared = shareDatabase(await database.createDatabase());
      const options = { yaml: yamlFor(vendor.baseUrl), environment: { REDIS_URL: redis.url } };
      gateways = [
        await shared.start("first", options),
        await shared.start("second", options),
        await shared.start("third", options),
      ];
    }, SLOW_MS);
    afterAll(async () => {
      await shared?.clear();
      vendor?.stop();
      await redis?.remove();
      await database?.remove();
    }, SLOW_MS);
    beforeEach(() => vendor.perform(healthy("Alpha")));

    test("admit together exactly the requests per minute of a key", async () => {
      const key = await addKey(gateways, { requests_per_minute: 10 });
      expect(await countAdmitted(gateways, key, 30)).toBe(10);
    });

    test("use together no more than the tokens a minute of a key, whether 40 or 400 requests come at once", async () => {
      for (const requests of [40, 400]) {
        const key = await addKey(gateways, { tokens_per_minute: 20_000 });
        const used = await useAtOnce({ gateways, vendor }, key, { requests, tokens: 900 });
        expect(used).toBeLessThanOrEqual(20_000);
        expect(used).toBeGreaterThan(10_000);
      }
    });

    test("use together no more than the tokens a minute of a key if requests without a bound get answers as long as expected", async () => {
      const key = await addKey(gateways, { tokens_per_minute: 20_000 });
      const load = { requests: 40, tokens: HOLD_TOKENS, isBounded: false };
      const used = await useAtOnce({ gateways, vendor }, key, load);
      expect(used).toBeLessThanOrEqual(20_000);
      expect(used).toBeGreaterThan(10_000);
    });

    test("admit together exactly the requests per minute of an account whose keys each have more", async () => {
      const tools = createAccountTools(gateways[0] as TestGateway);
      const account = await tools.user("Limited", { rate_limit: { requests_per_minute: 10 } });
      const keys = [await tools.key(account), await tools.key(account)];
      const admitted = await Promise.all(keys.map((key) => countAdmitted(gateways, key, 15)));
      expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(10);
    });

    test("a Redis that is emptied renews no limit", async () => {
      const key = await addKey(gateways, { requests_per_minute: 12 });
      expect(await countAdmitted(gateways, key, 6)).toBe(6);
      await redis.command("FLUSHALL");
      // A gateway notices an empty server within a second.
      await eventually("all counts are back", async () => (await remaining(key)) === 6);
      expect(await countAdmitted(gateways, key, 20)).toBe(6);
    });

    /** Returns how many requests of this minute a key has left. */
    async function remaining(key: string): Promise<number> {
      // A request for a model that does not exist counts for nothing, and its answer says what is left.
      const response = await fetch(`${(gateways[0] as TestGateway).base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "mine/none", messages: [{ role: "user", content: "Hello!" }] }),
      });
      await response.text();
      return Number(response.headers.get("x-ratelimit-remaining-requests"));
    }

    test(
      "a Redis whose user may not run scripts, and one that is full, are named in readyz with what to do",
      async () => {
        for (const [commands, remedy] of [
          [["ACL", "SETUSER", "default", "-eval", "-evalsha"], "+eval +evalsha"],
          [["CONFIG", "SET", "maxmemory", "1"], "raise its maxmemory"],
        ] as const) {
          const [command, ...values] = commands;
          await redis.command(command, ...values);
          await redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
          await redis.command("SCRIPT", "FLUSH");
          await eventually(
            "the problem is named",
            async () => {
              const key = await addKey(gateways, { requests_per_minute: 1_000 });
              await countAdmitted(gateways, key, 10);
              return (await readiness(gateways[0] as TestGateway)).problems.includes(remedy);
            },
            SLOW_MS,
          );
          await redis.command("ACL", "SETUSER", "default", "+@all");
          await redis.command("CONFIG", "SET", "maxmemory", "0");
          await untilAll(gateways, "ready");
        }
      },
      SLOW_MS,
    );

    test("admit together exactly the concurrent requests of a key, and more when some have ended", async () => {
      const key = await addKey(gateways, { concurrent: 3 });
      vendor.perform(async (call) => {
        await call.gate();
        await call.respond(200, documentOf("Alpha"));
      });
      const answers = Array.from({ length: 8 }, (_, turn) => chat(alternate(gateways, turn), key));
      const rejected = new Set<number>();
      answers.forEach((answer, at) => void answer.then((status) => status === 429 && rejected.add(at)));
      await eventually(
        "three are at the vendor, and the others are rejected",
        () => vendor.calls.length === 3 && rejected.size === 5,
      );
      for (const call of vendor.calls) call.openGate();
      const statuses = await Promise.all(answers);
      expect(statuses.filter((status) => status === 200)).toHaveLength(3);
      vendor.perform(healthy("Alpha"));
      await eventually(
        "the ended requests no longer count",
        async () => (await countAdmitted(gateways, key, 1)) === 1,
      );
    });

    test(
      "while Redis is killed they admit their shares and say so, and when it is back, without its data, they count together again",
      async () => {
        const key = await addKey(gateways, { requests_per_minute: 12 });
        expect(await countAdmitted(gateways, key, 4)).toBe(4);
        const log = (gateways[0] as TestGateway).log.length;
        await redis.kill();
        await untilAway();
        const degraded = await untilAll(gateways, "degraded", "each of the 3 live gateways admits its share");
        expect(degraded.map(({ code }) => code)).toEqual([200, 200, 200]);
        const meanwhile = await countAdmitted(gateways, key, 6);
        expect(meanwhile).toBe(6);
        await redis.start();
        await untilAll(gateways, "ready");
        expect(await countAdmitted(gateways, key, 20)).toBe(2);
        const lines = (gateways[0] as TestGateway).log
          .slice(log)
          .filter(({ event }) => event.includes("Redis"));
        expect(lines.slice(0, 2).map(({ level }) => level)).toEqual(["warn", "info"]);
      },
      SLOW_MS,
    );

    /** Sends requests of another key until all gateways have noticed that Redis is away. */
    async function untilAway(): Promise<void> {
      const key = await addKey(gateways, { requests_per_minute: 1_000 });
      await eventually("all gateways notice that Redis is away", async () => {
        expect(await countAdmitted(gateways, key, 10)).toBeGreaterThanOrEqual(0);
        const all = await Promise.all(gateways.map(readiness));
        return all.every(({ status }) => status === "degraded");
      });
    }

    test(
      "a gateway that starts while Redis is away is ready when the others have counted it, and counts with them later",
      async () => {
        await redis.kill();
        const options = { yaml: yamlFor(vendor.baseUrl), environment: { REDIS_URL: redis.url } };
        const late = await shared.start("late", options);
        try {
          await untilAll([late], "degraded", "each of the 4 live gateways admits its share");
          expect(late.log.some(({ event }) => event.includes("Redis is away"))).toBe(true);
          await redis.start();
          await eventually("it counts in Redis", async () => (await readiness(late)).status === "ready");
        } finally {
          await late.stop();
        }
      },
      SLOW_MS,
    );
  },
);
