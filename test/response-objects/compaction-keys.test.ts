import { expect, test } from "bun:test";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { rotateMasterKey } from "../../src/app/stores/rotate-master-key.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createMasterKey } from "../../src/core/provider-keys/vault.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createAccountTools } from "../support/gateway/management.ts";
import { healthy, startVendor } from "../support/vendors/vendor.ts";

const random = createSystemRandom();

test("a chain and a conversation with a compaction are continued after its master key is gone", async () => {
  const vendor = startVendor(healthy("We agreed on Tuesday."));
  const yaml = `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0", completion: "0"}}]}`;
  const [former, next] = [createMasterKey(random), createMasterKey(random)];
  const start = (keys: string, more: { readonly dataDir?: string; readonly key?: string } = {}) =>
    startTestGateway({ yaml, environment: { GATEWAY_SECRETS_KEY: keys }, ...more });
  let gateway: TestGateway = await start(former);
  const tools = createAccountTools(gateway);
  const key = await tools.key(await tools.user("Ada", { overdraft: null }));
  const call = async (path: string, body: object) => {
    const response = await fetch(gateway.base + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const respond = (body: object) => call("/responses", { model: "acme/model", ...body });

  const input = [{ role: "user", content: "Launch on Tuesday." }, { type: "compaction_trigger" }];
  const compacted = (await respond({ input, store: true })).body;
  const { id: conversation } = (await call("/conversations", { items: compacted.output })).body;
  const { dataDir } = gateway;
  await gateway.stop({ keepData: true });

  const stores = await openTestStores(dataDir);
  const environment = { GATEWAY_DATA_DIR: dataDir, GATEWAY_SECRETS_KEY: `${next},${former}` };
  await rotateMasterKey(checkConfig("", "gateway.yaml", environment), stores, random);
  await stores.close();

  gateway = await start(next, { dataDir, key: gateway.key });
  for (const continued of [{ previous_response_id: compacted.id }, { conversation }]) {
    const { status } = await respond({ input: "When?", ...continued });
    expect([status, JSON.stringify(vendor.calls.at(-1)?.body)]).toEqual([
      200,
      expect.stringContaining("We agreed on Tuesday."),
    ]);
  }
  await gateway.stop();
  vendor.stop();
});
