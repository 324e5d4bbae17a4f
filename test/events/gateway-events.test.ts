import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createLedgerAlarm } from "../../src/app/watch/ledger-alarm.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { isSigned, startWebhookReceiver, type WebhookReceiver } from "../support/servers/webhook-receiver.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const DAY_MS = 86_400_000;
/** Turns of the event loop between two steps of the clock: a delivery that takes longer is repeated. */
const TURNS = 50;

let receiver: WebhookReceiver;
let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;

beforeEach(async () => {
  receiver = startWebhookReceiver();
  vendor = startVendor(healthy("Hi"));
  clock = createTestClock();
  gateway = await startTestGateway({ clock, yaml: yamlOf("") });
});

afterEach(async () => {
  await gateway.stop();
  await vendor.stop();
  await receiver.stop();
});

const yamlOf = (more: string) => `
webhooks: [{url: "${receiver.url}", secret: "${SECRET}"}]
alerts: {error_min_requests: 10}
metrics: {ledger_check_minutes: 60}
providers:
  acme:
    name: Acme
    base_url: "${vendor.baseUrl}"
    api_keys: ["sk-0123456789"]
    models: [{id: acme/one}, {id: acme/two}, {id: acme/paid, prices: {prompt: "0.000001", completion: "0.00001"}}]
${more}`;

const admin = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

async function ask(model: string): Promise<number> {
  const response = await postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }] });
  await response.text();
  return response.status;
}

/** Advances in steps of the watch until the receiver has an event of the type. */
async function untilEvent(type: string, stepMs = 5_000) {
  return waitFor(async () => {
    clock.advance(stepMs);
    await turnEventLoop(TURNS);
    return receiver.received.find(({ body }) => body.type === type) ?? null;
  });
}

/** The events as a receiver counts them: an event that was sent again has the id of the first time. */
const events = () => [...new Map(receiver.received.map(({ body }) => [body.id, body])).values()];

const types = () => events().map(({ type }) => type);

/** Makes each request fail, until both models' circuits and the provider's have opened. */
async function breakProvider(): Promise<void> {
  vendor.perform((call) => call.respond(500, { error: { message: "broken" } }));
  for (let count = 0; count < 6; count++) for (const model of ["acme/one", "acme/two"]) await ask(model);
}

describe("events of a gateway", () => {
  test("tell that a provider is down, that it is up again, and that many requests fail, each once", async () => {
    await breakProvider();
    const down = await untilEvent("provider.down");
    expect(isSigned(down, SECRET)).toBe(true);
    expect(down.body).toMatchObject({
      text: "Acme is down: too many requests to it have failed.",
      data: { provider: "acme" },
    });
    const { body } = await untilEvent("errors.rate");
    expect(body.data).toMatchObject({ window_minutes: 5 });
    expect(body.data.failed).toBeGreaterThanOrEqual(10);
    vendor.perform(healthy("Hi"));
    await waitFor(async () => {
      clock.advance(5_000);
      await turnEventLoop(TURNS);
      await ask("acme/one");
      await ask("acme/two");
      return types().includes("provider.up") ? true : null;
    });
    expect(types().toSorted()).toEqual(["errors.rate", "provider.down", "provider.up"]);
  });

  test("announce a key a week before it expires, once and not again after a restart", async () => {
    const { data } = await admin("POST", "/users", { name: "Ada" });
    const create = async (name: string, days: number) => {
      const expires_at = new Date(clock.now() + days * DAY_MS).toISOString();
      await admin("POST", "/keys", { account_id: data.id, user_id: data.id, name, expires_at });
    };
    await create("in three days", 3);
    await create("in eight days", 8);
    const { body } = await untilEvent("key.expiring");
    expect(body.data).toMatchObject({ key_name: "in three days", account_id: data.id });
    await create("made to live shortly", 2);
    await gateway.stop({ keepData: true });
    const { dataDir, key } = gateway;
    gateway = await startTestGateway({ clock, dataDir, key, yaml: yamlOf("") });
    clock.advance(DAY_MS);
    const names = () => events().map(({ data: { key_name } }) => key_name);
    await waitFor(async () => {
      clock.advance(60_000);
      await turnEventLoop(TURNS);
      return names().length > 1 ? true : null;
    });
    expect(names()).toEqual(["in three days", "in eight days"]);
  });

  test("announce once that the former secret of a rotated key ends although it is still used, and none that was given up", async () => {
    const { data } = await admin("POST", "/users", { name: "Ada", overdraft: null });
    const make = async (name: string) => {
      const made = await admin("POST", "/keys", { account_id: data.id, user_id: data.id, name });
      return { id: made.data.id, secret: String(made.body["key"]) };
    };
    const keys = [await make("still used"), await make("given up")] as const;
    const ends = new Date(clock.now() + DAY_MS).toISOString();
    for (const { id } of keys) await admin("POST", `/keys/${id}/rotate`, { overlap_hours: 24 });
    /** Asks with a secret as soon as the gateway has read its store, after a step of the clock. */
    const useOf = (key: string) =>
      waitFor(async () => {
        const body = { model: "acme/one", messages: [{ role: "user", content: "Hi" }] };
        const response = await postChat({ ...gateway, key }, body);
        await response.text();
        if (response.status === 200) return true;
        clock.advance(1_000);
        return null;
      });
    const pass = async (hours: number) => {
      for (let step = 0; step < hours * 6; step++) {
        clock.advance(600_000);
        await turnEventLoop(TURNS);
      }
    };
    for (const { secret } of keys) await useOf(secret);
    await pass(13);
    expect(types()).toEqual([]);
    const usedAt = new Date(clock.now() - (clock.now() % 3_600_000)).toISOString();
    await useOf(keys[0].secret);
    const { body } = await untilEvent("key.expiring", 60_000);
    expect(body.data).toEqual({
      ...{ key_id: keys[0].id, key_name: "still used", account_id: data.id, user_id: data.id, team_id: null },
      ...{ expires_at: ends, is_former_secret: true, last_used_at: usedAt },
    });
    expect(body.text).toContain(`ends at ${ends}, but was still used in the hour of ${usedAt}`);
    await useOf(keys[0].secret);
    await pass(12);
    expect(types()).toEqual(["key.expiring"]);
  });
});

describe("POST /api/admin/webhooks/test", () => {
  test("sends a signed test event once, and says what the receiver answered", async () => {
    receiver.answers.push(new Response("no", { status: 500 }));
    const failed = await admin("POST", "/webhooks/test", {});
    const { origin } = new URL(receiver.url);
    expect(failed.rows).toEqual([
      { index: 0, origin, event_id: expect.any(String), status: 500, error: "status 500" } as never,
    ]);
    const taken = await admin("POST", "/webhooks/test", { index: 0 });
    expect(taken.rows[0]).toMatchObject({ status: 204, error: null });
    expect(types()).toEqual(["webhook.test", "webhook.test"]);
    expect(receiver.received.every((request) => isSigned(request, SECRET))).toBe(true);
  });

  test("without a webhook of that number it is a 404 that says where they are listed", async () => {
    const { status, body } = await admin("POST", "/webhooks/test", { index: 1 });
    expect(status).toBe(404);
    expect(JSON.stringify(body)).toContain("GET /api/admin/webhooks");
  });
});

test("GET /api/admin/webhooks lists webhooks without their paths, and settings mask addresses and secrets", async () => {
  const { rows } = await admin("GET", "/webhooks");
  const { origin } = new URL(receiver.url);
  expect(rows).toMatchObject([
    { index: 0, origin, format: "json", waiting: 0, delivered: 0, dropped: 0 } as never,
  ]);
  const settings = JSON.stringify((await admin("GET", "/settings")).body);
  expect(settings).toContain(`${origin}/********`);
  expect(settings).not.toContain("/hook");
  expect(settings).not.toContain(SECRET);
});

test("a webhook in the JSON format needs a secret, and the error names the field", async () => {
  const start = startTestGateway({ yaml: `webhooks: [{url: "${receiver.url}"}]` });
  const error = await start.then(() => null, String);
  expect(error).toContain("webhooks.0.secret is required");
});

test("an inconsistent ledger is reported once a day, when the number of inconsistencies changes, and when it is inconsistent again", () => {
  const sent: string[] = [];
  const alarm = createLedgerAlarm(({ id, text }) => sent.push(`${id} ${text.slice(0, 32)}`), clock);
  for (const differences of [0, 1, 1, 2, 0, 2]) alarm(differences);
  expect(sent.map((line) => line.slice(line.indexOf(" ") + 1))).toEqual([
    "The ledger has 1 inconsistency. ",
    "The ledger has 2 inconsistencies",
    "The ledger has 2 inconsistencies",
  ]);
  clock.advance(DAY_MS);
  alarm(2);
  expect(new Set(sent.map((line) => line.split(" ")[0])).size).toBe(3);
});

describe("budgets", () => {
  /** The cost of a request to acme/paid, at 10 and 5 tokens. Dollars. */
  const COST = 0.00006;
  const send = async (fields: object = {}) => {
    const body = {
      model: "acme/paid",
      max_tokens: 5,
      messages: [{ role: "user", content: "Hi" }],
      ...fields,
    };
    const response = await postChat(gateway, body as never);
    const answer = (await response.json()) as {
      gateway_metadata?: { warnings?: { field: string; message: string }[] };
    };
    return { status: response.status, warnings: answer.gateway_metadata?.warnings ?? [] };
  };
  const countOf = (type: string) => receiver.received.filter(({ body }) => body.type === type).length;

  test("a budget that passes its warning share and its limit is reported once each, and warns requests", async () => {
    const { data } = await admin("POST", "/budgets", {
      limit: 4 * COST,
      action: "warn",
      warn_at: 0.5,
      name: "Small",
      period: "total",
    });
    expect((await send()).warnings).toEqual([]);
    await send();
    const warning = await untilEvent("budget.warning", 2_000);
    expect(isSigned(warning, SECRET)).toBe(true);
    expect(warning.body.data).toMatchObject({
      budget_id: data.id,
      value: null,
      action: "warn",
      spent: 2 * COST,
    });
    expect(countOf("budget.reached")).toBe(0);
    expect((await send()).warnings).toEqual([
      { field: "budget", message: 'The budget "Small" has passed 50 % of its limit.' },
    ]);
    await send();
    const reached = await untilEvent("budget.reached", 2_000);
    expect(reached.body.text).toBe('The budget "Small" is used up. Spent: $0.00024 of $0.00024.');
    expect(await send()).toEqual({
      status: 200,
      warnings: [{ field: "budget", message: 'The budget "Small" is used up.' }],
    });
    for (let looks = 0; looks < 3; looks++) {
      clock.advance(2_000);
      await turnEventLoop(TURNS);
    }
    expect([countOf("budget.warning"), countOf("budget.reached")]).toEqual([1, 1]);
  });

  test("a budget of a team is named with its team in warnings and events, and other budgets are not", async () => {
    const { id } = (await admin("POST", "/organizations", { name: "Acme", overdraft: null })).data;
    const team = (await admin("POST", `/organizations/${id}/teams`, { name: "Search" })).data;
    const made = await admin("POST", "/keys", { name: "k", account_id: id, team_id: team.id });
    const budget = { account_id: id, limit: 2 * COST, action: "warn", warn_at: 0.5, period: "total" };
    await admin("POST", "/budgets", { ...budget, team_id: team.id, name: "Small" });
    await admin("POST", "/budgets", { ...budget, name: "Whole", limit: 100 });
    const ask = async () => {
      const body = { model: "acme/paid", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };
      const response = await postChat({ ...gateway, key: String(made.body["key"]) }, body);
      return JSON.stringify(await response.json());
    };
    await ask();
    const warning = await untilEvent("budget.warning", 2_000);
    expect(warning.body.data).toMatchObject({ team_id: team.id, team_name: "Search", budget_name: "Small" });
    expect(await ask()).toContain(
      JSON.stringify('The budget "Small" of the team "Search" has passed 50 % of its limit.'),
    );
    const { body } = await untilEvent("budget.reached", 2_000);
    expect(body.text).toBe(
      'The budget "Small" of the team "Search" is used up. Spent: $0.00012 of $0.00012.',
    );
    await admin("PATCH", `/organizations/${id}/teams/${team.id}`, { name: "Find" });
    await ask();
    const renamed = JSON.stringify('The budget "Small" of the team "Find" is used up.');
    await waitFor(async () => {
      clock.advance(2_000);
      await turnEventLoop(TURNS);
      return (await ask()).includes(renamed) ? true : null;
    });
  });

  test("a request that a budget rejects reports it as reached, for its tag alone", async () => {
    await admin("POST", "/budgets", { limit: COST / 2, tag: "*", name: "Tags" });
    expect((await send({ tags: ["batch"] })).status).toBe(402);
    expect((await send()).status).toBe(200);
    // Nothing was spent by the tag, so that only the rejection tells.
    const { body } = await untilEvent("budget.reached", 2_000);
    expect(body.data).toMatchObject({ budget_name: "Tags", value: "batch", spent: 0 });
    expect(body.text).toBe(
      'The budget "Tags" has rejected a request that costs more than what is left. Spent by batch: $0.00 of $0.00003.',
    );
    // What is spent has not passed the warning share.
    expect(countOf("budget.warning")).toBe(0);
  });
});
