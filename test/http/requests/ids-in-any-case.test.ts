import { afterAll, beforeAll, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
beforeAll(async () => {
  vendor = startVendor(healthy("Hi"));
  const prices = { prompt: "0.000001", completion: "0.000001" };
  const models = [
    { id: "mine/My-Chat", prices },
    { id: "mine/plain", prices },
  ];
  const providers = { mine: { base_url: vendor.baseUrl, api_keys: ["vendor-key"], models } };
  gateway = await startTestGateway({ yaml: JSON.stringify({ providers }) });
  const messages = [{ role: "user", content: "Hi" }];
  for (const model of ["mine/My-Chat", "MINE/my-chat", "Mine/PLAIN"]) {
    const response = await postChat(gateway, { model, messages });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  }
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const ask = (path: string) => callAdmin(gateway, gateway.adminKey, "GET", path);

test.each([
  ["mine/My-Chat", "mine/my-chat", 2],
  ["mine/my-chat", "mine/my-chat", 2],
  ["MINE/MY-CHAT", "mine/my-chat", 2],
  ["Mine/Plain", "mine/plain", 1],
])("usage, lists and counts of requests find the model %s as %s", async (asked, id, count) => {
  const model = encodeURIComponent(asked);
  const { rows } = await ask(`/usage?group_by=model&model=${model}`);
  expect(rows.map((row) => [row["model"], row["requests"]])).toEqual([[id, count]]);
  const list = await ask(`/generations?model=${model}`);
  expect(list.rows.map((row) => row["model"])).toEqual(Array(count).fill(id));
  const byProvider = await ask(`/generations?provider=${asked.split("/")[0]}`);
  expect(byProvider.rows.length).toBe(3);
  const histogram = await ask(`/generations/histogram?model=${model}&from=2020-01-01T00:00:00Z`);
  expect([histogram.status, histogram.body["error"]]).toEqual([200, undefined]);
});
