import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiObject,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";
import { documentOf, healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let gateway: TestGateway;
let main: Vendor;
let shadow: Vendor;
let create: AccountTools;
let user: string;
let key: string;

const PRICES = '{prompt: "0.000001", completion: "0.000001"}';
const messages = [{ role: "user", content: "Hi" }];

beforeAll(async () => {
  main = startVendor();
  shadow = startVendor();
  gateway = await startTestGateway({
    yaml: `
limits:
  models: {"shadow/*": {requests_per_minute: 1}}
named_routes:
  trial:
    kind: group
    targets:
      - {model: main/model, weight: 1, shadow: {model: shadow/model, share: 1}}
providers:
  main: {base_url: "${main.baseUrl}", api_keys: [k], zero_retention: true, trains_on_data: false, models: [{id: main/model, prices: ${PRICES}}]}
  shadow: {base_url: "${shadow.baseUrl}", api_keys: [k], zero_retention: true, trains_on_data: false, models: [{id: shadow/model, prices: ${PRICES}}]}`,
  });
  create = createAccountTools(gateway);
});
afterAll(async () => {
  await gateway.stop();
  main.stop();
  shadow.stop();
});
beforeEach(async () => {
  main.perform(healthy("Main"));
  shadow.perform(healthy("Shadow"));
  user = await create.user();
  key = await create.key(user);
  await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${user}/credits`, { amount: 1 });
});

const admin = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

async function ask(
  more: Record<string, unknown> = {},
): Promise<{ id: string; status: number; text: string }> {
  const response = await postChat({ ...gateway, key }, { model: "trial", messages, ...more });
  const id = response.headers.get("x-gateway-generation-id") as string;
  return { id, status: response.status, text: await response.text() };
}

/** Waits for the record of the copy of a generation. */
function copyOf(id: string): Promise<ApiObject> {
  return eventually("the copy is recorded", async () => {
    for (const { id: other } of (await admin("GET", "/generations?account_id=acct_default&limit=20")).rows) {
      const { data } = await admin("GET", `/generations/${other}`);
      if (data?.["shadow_of"] === id && data["outcome"] !== "open") return data;
    }
    return null;
  });
}

/** Asks, and proves that no copy was sent: a later request's copy is the first that arrives. */
async function expectNoCopy(more: Record<string, unknown>): Promise<void> {
  const { status } = await ask(more);
  expect(status).toBe(200);
  await ask({ user: "marker" });
  const first = await shadow.call(0);
  expect(first.body["user"]).toBeDefined();
}

describe("shadow traffic", () => {
  test.each([false, true])(
    "sends a copy whose answer is discarded and recorded at the operator's cost (stream: %p)",
    async (stream) => {
      const { id, status, text } = await ask({
        stream,
        models: ["main/model"],
        provider: { sort: "price" },
        seed: 4,
      });
      expect([status, text.includes("Main"), text.includes("Shadow")]).toEqual([200, true, false]);
      const { body } = await shadow.call(0);
      expect(body).toMatchObject({ model: "model", messages, seed: 4 });
      const copy = await copyOf(id);
      expect(copy).toMatchObject({
        requested_model: "shadow/model",
        model: "shadow/model",
        outcome: "completed",
        account: { id: "acct_default" },
        streamed: stream,
      });
      expect(copy["total_cost_nanodollars"]).toBeGreaterThan(0);
      const own = (await admin("GET", `/generations?account_id=${user}`)).rows;
      expect(own.map((one) => one.id)).toEqual([id]);
      expect((await admin("GET", `/generations/${id}`)).data).toMatchObject({
        shadow_of: null,
        model: "main/model",
      });
    },
  );

  test("leaves the caller alone if the copy fails or is over the model's limit", async () => {
    shadow.perform((call) => call.respond(500, "{}"));
    const { id, status } = await ask();
    expect(status).toBe(200);
    expect(await copyOf(id)).toMatchObject({ outcome: "failed" });
    // The limit of one request a minute of the shadow model does not count copies.
    shadow.perform(healthy("Shadow"));
    const again = await ask();
    expect(await copyOf(again.id)).toMatchObject({ shadow_of: again.id });
  });

  test("copies a request with the settings of its preset", async () => {
    await admin("PUT", `/named-routes/%40p?account_id=${user}`, {
      kind: "preset",
      model: "trial",
      parameters: { seed: 9 },
    });
    expect((await ask({ model: "@p" })).status).toBe(200);
    expect((await shadow.call(0)).body).toMatchObject({ seed: 9, model: "model" });
  });

  test.each<[string, Record<string, unknown>]>([
    ["zdr", { provider: { zdr: true } }],
    ["data_collection", { provider: { data_collection: "deny" } }],
  ])("sends nothing of a request with provider.%s", (_name, more) => expectNoCopy(more));

  test("sends nothing for a request that fails", async () => {
    main.perform((call) =>
      call.body["seed"] === 1 ? call.respond(400, {}) : call.respond(200, documentOf("Main")),
    );
    expect((await ask({ seed: 1 })).status).toBe(400);
    await ask({ user: "marker" });
    expect((await shadow.call(0)).body["seed"]).toBeUndefined();
  });

  test.each([
    ["account demands zero retention", { zero_retention: true }],
    ["account denies data collection", { deny_data_collection: true }],
    ["account does not allow the shadow's provider", { denied_providers: ["shadow"] }],
    ["account does not allow the shadow's model", { allowed_models: ["main/*"] }],
  ])("sends nothing if the caller's %s", async (_name, policy) => {
    await admin("PATCH", `/users/${user}`, { policy });
    expect((await ask()).status).toBe(200);
    await admin("PATCH", `/users/${user}`, {
      policy: {
        zero_retention: false,
        deny_data_collection: false,
        denied_providers: [],
        allowed_models: null,
      },
    });
    await ask({ user: "marker" });
    expect((await shadow.call(0)).body["user"]).toBeDefined();
  });

  test("sends nothing if the caller's key is limited to other models", async () => {
    key = await create.key(user, { models: ["main/*"] });
    expect((await ask()).status).toBe(200);
    key = await create.key(user);
    await ask({ user: "marker" });
    expect((await shadow.call(0)).body["user"]).toBeDefined();
  });

  test("is only for routes of the operator, who pays", async () => {
    const targets = [{ model: "main/model", weight: 1, shadow: { model: "shadow/model", share: 1 } }];
    const answer = await admin("PUT", `/named-routes/own?account_id=${user}`, { kind: "group", targets });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      400,
      expect.stringContaining("the operator, who pays"),
    ]);
  });

  test("is cancelled when the gateway drains", async () => {
    const other = await startTestGateway({
      yaml: `
server: {drain_ms: 60000}
named_routes:
  trial: {kind: group, targets: [{model: main/model, weight: 1, shadow: {model: shadow/model, share: 1}}]}
providers:
  main: {base_url: "${main.baseUrl}", api_keys: [k], models: [{id: main/model}]}
  shadow: {base_url: "${shadow.baseUrl}", api_keys: [k], models: [{id: shadow/model}]}`,
    });
    shadow.perform((call) => call.gate());
    await (await postChat(other, { model: "trial", messages })).text();
    const copy = await shadow.call(0);
    await copy.atGate;
    await other.stop();
    await copy.connection.closed;
    expect(shadow.calls).toHaveLength(1);
  });
});
