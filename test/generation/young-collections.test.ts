import { edenGC, fullGC, heapStats } from "bun:jsc";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";

const REQUESTS = 240;
const CONCURRENT = 8;

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  alpha: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/one, name: up, context_length: 8192}]}
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

async function ask(): Promise<void> {
  const body = { model: "acme/one", messages: [{ role: "user", content: "Hello!" }] };
  for (let sent = 0; sent < REQUESTS; sent += CONCURRENT)
    await Promise.all(
      Array.from({ length: CONCURRENT }, async () => {
        const response = await postChat(gateway, body);
        expect(response.status).toBe(200);
        await response.arrayBuffer();
      }),
    );
}

/** The requests that the server has received and whose objects are in memory. */
const countRequests = () => heapStats().objectTypeCounts["BunRequest"] ?? 0;

test("a collection of young objects frees those of the requests that have ended", async () => {
  await ask();
  fullGC();
  const before = countRequests();
  await ask();
  edenGC();
  expect(countRequests() - before).toBeLessThan(REQUESTS / 3);
});
