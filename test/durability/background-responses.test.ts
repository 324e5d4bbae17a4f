import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { eventually } from "../support/eventually.ts";
import type { GatewayProcess } from "../support/gateway/gateway-process.ts";
import { closing, healthy, opening, textOf } from "../support/vendors/vendor.ts";
import { makeVendorSite, type VendorSite } from "./vendor-site.ts";

let place: VendorSite;
beforeEach(() => {
  place = makeVendorSite("");
});
afterEach(() => place.clear());

async function call({ url, key }: GatewayProcess, path: string, body?: object) {
  const response = await fetch(`${url}/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : null };
}

const request = { model: "acme/model", input: "Hi", background: true };

test("a background response whose gateway was killed has failed after the next start, is charged for what was recorded, and is not sent again", async () => {
  const { vendor } = place;
  vendor.perform(async (one) => {
    await one.begin();
    await one.events(...opening("Alpha"), textOf(" Beta"));
    await one.gate();
  });
  const first = await place.start();
  const { body } = await call(first, "/responses", request);
  expect(body.status).toBe("in_progress");
  // Events are written after a quarter of a second.
  await eventually("an event is kept", async () => {
    const controller = new AbortController();
    const response = await fetch(`${first.url}/v1/responses/${body.id}?stream=true`, {
      headers: { authorization: `Bearer ${first.key}` },
      signal: controller.signal,
    });
    const { value } = (await response.body?.getReader().read()) ?? {};
    controller.abort();
    return Buffer.from(value ?? [])
      .toString()
      .includes("response.created");
  });
  await first.kill();
  const calls = vendor.calls.length;
  const second = await place.start(first.key);
  const failed = (await call(second, `/responses/${body.id}`)).body;
  expect(failed).toMatchObject({
    id: body.id,
    status: "failed",
    error: { message: expect.stringContaining("stopped") },
  });
  const events = (await call(second, `/responses/${body.id}?stream=true`)).text;
  expect(events).toStartWith("event: response.created");
  const [last, end] = events.trimEnd().split("\n\n").slice(-2);
  expect(last).toStartWith("event: response.failed");
  expect(end).toBe("data: [DONE]");
  expect(vendor.calls).toHaveLength(calls);
  const generation = (await call(second, `/generation?id=${body.id}`)).body.data;
  expect(generation).toMatchObject({ outcome: "interrupted" });
  expect(failed.usage.cost).toBe(generation.total_cost);
  vendor.perform(healthy("Gamma"));
  expect((await call(second, "/responses", { ...request, background: false, store: true })).status).toBe(200);
});

test("a gateway that stops lets a background response end, and keeps it", async () => {
  const { vendor } = place;
  vendor.perform(async (one) => {
    await one.begin();
    await one.events(...opening("Alpha"));
    await one.gate();
    await one.events(...closing());
    await one.end();
  });
  const first = await place.start();
  const { body } = await call(first, "/responses", request);
  const waiting = await vendor.call(0);
  await waiting.atGate;
  const stopped = first.terminate();
  await eventually("the stop", () => first.printed().includes("waiting for open answers"));
  waiting.openGate();
  await stopped;
  const second = await place.start(first.key);
  const ended = (await call(second, `/responses/${body.id}`)).body;
  expect(ended).toMatchObject({ status: "completed", output: [{ type: "message" }] });
  expect(ended.usage.cost).toBeGreaterThan(0);
});

test("a background response that runs longer than the drain time has failed, and is charged for what it has produced", async () => {
  appendFileSync(place.site.configFile, "server: {drain_ms: 200, drain_notice_ms: 0}\n");
  const { vendor } = place;
  vendor.perform(async (one) => {
    await one.begin();
    await one.events(...opening("Alpha"));
    await one.gate();
  });
  const first = await place.start();
  const { body } = await call(first, "/responses", request);
  await (await vendor.call(0)).atGate;
  await first.terminate();
  const second = await place.start(first.key);
  const ended = (await call(second, `/responses/${body.id}`)).body;
  expect(ended.status).toBe("failed");
  expect(ended.usage.cost).toBeGreaterThan(0);
});

test("a conversation whose gateway was killed in the middle of a response is free after the next start", async () => {
  const { vendor } = place;
  vendor.perform(async (one) => {
    await one.begin();
    await one.events(...opening("Alpha"));
    await one.gate();
  });
  const first = await place.start();
  const { id } = (await call(first, "/conversations", {})).body;
  const asked = { model: "acme/model", input: "Hi", conversation: id };
  const left = call(first, "/responses", { ...asked, stream: true }).catch(() => null);
  await (await vendor.call(0)).atGate;
  expect((await call(first, "/responses", asked)).status).toBe(409);
  await first.kill();
  await left;
  vendor.perform(healthy("Beta"));
  const second = await place.start(first.key);
  expect((await call(second, "/responses", asked)).status).toBe(200);
});
