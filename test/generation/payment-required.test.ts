import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { startVendor, type Vendor, type VendorCall } from "../support/vendors/vendor.ts";

/** What a vendor says of the gateway's account: words, a sum, a key and a person. */
const WORDS = "Ada, your prepaid funds of $98,765.43 at team Blue are used up for key zz-secret-key";
/** None of them can be part of an id, a hash or a number. */
const PARTS = ["Ada,", "prepaid", "98,765.43", "Blue", "zz-secret"];

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  const yaml = `
limits: { attempts: 1 }
providers:
  mine:
    name: Mine
    base_url: ${vendor.baseUrl}
    api_keys: [vendor-key]
    models: [{ id: mine/chat }]
`;
  gateway = await startTestGateway({ yaml });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const error = {
  error: { message: WORDS, code: `funds of $98,765.43 of team-Blue`, type: "payment_required" },
};
const first = { id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "Hi" } }] };

describe("what a vendor says of its customer with 402", () => {
  test.each<[string, boolean, (call: VendorCall) => Promise<void>]>([
    ["in an answer with that status", false, (call) => call.respond(402, error)],
    ["as plain text", false, (call) => call.respond(402, WORDS)],
    [
      "in an answer with status 200",
      false,
      (call) => call.respond(200, { error: { ...error.error, code: 402 } }),
    ],
    [
      "in the middle of a stream",
      true,
      async (call) => {
        await call.begin(200, { "content-type": "text/event-stream" });
        await call.events(first, { error: { message: WORDS, code: 402 } });
        await call.end();
      },
    ],
  ])("%s is in no answer, log, record, list or health report", async (_how, stream, play) => {
    vendor.perform(play);
    // A provider without credit is not called for a minute.
    await callAdmin(gateway, gateway.adminKey, "POST", "/health/mine/clear");
    gateway.log.length = 0;
    const messages = [{ role: "user", content: "Hi" }];
    const response = await postChat(gateway, { model: "mine/chat", messages, stream });
    const answer = await response.text();
    expect(vendor.calls.length).toBe(1);
    const id = response.headers.get("x-gateway-generation-id") ?? "";
    const read = async (path: string) =>
      JSON.stringify((await callAdmin(gateway, gateway.adminKey, "GET", path)).body);
    const shown = {
      answer,
      list: await read("/generations?limit=5"),
      record: await read(`/generations/${id}`),
      health: await read("/health"),
      audit: await read("/audit?limit=20"),
      log: JSON.stringify(gateway.log),
    };
    expect(shown.record).toContain(id);
    for (const [where, text] of Object.entries(shown))
      for (const part of PARTS) expect([where, part, text.includes(part)]).toEqual([where, part, false]);
    // The operator learns what is wrong nevertheless.
    expect(shown.log + shown.health + shown.record).toContain("out of credit");
  });
});
