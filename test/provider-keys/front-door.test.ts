import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { createTestHealth } from "../support/gateway/test-health.ts";
import {
  answerHello,
  type RecordedRequest,
  type Responder,
  startRecordingVendor,
} from "../support/vendors/recording-vendor.ts";
import { makeAccount, makeKey, PLATFORM, type Site, secretsAt, startSite } from "./site.ts";

let site: Site;

const testHealth = createTestHealth();

beforeAll(async () => {
  site = await startSite({ health: testHealth.health });
});
beforeEach(() => {
  testHealth.reset();
  for (const vendor of [site.near, site.far, site.openai]) vendor.reset();
});
afterAll(() => site.stop());

const rejectKey = (): Response =>
  Response.json(
    { error: { message: "Incorrect API key provided: own-first-0123456789.", code: "invalid_api_key" } },
    { status: 401 },
  );
const outOfCredit = (): Response =>
  Response.json(
    { error: { message: "You have no credits left.", code: "insufficient_quota" } },
    { status: 402 },
  );

/** Answers with `respond` to one secret, and plainly to all others. */
function except(secret: string, respond: Responder): Responder {
  return (request: RecordedRequest, owner: number) =>
    request.headers.get("authorization") === `Bearer ${secret}`
      ? respond(request, owner)
      : answerHello(request);
}

const OWN = "own-first-0123456789";
const SECOND = "own-second-0123456789";

describe("a BYOK key", () => {
  test("is used instead of the platform key, and the request costs nothing", async () => {
    const account = await makeAccount(site, { overdraft: 0 });
    const key = await makeKey(site, account);
    await site.bring(account, "far", OWN);
    const answer = await site.chat(key);
    expect([answer.status, secretsAt(site.near), secretsAt(site.far)]).toEqual([200, [], [OWN]]);
    expect(site.far.last().headers.get("x-platform")).toBeNull();
    // Three prompt and two completion tokens at 0.000001 or 0.000002 dollars.
    expect(answer.json.usage).toMatchObject({
      is_byok: true,
      cost: 0,
      cost_details: {
        upstream_inference_cost: 0.00001,
        upstream_inference_prompt_cost: 0.000006,
        upstream_inference_completions_cost: 0.000004,
      },
    });
    expect(await site.generation(key, answer)).toMatchObject({
      provider_name: "far",
      is_byok: true,
      total_cost_nanodollars: 0,
      upstream_inference_cost: 0.00001,
      attempts: [{ provider_name: "far", is_byok: true }],
    });
    expect((await site.stores.ledger.findBalance(account)).balance).toBe(0);
  });

  test("is used for streams and other client APIs too", async () => {
    const account = await makeAccount(site, { overdraft: 0 });
    const key = await makeKey(site, account);
    await site.bring(account, "near", OWN);
    const stream = await site.chat(key, { stream: true });
    expect(stream.text).toContain('"is_byok":true');
    const messages = await fetch(`${site.gateway.base}/messages`, {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify({
        model: "acme/model",
        max_tokens: 5,
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    expect(messages.status).toBe(200);
    expect(secretsAt(site.near)).toEqual([OWN, OWN]);
  });

  test("makes models available for which there is no platform key", async () => {
    const account = await makeAccount(site, { overdraft: 0 });
    const key = await makeKey(site, account);
    const before = await site.chat(key, { model: "openai/gpt-4o-mini" });
    expect([before.status, before.json.error.type]).toEqual([400, "invalid_model"]);
    expect(before.json.error.message).toContain("BYOK key");
    // A key for another provider changes nothing.
    await site.bring(account, "far", SECOND);
    const still = await site.chat(key, { model: "openai/gpt-4o-mini" });
    expect([still.status, still.json.error]).toEqual([400, before.json.error]);
    await site.bring(account, "openai", OWN);
    const answer = await site.chat(key, { model: "openai/gpt-4o-mini" });
    expect([answer.status, secretsAt(site.openai)]).toEqual([200, [OWN]]);
  });

  test("is not used for callers without a key or for other accounts", async () => {
    const [rich, poor] = [await makeAccount(site), await makeAccount(site)];
    await site.bring(rich, "near", OWN);
    expect((await site.chat(await makeKey(site, poor))).json.usage.is_byok).toBe(false);
    expect((await site.chat(site.gateway.key)).json.usage.is_byok).toBe(false);
    expect(secretsAt(site.near)).toEqual([PLATFORM.near, PLATFORM.near]);
  });

  test("is used only for its own account if two accounts send requests at once", async () => {
    const accounts = await Promise.all(
      [0, 1, 2, 3].map(async (owner) => {
        const account = await makeAccount(site);
        await site.bring(account, "near", `own-of-${owner}-0123456789`);
        return { secret: `own-of-${owner}-0123456789`, key: await makeKey(site, account) };
      }),
    );
    site.near.reset(async (request) => {
      const wanted = JSON.parse(request.text).messages[0].content as string;
      const sent = request.headers.get("authorization");
      return sent === `Bearer ${wanted}` ? answerHello(request) : Response.json({}, { status: 500 });
    });
    const turns = Array.from({ length: 40 }, (_, owner) => accounts[owner % 4]!);
    const statuses = await Promise.all(
      turns.map(
        async ({ key, secret }) =>
          (await site.chat(key, { messages: [{ role: "user", content: secret }] })).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(site.far.requests).toHaveLength(0);
  });

  test("of an organization is used for its members, with any of their API keys that names the organization", async () => {
    const user = await makeAccount(site, { overdraft: 0 });
    const organization = await makeAccount(site, { members: { [user]: "member" } });
    await site.bring(organization, "near", OWN);
    const own = await makeKey(site, user, user);
    const response = await fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${own}`, "x-gateway-organization": organization },
      body: JSON.stringify({ model: "acme/model", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect([response.status, secretsAt(site.near)]).toEqual([200, [OWN]]);
  });

  test.each([
    ["another model", { models: ["openai/*"] }],
    ["another member", { members: ["user_other"] }],
    ["no request because it is disabled", { enabled: false }],
  ])("that is for %s does not replace the platform key", async (_name, limits) => {
    const account = await makeAccount(site);
    await site.bring(account, "near", OWN, limits);
    const key = await makeKey(site, account, account);
    expect((await site.chat(key)).json.usage.is_byok).toBe(false);
    expect(secretsAt(site.near)).toEqual([PLATFORM.near]);
  });

  test("that is for a model and a member is used for them, and not for a service key", async () => {
    const user = await makeAccount(site);
    const account = await makeAccount(site, { members: { [user]: "member" } });
    await site.bring(account, "near", OWN, { models: ["acme/*"], members: [user] });
    await site.chat(await makeKey(site, account, user));
    await site.chat(await makeKey(site, account, null));
    expect(secretsAt(site.near)).toEqual([OWN, PLATFORM.near]);
  });

  test("is used before cheaper deployments with platform keys, unless the request gives another order", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    await site.bring(account, "far", OWN);
    await site.chat(key, { provider: { order: ["near"] } });
    expect([secretsAt(site.near), secretsAt(site.far)]).toEqual([[PLATFORM.near], []]);
  });
});

describe("a request to count tokens", () => {
  test("uses the BYOK key for a provider that counts tokens", async () => {
    const counting = startRecordingVendor();
    counting.reset(() => Response.json({ input_tokens: 7 }));
    const environment = {
      ANTHROPIC_BASE_URL: counting.baseUrl.replace(/\/v1$/, ""),
      ANTHROPIC_API_KEY: "platform-anthropic-0123",
    };
    const own = await startSite({ environment });
    const account = await makeAccount(own);
    await own.bring(account, "anthropic", OWN);
    const response = await fetch(`${own.gateway.base}/messages/count_tokens`, {
      method: "POST",
      headers: { "x-api-key": await makeKey(own, account) },
      body: JSON.stringify({
        model: "anthropic/claude-sonnet-4.5",
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    expect(await response.json()).toEqual({ input_tokens: 7 });
    expect(counting.requests.map(({ headers }) => headers.get("x-api-key"))).toEqual([OWN]);
    await Promise.all([own.stop(), counting.stop()]);
  });
});

describe("BYOK keys that fail", () => {
  test("are tried in their order, then other providers, but never the platform key of the same provider", async () => {
    const bringBoth = async () => {
      const account = await makeAccount(site);
      await site.bring(account, "near", SECOND, { order: 5 });
      await site.bring(account, "near", OWN, { order: 1 });
      return makeKey(site, account);
    };
    let key = await bringBoth();
    site.near.reset(except(OWN, rejectKey));
    expect((await site.chat(key)).json.usage.is_byok).toBe(true);
    expect(secretsAt(site.near)).toEqual([OWN, SECOND]);

    key = await bringBoth();
    site.near.reset(rejectKey);
    const answer = await site.chat(key);
    expect(answer.json.usage).toMatchObject({ is_byok: false });
    expect(answer.json.usage.cost).toBeGreaterThan(0);
    expect([secretsAt(site.near), secretsAt(site.far)]).toEqual([[OWN, SECOND], [PLATFORM.far]]);
    expect(await site.generation(key, answer)).toMatchObject({
      is_byok: false,
      attempts: [{ is_byok: true }, { is_byok: true }, { is_byok: false }],
    });
  });

  test("are not replaced by platform keys if only BYOK keys are allowed", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    await site.bring(account, "near", OWN);
    site.near.reset(rejectKey);
    const { status, text, json } = await site.chat(key, { provider: { own_keys_only: true } });
    expect([status, json.error.type, secretsAt(site.far)]).toEqual([502, "upstream_error", []]);
    expect(json.error.message).toContain("account's BYOK key");
    expect(json.error.metadata).toEqual({
      code: "upstream_error",
      provider: "near",
      upstream_status: 401,
      raw: "the key was refused",
      is_byok: true,
    });
    expect(text).not.toContain(OWN);
  });

  test("without credit give a 503 that names the provider account, and are skipped for a minute", async () => {
    const [account, other] = [await makeAccount(site), await makeAccount(site)];
    const only = { provider: { only: ["near"] } };
    await site.bring(account, "near", OWN);
    await site.bring(other, "near", OWN);
    const key = await makeKey(site, account);
    site.near.reset(outOfCredit);
    const first = await site.chat(key, only);
    expect([first.status, first.json.error.type]).toEqual([503, "unavailable"]);
    expect(first.json.error.message).toContain("BYOK key");
    expect(first.json.error.metadata).toMatchObject({ is_byok: true });
    expect(first.headers.get("retry-after")).toBe("60");

    const second = await site.chat(key, only);
    expect([second.status, second.json.error.metadata]).toEqual([
      503,
      { code: "unavailable", is_byok: true },
    ]);
    expect(site.near.requests).toHaveLength(1);
    // Another account's BYOK key with the same secret.
    site.near.reset();
    expect((await site.chat(await makeKey(site, other), only)).status).toBe(200);
    expect((await site.chat(site.gateway.key, only)).status).toBe(200);
  });

  test("are used again at once after their secret was replaced", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    const id = await site.bring(account, "near", OWN);
    site.near.reset(except(OWN, outOfCredit));
    const only = { provider: { only: ["near"] } };
    expect((await site.chat(key, only)).status).toBe(503);
    const path = `/accounts/${account}/provider-keys/${id}`;
    expect((await site.manage(path, { method: "PATCH", body: { key: SECOND } })).status).toBe(200);
    expect((await site.chat(key, only)).status).toBe(200);
    expect(secretsAt(site.near)).toEqual([OWN, SECOND]);
  });

  test("show their last use and last error to their owner", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    await site.bring(account, "near", OWN);
    const path = `/accounts/${account}/provider-keys`;
    expect((await site.manage(path)).json.data).toMatchObject([{ last_used_at: null, last_error: null }]);
    await site.chat(key);
    expect((await site.manage(path)).json.data).toMatchObject([
      { last_used_at: expect.any(String), last_error: null },
    ]);
    site.near.reset(rejectKey);
    await site.chat(key);
    const [{ last_error }] = (await site.manage(path)).json.data;
    expect(last_error).toEqual({ message: expect.stringContaining("rejected"), at: expect.any(String) });
    site.near.reset(() => Response.json({ error: { message: "temperature is bad" } }, { status: 400 }));
    await site.chat(key);
    expect((await site.manage(path)).json.data[0].last_error).toEqual(last_error);
  });
});

describe("a deleted BYOK key", () => {
  test("is no longer used, and the platform key is used again", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    const id = await site.bring(account, "near", OWN);
    await site.chat(key);
    await site.manage(`/accounts/${account}/provider-keys/${id}`, { method: "DELETE" });
    await site.chat(key);
    expect(secretsAt(site.near)).toEqual([OWN, PLATFORM.near]);
  });

  test("is not tried after another one that was being tried when it was deleted", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    await site.bring(account, "near", OWN, { order: 0 });
    const id = await site.bring(account, "near", SECOND, { order: 1 });
    site.near.reset(
      except(OWN, async () => {
        await site.manage(`/accounts/${account}/provider-keys/${id}`, { method: "DELETE" });
        return rejectKey();
      }),
    );
    const answer = await site.chat(key, { provider: { only: ["near"] } });
    expect([answer.status, secretsAt(site.near)]).toEqual([502, [OWN]]);
  });

  test("is no longer used within a second if another process deleted it", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    const id = await site.bring(account, "near", OWN);
    await site.chat(key);
    await site.stores.providerKeys.removeProviderKey(id);
    await eventually("the key is no longer used", async () => !(await site.chat(key)).json.usage.is_byok);
    expect(secretsAt(site.near).at(-1)).toBe(PLATFORM.near);
  });
});

describe("the hold of a request", () => {
  test("covers only candidates with platform keys, which are skipped for BYOK keys if the balance does not suffice", async () => {
    const account = await makeAccount(site, { overdraft: 0 });
    const key = await makeKey(site, account);
    const broke = await site.chat(key);
    expect([broke.status, broke.json.error.type]).toEqual([402, "insufficient_credits"]);
    await site.bring(account, "near", OWN);
    // `far` could answer with its platform key, which the balance does not cover.
    expect((await site.chat(key)).status).toBe(200);
    site.near.reset(rejectKey);
    expect((await site.chat(key)).status).toBe(502);
    expect(secretsAt(site.far)).toEqual([]);
  });
});

describe("own_keys_only", () => {
  test("in the policy of the account excludes platform keys, and a request without a BYOK key gets 403", async () => {
    const account = await makeAccount(site, { policy: { ownKeysOnly: true } });
    const key = await makeKey(site, account);
    const rejected = await site.chat(key);
    expect([rejected.status, rejected.json.error.type]).toEqual([403, "model_not_allowed"]);
    await site.bring(account, "far", OWN);
    expect((await site.chat(key)).json.usage.is_byok).toBe(true);
    expect([secretsAt(site.near), secretsAt(site.far)]).toEqual([[], [OWN]]);
  });

  test("in a request without a BYOK key gives 400 with the name of the field", async () => {
    const key = await makeKey(site, await makeAccount(site));
    const { status, json } = await site.chat(key, { provider: { own_keys_only: true } });
    expect([status, json.error.metadata.field]).toEqual([400, "provider.own_keys_only"]);
    const wrong = await site.chat(key, { provider: { own_keys_only: "yes" } });
    expect([wrong.status, wrong.json.error.metadata.field]).toEqual([400, "provider.own_keys_only"]);
    expect(secretsAt(site.near)).toEqual([]);
  });
});

describe("a BYOK key that cannot be decrypted", () => {
  test("gives 503 and a line in the log, and the platform key does not replace it", async () => {
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    const id = await site.bring(account, "near", OWN);
    const found = (await site.stores.providerKeys.findProviderKey(id))!;
    await site.stores.providerKeys.updateProviderKey(found, { ...found.sealed, masterKeyId: "gone" });
    await site.chat(key, { provider: { only: ["far"] } });
    expect(secretsAt(site.near)).toEqual([]);
    const own = await site.chat(key, { provider: { own_keys_only: true } });
    const metadata = { code: "unavailable", provider: "near", is_byok: true };
    expect([own.status, own.json.error.metadata]).toEqual([503, metadata]);
    expect(JSON.stringify(site.gateway.log)).toContain(id);
  });
});
