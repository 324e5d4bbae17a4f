import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fetchRecord } from "../faults/two-vendors.ts";
import { CAN_FILL_DISK, fillDiskOf } from "../support/databases/full-disk.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;

beforeEach(async () => {
  vendor = startVendor(healthy("Alpha"));
  clock = createTestClock();
  gateway = await startTestGateway({
    clock,
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/model, prices: {prompt: "0.000001", completion: "0.000002"}}]
`,
  });
});
afterEach(async () => {
  await gateway.stop();
  vendor.stop();
});

const ask = (stream: boolean): Promise<Response> =>
  postChat(gateway, { model: "acme/model", stream, messages: [{ role: "user", content: "Hello!" }] });

function fillDisk(): () => void {
  const journal = join(gateway.dataDir, "journal");
  return fillDiskOf(join(journal, readdirSync(journal).at(-1) as string));
}

async function expectCannotRecord(response: Response): Promise<void> {
  const text = await response.text();
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("5");
  expect(JSON.parse(text)).toMatchObject({
    error: { type: "unavailable", message: expect.stringContaining("cannot write its records") },
  });
  expect(text).not.toContain("Alpha");
}

async function expectFreeFailure(refused: Response): Promise<void> {
  const id = refused.headers.get("x-gateway-generation-id") as string;
  expect(await fetchRecord(gateway, id)).toMatchObject({
    outcome: "failed",
    error_type: "unavailable",
    total_cost_nanodollars: 0,
  });
}

describe.skipIf(!CAN_FILL_DISK)("a full disk", () => {
  test.each([
    ["a whole answer", false],
    ["a stream", true],
  ])(
    "no provider is called for %s that could not be recorded, and it costs nothing",
    async (_what, stream) => {
      const freeDisk = fillDisk();
      const refused = await ask(stream);
      expect(vendor.calls).toHaveLength(0);
      await expectCannotRecord(refused);
      freeDisk();
      await expectFreeFailure(refused);
    },
  );

  test("a whole answer that was received is not sent to the client, and costs nothing", async () => {
    let freeDisk = () => {};
    vendor.perform((call) => {
      freeDisk = fillDisk();
      return healthy("Alpha")(call);
    });
    const refused = await ask(false);
    expect(vendor.calls).toHaveLength(1);
    await expectCannotRecord(refused);
    freeDisk();
    await expectFreeFailure(refused);
  });

  test("requests are rejected and readyz answers 503 until there is space again", async () => {
    const freeDisk = fillDisk();
    await expectCannotRecord(await ask(false));
    for (const stream of [false, true]) await expectCannotRecord(await ask(stream));
    expect(vendor.calls).toHaveLength(0);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
    freeDisk();
    const served = await ask(false);
    expect(served.status).toBe(200);
    expect(await served.text()).toContain("Alpha one two");
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    clock.advance(1_100);
    await turnEventLoop();
    const id = served.headers.get("x-gateway-generation-id") as string;
    expect(await fetchRecord(gateway, id)).toMatchObject({
      outcome: "completed",
      total_cost_nanodollars: 20_000,
    });
  });
});
