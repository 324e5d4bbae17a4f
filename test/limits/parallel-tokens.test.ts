import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CLIENT_APIS, yamlForAllApis } from "../support/clients/client-apis.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { prepareData } from "../support/gateway/prepared-data.ts";
import { shareOf } from "../support/long-run.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { documentOf, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const [CHAT] = CLIENT_APIS;
const LIMIT = 20_000;
const MINUTE_MS = 60_000;

describe("the limit of tokens a minute, under requests that come at once", () => {
  let vendor: Vendor;
  let clock: TestClock;
  let gateway: TestGateway;
  /** Tokens of each answer. */
  let answerTokens = 0;

  beforeEach(async () => {
    vendor = startVendor(async (call) => {
      await call.gate();
      const usage = { prompt_tokens: 5, completion_tokens: answerTokens, total_tokens: 5 + answerTokens };
      await call.respond(200, documentOf("word ".repeat(answerTokens), { usage }));
    });
    clock = createTestClock();
    const data = await prepareData([{}]);
    gateway = await startTestGateway({
      clock,
      dataDir: data.dataDir,
      key: data.keys[0]?.[0] ?? "",
      yaml: yamlForAllApis(
        vendor.baseUrl,
        `limits: {per_key: {tokens_per_minute: ${LIMIT}}, hold_tokens: 4000}`,
      ),
    });
  });
  afterEach(async () => {
    await gateway.stop();
    vendor.stop();
  });

  /** Sends requests at once, none of which is answered before all were admitted or rejected. Returns the tokens that were used. */
  async function useAtOnce(requests: number, tokens: number, more: object): Promise<number> {
    answerTokens = tokens;
    const before = vendor.calls.length;
    let rejected = 0;
    const answers = Array.from({ length: requests }, async () => {
      const response = await fetch(`${gateway.base}${CHAT?.path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify(CHAT?.body(CHAT.model, { ...more })),
      });
      if (response.status === 429) rejected += 1;
      const { usage } = (await response.json()) as { usage?: { total_tokens: number } };
      return usage?.total_tokens ?? 0;
    });
    await eventually("all have been decided", () => vendor.calls.length - before + rejected === requests);
    for (const call of vendor.calls.slice(before)) call.openGate();
    const used = (await Promise.all(answers)).reduce((sum, one) => sum + one, 0);
    clock.advance(MINUTE_MS + 1_000);
    return used;
  }

  for (const requests of [40, shareOf(400, 1 / 4)]) {
    test(`${requests} requests with a bound use no more than the limit, and most of it`, async () => {
      const used = await useAtOnce(requests, 700, { max_tokens: 700 });
      expect(used).toBeLessThanOrEqual(LIMIT);
      expect(used).toBeGreaterThan(0.9 * LIMIT);
    });

    test(`${requests} requests without a bound use no more than the limit, also once the gateway knows what they use`, async () => {
      for (let round = 0; round < 6; round++) {
        const used = await useAtOnce(requests, 800, {});
        expect(used).toBeLessThanOrEqual(LIMIT);
        if (round === 5) expect(used).toBeGreaterThan(LIMIT / 2);
      }
    });

    test(`${requests} requests with a bound beyond the limit count as those without one`, async () => {
      for (let round = 0; round < 3; round++)
        expect(await useAtOnce(requests, 800, { max_tokens: 1_000_000 })).toBeLessThanOrEqual(LIMIT);
    });

    test(`${requests} requests without a bound whose answers are suddenly four times as long exceed the limit once, and by no more`, async () => {
      for (let round = 0; round < 6; round++) await useAtOnce(requests, 500, {});
      expect(await useAtOnce(requests, 2_000, {})).toBeLessThanOrEqual(4 * LIMIT);
      expect(await useAtOnce(requests, 2_000, {})).toBeLessThanOrEqual(LIMIT);
    });
  }

  test("tokens that were reserved and not used are free for the next request as soon as the answer ends", async () => {
    answerTokens = 100;
    const ask = async () => {
      const response = await fetch(`${gateway.base}${CHAT?.path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify(CHAT?.body(CHAT.model, { max_tokens: 15_000 })),
      });
      await response.text();
      return response;
    };
    for (let turn = 1; turn <= 5; turn++) {
      const answer = ask();
      await eventually("it is at the vendor", () => vendor.calls.length === turn);
      expect((await ask()).status).toBe(429);
      vendor.calls[turn - 1]?.openGate();
      expect((await answer).status).toBe(200);
    }
  });
});
