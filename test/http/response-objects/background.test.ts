import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventsOf } from "../../support/clients/response-events.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../../support/money.ts";
import { chunkOf, healthy, startVendor, USAGE, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
let key: string;

const yamlOf = (baseUrl: string) => `
providers:
  mine: {base_url: "${baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}`;

beforeEach(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({ yaml: yamlOf(vendor.baseUrl) });
  key = await addAccountWithKey(gateway, { id: "user_one" });
  await manage(gateway, "/accounts/user_one/credits", { amount: 10 });
});
afterEach(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

async function call(path: string, body?: object, method = body === undefined ? "GET" : "POST") {
  const response = await fetch(gateway.base + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : null };
}

const begin = (fields: object = {}) =>
  call("/responses", { model: "acme/model", input: "Hi", background: true, ...fields });
const whenEnded = (id: string) =>
  eventually("the response has ended", async () => {
    const { body } = await call(`/responses/${id}`);
    return ["queued", "in_progress"].includes(body.status) ? null : body;
  });

/** Answers with a beginning, and with the rest once the gate is open. */
async function slowly(one: Parameters<Parameters<Vendor["perform"]>[0]>[0]): Promise<void> {
  await one.begin();
  await one.events(chunkOf({ content: "Alpha" }));
  await one.gate();
  await one.events(
    chunkOf({ content: " Beta" }),
    chunkOf({}, "stop"),
    { choices: [], usage: USAGE },
    "[DONE]",
  );
  await one.end();
}

describe("a background response", () => {
  test("is accepted at once, runs without its client, and is charged and read when it has ended", async () => {
    vendor.perform(slowly);
    const { status, body } = await begin({ instructions: "Be brief.", metadata: { a: "b" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: "response",
      status: "in_progress",
      background: true,
      store: true,
      instructions: "Be brief.",
      metadata: { a: "b" },
      output: [],
    });
    expect((await call(`/responses/${body.id}`)).body.status).toBe("in_progress");
    (await vendor.call(0)).openGate();
    const ended = await whenEnded(body.id);
    expect(ended).toMatchObject({ id: body.id, status: "completed", background: true });
    expect(ended.usage.cost).toBe(0.00006);
    expect(ended.output[0].content[0].text).toBe("Alpha Beta");
    expect((await balanceOf(gateway, "user_one")).balance).toBe(10_000_000_000 - 60_000);
  });

  test("is streamed from any event on, again and again, while it runs and afterwards", async () => {
    vendor.perform(slowly);
    const streaming = begin({ stream: true });
    const waiting = await vendor.call(0);
    await waiting.atGate;
    waiting.openGate();
    const events = eventsOf((await streaming).text);
    expect(events[0].type).toBe("response.created");
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { background: true } });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    const { id } = events[0].response;
    expect(eventsOf((await call(`/responses/${id}?stream=true`)).text)).toEqual(events);
    expect(eventsOf((await call(`/responses/${id}?stream=true&starting_after=2`)).text)).toEqual(
      events.slice(3),
    );
    expect((await call(`/responses/${id}?stream=true&starting_after=x`)).status).toBe(400);
  });

  test("is cancelled: the vendor's work ends, and what it has produced is charged", async () => {
    vendor.perform(slowly);
    const { body } = await begin();
    const waiting = await vendor.call(0);
    await waiting.atGate;
    const cancelled = await call(`/responses/${body.id}/cancel`, {});
    expect([cancelled.status, cancelled.body.status]).toEqual([200, "cancelled"]);
    await waiting.connection.closed;
    const { usage } = (await call(`/responses/${body.id}`)).body;
    expect(usage.cost).toBeGreaterThan(0);
    const spent = 10_000_000_000 - (await balanceOf(gateway, "user_one")).balance;
    expect(spent).toBe(Math.round(usage.cost * 1e9));
    expect((await call(`/responses/${body.id}/cancel`, {})).body.status).toBe("cancelled");
    expect(eventsOf((await call(`/responses/${body.id}?stream=true`)).text).at(-1).response.status).toBe(
      "cancelled",
    );
  });

  test("that is rejected is an error of its request, and leaves nothing", async () => {
    const rejected = await begin({ model: "acme/none" });
    expect(rejected.status).toBe(400);
    expect(vendor.calls).toHaveLength(0);
  });

  test("whose vendor fails has failed, and costs nothing", async () => {
    vendor.perform((one) => one.respond(400, { error: { message: "The vendor says no." } }));
    const { body } = await begin();
    const ended = await whenEnded(body.id);
    expect(ended).toMatchObject({ status: "failed", error: { message: expect.stringContaining("says no") } });
    expect((await balanceOf(gateway, "user_one")).balance).toBe(10_000_000_000);
  });

  test("cannot be deleted or continued while it runs", async () => {
    vendor.perform(slowly);
    const { body } = await begin();
    expect((await call(`/responses/${body.id}`, undefined, "DELETE")).status).toBe(409);
    expect(
      (await call("/responses", { model: "acme/model", input: "x", previous_response_id: body.id })).status,
    ).toBe(409);
    (await vendor.call(0)).openGate();
    await whenEnded(body.id);
    vendor.perform(healthy("Gamma"));
    expect(
      (await call("/responses", { model: "acme/model", input: "x", previous_response_id: body.id })).status,
    ).toBe(200);
    expect((await call(`/responses/${body.id}`, undefined, "DELETE")).status).toBe(200);
  });

  test("that is a compaction ends with its item, and its events are read in their order", async () => {
    vendor.perform(healthy("Handover."));
    const input = [{ role: "user", content: "Hi" }, { type: "compaction_trigger" }];
    const { body } = await begin({ input });
    const ended = await whenEnded(body.id);
    expect(ended).toMatchObject({ status: "completed", output: [{ type: "compaction" }] });
    const events = eventsOf((await call(`/responses/${body.id}?stream=true`)).text);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3, 4]);
    const rest = eventsOf((await call(`/responses/${body.id}?stream=true&starting_after=3`)).text);
    expect(rest).toEqual(events.slice(4));
  });

  test("outside of the background cannot be cancelled or streamed again", async () => {
    const { body } = await call("/responses", { model: "acme/model", input: "Hi", store: true });
    expect((await call(`/responses/${body.id}/cancel`, {})).status).toBe(400);
    expect((await call(`/responses/${body.id}?stream=true`)).status).toBe(400);
  });
});
