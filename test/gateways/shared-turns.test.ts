import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../support/databases/redis.ts";
import { eventually } from "../support/eventually.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Failures of the start of a server are no failures of the test. */
const START_MS = 60_000;
const SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS12ZW5kb3I=";
const QUESTION = { role: "user", content: "What is the time in Bern?" };

const yamlFor = (vendorUrl: string) => `
providers:
  google-like:
    base_url: ${vendorUrl}
    format: gemini
    api_keys: [sk-google-0123456789]
    models: [{id: acme/clock, name: up-clock, prices: {prompt: "0", completion: "0"}}]`;

describe.skipIf(POSTGRES_BIN === null || REDIS_SERVER === null)("a conversation over two gateways", () => {
  let database: TestPostgres;
  let redis: TestRedis;
  let vendor: Vendor;
  let shared: SharedGateways;
  let first: TestGateway;
  let second: TestGateway;

  beforeAll(async () => {
    [database, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
    vendor = startVendor();
    shared = shareDatabase(await database.createDatabase());
    const options = { yaml: yamlFor(vendor.baseUrl), environment: { REDIS_URL: redis.url } };
    first = await shared.start("first", options);
    second = await shared.start("second", options);
  }, START_MS);
  afterAll(async () => {
    await shared?.clear();
    vendor?.stop();
    await redis?.remove();
    await database?.remove();
  }, START_MS);

  async function ask(gateway: TestGateway, messages: readonly object[]) {
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "acme/clock",
        messages,
        tools: [{ type: "function", function: { name: "time", parameters: { type: "object" } } }],
      }),
    });
    expect(response.status).toBe(200);
    const { choices } = (await response.json()) as {
      choices: { message: { tool_calls: { id: string; function: object }[] } }[];
    };
    return choices[0]?.message.tool_calls[0];
  }

  test("the signature that a client dropped is returned to the vendor, also by the gateway that did not see it", async () => {
    const call = { functionCall: { name: "time", args: { place: "Bern" } }, thoughtSignature: SIGNATURE };
    vendor.perform((asked) =>
      asked.respond(200, {
        candidates: [{ index: 0, content: { role: "model", parts: [call] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      }),
    );
    const made = await ask(first, [QUESTION]);
    const { id, function: called } = made as NonNullable<typeof made>;
    await eventually("the turn is stored", async () => {
      await ask(second, [
        QUESTION,
        { role: "assistant", tool_calls: [{ id, type: "function", function: called }] },
        { role: "tool", tool_call_id: id, content: "12:00" },
      ]);
      return JSON.stringify(vendor.calls.at(-1)?.body).includes(SIGNATURE);
    });
  });
});
