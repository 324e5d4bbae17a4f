import { afterEach, beforeEach, expect, test } from "bun:test";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { parseScrape, scrape } from "../support/servers/scrape.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/servers/webhook-receiver.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
/** Turns of the event loop between two steps of the clock: a delivery that takes longer is repeated. */
const TURNS = 50;

let receiver: WebhookReceiver;
let vendor: Vendor;
let clock: TestClock;
let yaml: string;
let gateway: TestGateway;

beforeEach(async () => {
  receiver = startWebhookReceiver();
  vendor = startVendor(healthy("Hi"));
  clock = createTestClock();
  yaml = yamlOf("");
  gateway = await startTestGateway({ clock, yaml, readYaml: () => yaml });
});

afterEach(async () => {
  await gateway.stop();
  await vendor.stop();
  await receiver.stop();
});

const yamlOf = (more: string) => `
providers:
  acme:
    name: Acme
    base_url: "${vendor.baseUrl}"
    api_keys: ["sk-0123456789"]
    models: [{id: acme/one}, {id: acme/two}]
${more}`;

const webhook = (events = "", url = receiver.url) =>
  `webhooks: [{url: "${url}", secret: "${SECRET}"${events}}]`;

async function reload(more: string) {
  yaml = yamlOf(more);
  const { data } = await callAdmin(gateway, gateway.adminKey, "POST", "/settings/reload", {});
  expect(JSON.stringify(data)).not.toContain('"needs_restart":true');
}

const listWebhooks = async () => (await callAdmin(gateway, gateway.adminKey, "GET", "/webhooks")).data;

async function ask(model: string): Promise<void> {
  await (await postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }] })).text();
}

/** Makes each request fail, until both models' circuits and the provider's have opened. */
async function breakProvider(): Promise<void> {
  vendor.perform((call) => call.respond(500, { error: { message: "broken" } }));
  for (let count = 0; count < 6; count++) for (const model of ["acme/one", "acme/two"]) await ask(model);
}

async function advance(ms: number): Promise<void> {
  clock.advance(ms);
  await turnEventLoop(TURNS);
}

/** Advances in steps of the watch until the receiver has an event of the type. */
function untilEvent(type: string) {
  return waitFor(async () => {
    await advance(5_000);
    return receiver.received.find(({ body }) => body.type === type) ?? null;
  });
}

const types = () => [...new Map(receiver.received.map(({ body }) => [body.id, body.type])).values()];

test("a webhook that a reload adds receives events from then on, also those of incidents that go on", async () => {
  await breakProvider();
  await advance(60_000);
  await reload(webhook());
  expect(await listWebhooks()).toMatchObject([{ waiting: 0, delivered: 0 }]);
  await untilEvent("provider.down");
  expect(types()).toEqual(["provider.down"]);
});

test("an event that was reported is not reported again after reloads, and a new window keeps the counts of failed requests", async () => {
  await reload(`${webhook()}\nalerts: {error_min_requests: 1000}`);
  await breakProvider();
  await untilEvent("provider.down");
  await reload(`${webhook()}\nalerts: {error_min_requests: 10, error_window_minutes: 30}`);
  const { body } = await untilEvent("errors.rate");
  expect(body.data).toMatchObject({ window_minutes: 30, share: 1 });
  await reload(`${webhook(", events: [key.expiring]")}\nalerts: {error_min_requests: 10}`);
  await advance(10_000);
  await reload(`${webhook()}\nalerts: {error_min_requests: 10, error_window_minutes: 30}`);
  await advance(10_000);
  await advance(10_000);
  expect(types().toSorted()).toEqual(["errors.rate", "provider.down"]);
});

test("key.expiring follows the days of a reload", async () => {
  const expires_at = new Date(clock.now() + 20 * 86_400_000).toISOString();
  const { data: user } = await callAdmin(gateway, gateway.adminKey, "POST", "/users", { name: "Ada" });
  const key = { account_id: user.id, user_id: user.id, name: "soon", expires_at };
  await callAdmin(gateway, gateway.adminKey, "POST", "/keys", key);
  await reload(webhook());
  await advance(60_000);
  expect(types()).toEqual([]);
  await reload(`${webhook()}\nalerts: {key_expiring_days: 30}`);
  const { body } = await untilEvent("key.expiring");
  expect(body.data).toMatchObject({ key_name: "soon" });
});

test("a removed webhook is not tried again, and the counters of webhooks do not decrease", async () => {
  await reload(webhook());
  receiver.answers.push(new Response("no", { status: 500 }));
  await breakProvider();
  await waitFor(async () => {
    await advance(5_000);
    return receiver.received.length > 0 ? true : null;
  });
  const tried = receiver.received.length;
  await reload("");
  for (let minute = 0; minute < 5; minute++) await advance(60_000);
  expect(receiver.received).toHaveLength(tried);
  const { value } = parseScrape((await scrape(gateway)).text);
  const count = (result: string) => value("gateway_webhook_events_total", { result }) ?? 0;
  expect(count("delivered") + count("dropped")).toBeGreaterThan(0);
});

test("a reload that is rejected changes no webhook", async () => {
  await reload(webhook());
  yaml = yamlOf(`${webhook("", "http://127.0.0.1:1/other")}\nlimits: {attempts: 0}`);
  const response = await fetch(`${gateway.url}/api/admin/settings/reload`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    body: "{}",
  });
  expect(response.status).toBe(409);
  const { origin } = new URL(receiver.url);
  expect(await listWebhooks()).toMatchObject([{ origin }]);
});
