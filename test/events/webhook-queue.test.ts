import { afterEach, beforeEach, expect, test } from "bun:test";
import { createIdSource } from "../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import type { GatewayEvent } from "../../src/core/events/event.ts";
import { MAX_AGE_MS, MAX_TRIES, MAX_WAITING } from "../../src/telemetry/webhooks/webhook-queue.ts";
import { type Webhook, WebhookSender } from "../../src/telemetry/webhooks/webhook-sender.ts";
import { waitFor } from "../support/event-loop.ts";
import { createMemoryLog } from "../support/gateway/gateway.ts";
import { isSigned, startWebhookReceiver, type WebhookReceiver } from "../support/servers/webhook-receiver.ts";
import { createTestClock } from "../support/test-clock.ts";

/** How long a receiver may take. Milliseconds. */
const RESPONSE_MS = 10_000;
const SECRET = "0123456789abcdef0123456789abcdef";

let receiver: WebhookReceiver;
beforeEach(() => {
  receiver = startWebhookReceiver();
});
afterEach(() => receiver.stop());

function createSender(...webhooks: Partial<Webhook>[]) {
  const testClock = createTestClock();
  const pauses: number[] = [];
  const clock: Clock & typeof testClock = {
    ...testClock,
    after(ms, callback) {
      if (ms !== RESPONSE_MS) pauses.push(ms);
      return testClock.after(ms, callback);
    },
  };
  const random = createSystemRandom();
  const { log, lines } = createMemoryLog();
  const defaults = { url: receiver.url, format: "json", secret: SECRET, events: ["provider.down"] } as const;
  const sender = new WebhookSender({ clock, random, log, ids: createIdSource(clock, random) });
  const replace = (...next: Partial<Webhook>[]) =>
    sender.replace(next.map((webhook) => ({ ...defaults, ...webhook })));
  replace(...webhooks);
  const event = (id: string, text = "Acme is down."): GatewayEvent => ({
    id,
    type: "provider.down",
    createdAt: clock.now(),
    text,
    data: { provider: "acme" },
  });
  const state = () => sender.list()[0];
  return { sender, replace, clock, lines, event, state, pauses };
}

const failure = (status: number, headers: Record<string, string> = {}) =>
  new Response("no", { status, headers });

/** Waits until the pause after a number of tries has begun, and ends it. */
async function passPause({ clock, pauses }: ReturnType<typeof createSender>, tries: number) {
  await until(() => pauses.length === tries);
  clock.advance(pauses.at(-1) ?? 0);
}

async function until(condition: () => boolean): Promise<void> {
  await waitFor(() => (condition() ? true : null));
}

test("an event is sent signed, with its id and its facts", async () => {
  const { sender, event, state } = createSender({});
  sender.send(event("evt_1"));
  await until(() => state()?.delivered === 1);
  const [request] = receiver.received;
  expect(request && isSigned(request, SECRET)).toBe(true);
  expect(request?.headers.get("x-gateway-event")).toBe("provider.down");
  expect(request?.headers.get("x-gateway-event-id")).toBe("evt_1");
  expect(request?.body).toEqual({
    id: "evt_1",
    type: "provider.down",
    created_at: "2023-11-14T22:13:20.000Z",
    text: "Acme is down.",
    data: { provider: "acme" },
  });
});

test("an event is sent again after status 500 with the same id, the same body and a signature of the new time", async () => {
  const created = createSender({});
  const { sender, event, state } = created;
  receiver.answers.push(failure(500), failure(503));
  sender.send(event("evt_1"));
  await passPause(created, 1);
  await passPause(created, 2);
  await until(() => state()?.delivered === 1);
  expect(receiver.received.map(({ body }) => body.id)).toEqual(["evt_1", "evt_1", "evt_1"]);
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers.get("x-gateway-signature"))).size).toBe(3);
  expect(receiver.received.every((request) => isSigned(request, SECRET))).toBe(true);
});

test("a pause before the next try is not shorter than Retry-After says", async () => {
  const created = createSender({});
  receiver.answers.push(failure(429, { "retry-after": "60" }));
  created.sender.send(created.event("evt_1"));
  await passPause(created, 1);
  expect(created.pauses).toEqual([60_000]);
  await until(() => created.state()?.delivered === 1);
});

test("events are sent in their order, also while the first of them fails", async () => {
  const created = createSender({});
  receiver.answers.push(failure(500));
  created.sender.send(created.event("evt_1"));
  created.sender.send(created.event("evt_2"));
  await passPause(created, 1);
  await until(() => created.state()?.delivered === 2);
  expect(receiver.received.map(({ body }) => body.id)).toEqual(["evt_1", "evt_1", "evt_2"]);
});

test("a receiver that rejects an event or redirects gets it once, and the event is counted as dropped", async () => {
  const { sender, event, state, lines } = createSender({});
  receiver.answers.push(failure(400), failure(302, { location: `${receiver.url}/elsewhere` }));
  sender.send(event("evt_1"));
  sender.send(event("evt_2"));
  await until(() => state()?.dropped === 2);
  expect(receiver.received).toHaveLength(2);
  expect(state()?.lastError).toContain("redirects are not followed");
  expect(lines.map(({ fields }) => fields["event_id"])).toEqual(["evt_1", "evt_2"]);
});

test("an event is given up after a number of tries", async () => {
  const created = createSender({});
  for (let tries = 0; tries < MAX_TRIES; tries++) receiver.answers.push(failure(500));
  created.sender.send(created.event("evt_1"));
  for (let tries = 1; tries < MAX_TRIES; tries++) await passPause(created, tries);
  await until(() => created.state()?.dropped === 1);
  expect(receiver.received).toHaveLength(MAX_TRIES);
});

test("an event that is older than a day is not sent again", async () => {
  const created = createSender({});
  const late = Promise.withResolvers<Response>();
  receiver.answers.push(failure(500), late.promise);
  created.sender.send(created.event("evt_1"));
  await passPause(created, 1);
  await until(() => receiver.received.length === 2);
  // The second try fails within this time, and there is no third one.
  created.clock.advance(MAX_AGE_MS);
  await until(() => created.state()?.dropped === 1);
  expect(receiver.received).toHaveLength(2);
  late.resolve(new Response());
});

test("a receiver that does not answer is given ten seconds, and gets the event again", async () => {
  const { sender, clock, event, state, pauses } = createSender({});
  const late = Promise.withResolvers<Response>();
  receiver.answers.push(late.promise);
  sender.send(event("evt_1"));
  await until(() => receiver.received.length === 1);
  clock.advance(10_000);
  await until(() => state()?.lastError !== null);
  expect(state()?.lastError).toBe("no response within 10 s");
  await until(() => pauses.length === 1);
  clock.advance(pauses[0] ?? 0);
  await until(() => state()?.delivered === 1);
  late.resolve(new Response());
});

test("the queue is bounded, and counts the events for which it has no room", async () => {
  const { sender, event, state } = createSender({});
  const late = Promise.withResolvers<Response>();
  receiver.answers.push(late.promise);
  for (let count = 0; count < MAX_WAITING + 5; count++) sender.send(event(`evt_${count}`));
  expect(state()).toMatchObject({ waiting: MAX_WAITING, dropped: 5 });
  late.resolve(new Response());
  await sender.stop();
  expect(state()).toMatchObject({ waiting: 0, delivered: MAX_WAITING, dropped: 5 });
});

test("the Slack format has only a text, without Slack's markup, and needs no secret", async () => {
  const { sender, event, state } = createSender({ format: "slack", secret: null });
  sender.send(event("evt_1", "<!channel> A & B"));
  await until(() => state()?.delivered === 1);
  expect(receiver.received[0]?.body).toEqual({ text: "&lt;!channel&gt; A &amp; B (provider.down)" });
  expect(receiver.received[0]?.headers.get("x-gateway-signature")).toBeNull();
});

test("a webhook receives only the types of events that it names, and a receiver that fails delays no other", async () => {
  const other = startWebhookReceiver();
  receiver.answers.push(failure(500));
  const { sender, event } = createSender(
    {},
    { url: other.url },
    { url: other.url, events: ["key.expiring"] },
  );
  sender.send(event("evt_1"));
  await until(() => sender.list()[1]?.delivered === 1);
  expect(sender.list().map(({ waiting }) => waiting)).toEqual([1, 0, 0]);
  await other.stop();
});

test("what waits at the end is sent once more without a pause", async () => {
  const created = createSender({});
  const { sender, event, state } = created;
  receiver.answers.push(failure(500));
  sender.send(event("evt_1"));
  await until(() => created.pauses.length === 1);
  await sender.stop();
  expect(state()).toMatchObject({ waiting: 0, delivered: 1 });
});

test("a replaced webhook with the same URL keeps its waiting events and its counts, and signs with the new secret", async () => {
  const other = "fedcba9876543210fedcba9876543210";
  const created = createSender({});
  const { sender, event, state, replace } = created;
  sender.send(event("evt_0"));
  await until(() => state()?.delivered === 1);
  receiver.answers.push(failure(500));
  sender.send(event("evt_1"));
  sender.send(event("evt_2"));
  await until(() => created.pauses.length === 1);
  replace({ url: "http://127.0.0.1:1/new" }, { secret: other, events: ["key.expiring"] });
  expect(sender.list()[1]).toMatchObject({ waiting: 2, delivered: 1, events: ["key.expiring"] });
  await passPause(created, 1);
  await until(() => sender.list()[1]?.delivered === 3);
  const sent = receiver.received.slice(-2);
  expect(sent.map(({ body }) => body.id)).toEqual(["evt_1", "evt_2"]);
  expect(sent.every((request) => isSigned(request, other))).toBe(true);
});

test("a removed webhook drops its waiting events, is not tried again, and stays in the totals", async () => {
  const created = createSender({});
  const { sender, clock, event, state, replace, lines } = created;
  sender.send(event("evt_0"));
  await until(() => state()?.delivered === 1);
  receiver.answers.push(failure(500));
  for (const id of ["evt_1", "evt_2"]) sender.send(event(id));
  await until(() => created.pauses.length === 1);
  replace();
  clock.advance(MAX_AGE_MS);
  sender.send(event("evt_3"));
  await sender.stop();
  expect(receiver.received.map(({ body }) => body.id)).toEqual(["evt_0", "evt_1"]);
  expect(sender.list()).toEqual([]);
  expect(sender.totals()).toEqual({ delivered: 1, dropped: 2, waiting: 0 });
  expect(lines.at(-1)).toMatchObject({
    event: "the events that waited for a removed webhook were dropped",
    fields: { events: 2 },
  });
});

test("an event in delivery to a removed webhook ends with that try", async () => {
  const created = createSender({});
  const { sender, event, replace } = created;
  const late = Promise.withResolvers<Response>();
  receiver.answers.push(late.promise);
  for (const id of ["evt_1", "evt_2"]) sender.send(event(id));
  await until(() => receiver.received.length === 1);
  replace();
  expect(sender.totals()).toEqual({ delivered: 0, dropped: 1, waiting: 0 });
  late.resolve(failure(500));
  await until(() => sender.totals().dropped === 2);
  expect(created.pauses).toEqual([]);
  expect(receiver.received).toHaveLength(1);
});
