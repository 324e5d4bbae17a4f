import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const PROFILE = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: JSON.stringify({
      providers: {
        azure: {
          api_keys: ["sk-azure-0123456789"],
          parts: { resource: "ours" },
          models: [
            { id: "ours/chat", name: "our-deployment", copy_of: "openai/gpt-5.1" },
            {
              id: "ours/cheap",
              name: "other-deployment",
              copy_of: "openai/gpt-5.1",
              prices: { prompt: "0.000001", completion: "0.000002" },
              context_length: 1_000,
            },
          ],
        },
        "amazon-bedrock": {
          api_keys: ["bedrock-0123456789"],
          parts: { region: "eu-central-1" },
          models: [{ id: "ours/sonnet-eu", name: PROFILE }],
        },
      },
    }),
  });
});
afterAll(() => gateway.stop());

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

async function modelOf(id: string): Promise<Body> {
  const response = await fetch(`${gateway.url}/v1/models`);
  const { data } = (await response.json()) as { data: Body[] };
  return data.find((one) => one.id === id);
}

const detailsOf = async (id: string): Promise<Body> =>
  (await callAdmin(gateway, gateway.adminKey, "GET", `/models/${id}`)).data;

const check = (edits: readonly object[]) =>
  callAdmin(gateway, gateway.adminKey, "PATCH", "/config?dry_run=true", { edits });

describe("a model that copies one of the catalog", () => {
  test("has its prices, window, inputs, parameters and reasoning under another name", async () => {
    const [copy, base] = [await modelOf("ours/chat"), await modelOf("openai/gpt-5.1")];
    for (const field of ["context_length", "architecture", "supported_parameters", "pricing"])
      expect([field, copy[field]]).toEqual([field, base[field]]);
    expect(copy.supported_parameters).toContain("reasoning");
    const [ofCopy, ofBase] = [await detailsOf("ours/chat"), await detailsOf("openai/gpt-5.1")];
    const atAzure = ofBase.endpoints.find(({ provider }: Body) => provider === "azure");
    expect(ofCopy.endpoints[0].prices).toEqual(atAzure.prices);
    // The rules of the family, which are found by the model's id.
    expect(ofCopy.endpoints[0].takes).toEqual(atAzure.takes);
    expect(atAzure.takes.length).toBeGreaterThan(0);
  });

  test("has what the configuration states instead", async () => {
    expect(await modelOf("ours/cheap")).toMatchObject({
      context_length: 1_000,
      pricing: { prompt: "0.000001", completion: "0.000002" },
    });
    expect((await modelOf("ours/cheap")).pricing.input_cache_read).toBeUndefined();
  });

  test("is recognized by its name with another geography, of Amazon Bedrock", async () => {
    const [copy, base] = [await modelOf("ours/sonnet-eu"), await modelOf("anthropic/claude-sonnet-4.5")];
    expect(copy.supported_parameters).toEqual(base.supported_parameters);
    expect(Number(copy.pricing.prompt)).toBeGreaterThan(0);
    expect(copy.pricing.input_cache_read).toBeDefined();
  });

  test("is rejected if the catalog has no such model, with similar ones", async () => {
    const { status, body } = await check([
      {
        path: ["providers", "azure", "models", "ours/wrong"],
        value: { id: "ours/wrong", copy_of: "openai/gpt-5.1x" },
      },
    ]);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("Did you mean");
  });
});
