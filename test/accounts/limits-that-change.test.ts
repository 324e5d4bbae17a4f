import { expect, test } from "bun:test";
import { queryTables } from "../support/databases/test-tables.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { startVendor } from "../support/vendors/vendor.ts";

test("spending while a key has no limit counts towards a limit that is set later", async () => {
  const vendor = startVendor();
  const model = `{id: acme/one, name: up, context_length: 8192, prices: {prompt: "0.01", completion: "0.02"}}`;
  const gateway = await startTestGateway({
    yaml: `providers: {acme: {base_url: "${vendor.baseUrl}", api_keys: ["sk-acme"], models: [${model}]}}`,
  });
  const admin = (method: string, path: string, body: unknown) =>
    callAdmin(gateway, gateway.adminKey, method, path, body);
  const { data, body } = await admin("POST", "/keys", { name: "k", spend_limit: 0.1 });
  const ask = async () => {
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${body["key"]}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "acme/one",
        max_tokens: 5,
        messages: [{ role: "user", content: "Hello!" }],
      }),
    });
    const answer = (await response.json()) as { error?: { metadata: { required: number } } };
    return { status: response.status, required: answer.error?.metadata.required ?? 0 };
  };
  const limitTo = (spend_limit: number | null) => admin("PATCH", `/keys/${data.id}`, { spend_limit });
  const { status, required } = await ask();
  expect(status).toBe(402);
  // Each request costs 0.2 dollars, so that one is settled before the next is held.
  const limit = Number((required + 0.3).toFixed(6));
  await limitTo(limit);
  expect((await ask()).status).toBe(200);
  await limitTo(null);
  for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(200);
  await limitTo(limit);
  expect((await ask()).status).toBe(402);
  await eventually("the records", async () => {
    const text = "SELECT id FROM generations WHERE outcome = 'completed'";
    return (await queryTables(gateway.dataDir, text)).length === 4;
  });
  await gateway.stop();
  vendor.stop();
});
