import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createMasterKey } from "../../src/core/provider-keys/vault.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";
import { makeAccount, makeKey, PLATFORM, restart, type Site, secretsAt, startSite } from "./site.ts";

const random = createSystemRandom();
const OWN = "own-sealed-0123456789";
const PLATFORM_SPARE = "platform-spare-0123456789";

let site: Site;
let account: string;
let key: string;
let nearKey: string;
/** Serves `acme/other`, for which the account has no key. */
let spare: RecordingVendor;

beforeAll(async () => {
  spare = startRecordingVendor();
  const before = await startSite({ environment: { GATEWAY_SECRETS_KEY: createMasterKey(random) } });
  account = await makeAccount(before);
  key = await makeKey(before, account);
  nearKey = await before.bring(account, "near", OWN);
  site = await restart(before, {
    environment: { GATEWAY_SECRETS_KEY: createMasterKey(random) },
    providers: `  spare: {base_url: "${spare.baseUrl}", api_keys: [${PLATFORM_SPARE}], models: [{id: acme/other, prices: {prompt: "0.000001", completion: "0.000001"}}]}\n`,
  });
});
beforeEach(() => {
  site.near.reset();
  site.far.reset();
  spare.reset();
});
afterAll(() => Promise.all([site.stop(), spare.stop()]));

/** The secrets that the three vendors were called with. */
const secretsUsed = () => [site.near, site.far, spare].flatMap(secretsAt);

const UNREADABLE = { code: "unavailable", provider: "near", is_byok: true };

describe("a gateway whose master key has changed", () => {
  test("logs the BYOK keys that it cannot decrypt at startup", () => {
    expect(site.gateway.log).toContainEqual(
      expect.objectContaining({
        level: "error",
        event: expect.stringContaining("cannot be decrypted"),
        fields: expect.objectContaining({
          keys: 1,
          named: [
            expect.objectContaining({ provider_key_id: nearKey, account_id: account, provider: "near" }),
          ],
        }),
      }),
    );
  });

  test.each([
    ["a chat completion", "/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
    ["a stream", "/chat/completions", { messages: [{ role: "user", content: "Hi" }], stream: true }],
    ["a response", "/responses", { input: "Hi" }],
    ["a message", "/messages", { messages: [{ role: "user", content: "Hi" }], max_tokens: 9 }],
    ["a token count", "/messages/count_tokens", { messages: [{ role: "user", content: "Hi" }] }],
  ])("answers %s with 503 and calls no provider with platform keys", async (_, path, body) => {
    const response = await fetch(`${site.gateway.url}/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/model", ...body }),
    });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("60");
    expect(await response.text()).toContain(
      "BYOK key for near cannot be used: the gateway cannot decrypt it",
    );
    expect(secretsUsed()).toEqual([]);
  });

  test("uses platform keys neither for the model nor for a fallback model after it", async () => {
    const { status, json } = await site.chat(key, { models: ["acme/other"] });
    expect([status, json.error.metadata]).toEqual([503, UNREADABLE]);
    expect(secretsUsed()).toEqual([]);
  });

  test("uses platform keys if no BYOK key would have been used", async () => {
    const before = await site.chat(key, { model: "acme/other", models: ["acme/model"] });
    const elsewhere = await site.chat(key, { provider: { only: ["far"] } });
    const others = await site.chat(await makeKey(site, await makeAccount(site)));
    expect([before.status, elsewhere.status, others.status]).toEqual([200, 200, 200]);
    expect(secretsUsed()).toEqual([PLATFORM.near, PLATFORM.far, PLATFORM_SPARE]);
  });

  test("explains the rejection in the plan of the request", async () => {
    const response = await fetch(`${site.gateway.base}/route/explain`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/model", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(await response.json()).toMatchObject({
      data: {
        candidates: [],
        left_out: [
          { provider: "near", reason: "own_key_unusable" },
          { provider: "far", reason: "own_key_unusable" },
        ],
        error: { type: "unavailable" },
      },
    });
  });

  test("lists the keys that it cannot decrypt as unreadable until they are stored again", async () => {
    const path = `/accounts/${account}/provider-keys`;
    const readable = async () => {
      const { json } = await site.manage(path);
      return json.data.map((listed: Record<string, unknown>) => listed["readable"]);
    };
    expect(await readable()).toEqual([false]);
    await site.manage(`${path}/${nearKey}`, { method: "PATCH", body: { key: OWN } });
    expect(await readable()).toEqual([true]);
    expect((await site.chat(key)).json.usage.is_byok).toBe(true);
    expect(secretsUsed()).toEqual([OWN]);
  });
});
