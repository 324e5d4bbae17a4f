import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import {
  answerHello,
  type RecordingVendor,
  startRecordingVendor,
} from "../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;

beforeAll(() => {
  vendor = startRecordingVendor();
});
beforeEach(() => vendor.reset());
afterAll(() => vendor.stop());

type Options = Parameters<typeof startTestGateway>[0];

async function withGateway(options: Options, use: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startTestGateway(options);
  try {
    await use(gateway);
  } finally {
    await gateway.stop();
  }
}

function ask(gateway: TestGateway, model: string): Promise<Response> {
  return postChat(gateway, { model, messages: [{ role: "user", content: "x" }] });
}

async function idsOf(gateway: TestGateway): Promise<string[]> {
  const { data } = (await (await fetch(`${gateway.base}/models`)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

describe("a provider of the catalog", () => {
  test.each([
    ["", "/v1/chat/completions"],
    ["/", "/v1/chat/completions"],
    ["///", "/v1/chat/completions"],
    ["/deeper", "/v1/deeper/chat/completions"],
  ])("is called at its BASE_URL with its key: …/v1%s", async (end, path) => {
    const environment = { OPENAI_API_KEY: " sk-from-environment ", OPENAI_BASE_URL: vendor.baseUrl + end };
    await withGateway({ environment }, async (gateway) => {
      expect((await ask(gateway, "openai/gpt-4o-mini")).status).toBe(200);
      expect(vendor.last().path).toBe(path);
      expect(vendor.last().headers.get("authorization")).toBe("Bearer sk-from-environment");
      expect(JSON.parse(vendor.last().text).model).toBe("gpt-4o-mini");
    });
  });

  test("is called with the keys of the file rather than of the environment", async () => {
    const environment = { OPENAI_API_KEY: "sk-environment", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    const yaml = `providers: { openai: { base_url: "${vendor.baseUrl}/", api_keys: [sk-file] } }`;
    await withGateway({ environment, yaml }, async (gateway) => {
      expect((await ask(gateway, "openai/gpt-4o-mini")).status).toBe(200);
      expect(vendor.last().headers.get("authorization")).toBe("Bearer sk-file");
    });
  });

  test("is not served without a key, or when it is disabled", async () => {
    for (const options of [
      { environment: { OPENAI_BASE_URL: vendor.baseUrl } },
      { environment: { OPENAI_API_KEY: "  " } },
      { environment: { OPENAI_API_KEY: "sk-x" }, yaml: "providers: { openai: { enabled: false } }" },
    ]) {
      await withGateway(options, async (gateway) => {
        expect(await idsOf(gateway)).toEqual([
          "gateway-auto/frontier",
          "gateway-auto/balanced",
          "gateway-auto/free",
          "gateway-auto/small",
          "sandbox/echo",
          "sandbox/echo:free",
          "sandbox/agent",
          "sandbox/agent:free",
          "sandbox/embed",
          "sandbox/embed:free",
          "sandbox/moderate",
          "sandbox/moderate:free",
          "sandbox/rank",
          "sandbox/rank:free",
          "sandbox/draw",
          "sandbox/draw:free",
          "sandbox/speak",
          "sandbox/speak:free",
          "sandbox/transcribe",
          "sandbox/transcribe:free",
          "mistralai/sandbox-fim",
        ]);
        const refused = await ask(gateway, "openai/gpt-4o-mini");
        expect(refused.status).toBe(400);
        expect(await refused.json()).toMatchObject({
          error: { type: "invalid_model", message: expect.stringContaining("OPENAI_API_KEY") },
        });
      });
    }
  });

  test("disables the sandbox, unless it is enabled explicitly", async () => {
    const environment = { OPENAI_API_KEY: "sk-x" };
    await withGateway({ environment }, async (gateway) => {
      expect(await idsOf(gateway)).not.toContain("sandbox/echo");
    });
    await withGateway({ environment, yaml: "sandbox: on" }, async (gateway) => {
      expect(await idsOf(gateway)).toContain("sandbox/echo");
    });
    await withGateway({ yaml: "sandbox: off" }, async (gateway) => {
      expect(await idsOf(gateway)).toEqual([]);
    });
  });

  test.each(["garbage", "ftp://example.com", "//example.com", "http://", "http://user:secret@127.0.0.1/v1"])(
    "with the invalid base URL %s is rejected at the start by the name of its variable",
    async (address) => {
      const environment = { OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: address };
      const started = startTestGateway({ environment });
      const error = await started.then(
        async (gateway) => {
          await gateway.stop();
          return null;
        },
        (thrown: Error) => thrown,
      );
      expect(error?.message).toContain("OPENAI_BASE_URL");
      expect(error?.message).not.toContain("secret");
    },
  );
});

describe("several keys of a provider", () => {
  const yaml = () => `
providers:
  mine:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-first-0001, sk-second-002]
    models: [{ id: acme/model }]
`;

  test.each([401, 402, 403, 429, 500, 503])(
    "are tried one after the other when the first gets status %d",
    async (status) => {
      await withGateway({ yaml: yaml() }, async (gateway) => {
        vendor.reset((request) =>
          request.headers.get("authorization") === "Bearer sk-first-0001"
            ? Response.json({ error: { message: "no" } }, { status })
            : answerHello(request),
        );
        const response = await ask(gateway, "acme/model");
        expect(response.status).toBe(200);
        expect(response.headers.get("x-gateway-attempts")).toBe("2");
        expect(vendor.requests.map(({ headers }) => headers.get("authorization"))).toEqual([
          "Bearer sk-first-0001",
          "Bearer sk-second-002",
        ]);
      });
    },
  );

  test("are not tried for an invalid request", async () => {
    await withGateway({ yaml: yaml() }, async (gateway) => {
      vendor.reset(() => Response.json({ error: { message: "top_k is unknown" } }, { status: 400 }));
      expect((await ask(gateway, "acme/model")).status).toBe(400);
      expect(vendor.requests).toHaveLength(1);
    });
  });

  test("never appear in an answer, even if the vendor repeats them", async () => {
    await withGateway({ yaml: yaml() }, async (gateway) => {
      vendor.reset((request) => {
        const message = `wrong key ${request.headers.get("authorization")?.slice("Bearer ".length)}`;
        return Response.json({ error: { message } }, { status: 500 });
      });
      const text = await (await ask(gateway, "acme/model")).text();
      expect(text).toContain("wrong key");
      expect(text).not.toMatch(/sk-(first|second)/);
      expect(JSON.stringify(gateway.log)).not.toMatch(/sk-(first|second)/);
    });
  });
});

describe("a self-hosted provider", () => {
  test("lists its models with the configured creation time, or with a default", async () => {
    const models = "[{id: acme/dated, released: 2026-05-31}, {id: acme/plain}]";
    const yaml = `
providers: { own: { base_url: "${vendor.baseUrl}", models: ${models} } }
tiers: [{id: gateway-auto/own, name: Own, released: 2026-04-30, rule: {by: api, cases: {}, else: {models: [acme/plain]}}}]
`;
    await withGateway({ yaml }, async (gateway) => {
      const list = (await (await fetch(`${gateway.base}/models`)).json()) as {
        data: { id: string; created: number }[];
      };
      const createdOf = (id: string) => list.data.find((model) => model.id === id)?.created ?? 0;
      expect(createdOf("acme/dated")).toBe(Date.UTC(2026, 4, 31) / 1000);
      expect(createdOf("gateway-auto/own")).toBe(Date.UTC(2026, 3, 30) / 1000);
      expect(createdOf("acme/plain")).toBeGreaterThan(Date.UTC(2020, 0) / 1000);
    });
  });

  test("is called with the configured name of a model, or with its id without author and :free", async () => {
    const models =
      '[{id: "acme/named:free", name: "named:free"}, {id: "acme/Unnamed:free"}, {id: acme/plain}]';
    const yaml = `providers: { own: { base_url: "${vendor.baseUrl}", models: ${models} } }`;
    await withGateway({ yaml }, async (gateway) => {
      for (const [model, asked] of [
        ["acme/named:free", "named:free"],
        ["acme/unnamed:free", "Unnamed"],
        ["acme/plain", "plain"],
      ] as const) {
        await postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }] });
        expect(JSON.parse(vendor.last().text).model).toBe(asked);
      }
    });
  });

  test("is called with its key also if a header of the configuration has the same name", async () => {
    const headers = `{ authorization: Bearer of-the-header, x-team: a }`;
    const yaml = `providers: { local: { base_url: "${vendor.baseUrl}", api_keys: [of-the-list], headers: ${headers}, models: [{ id: acme/model }] } }`;
    await withGateway({ yaml }, async (gateway) => {
      expect((await ask(gateway, "acme/model")).status).toBe(200);
      expect(vendor.last().headers.get("authorization")).toBe("Bearer of-the-list");
      expect(vendor.last().headers.get("x-team")).toBe("a");
    });
  });

  test("needs no key and is called without one", async () => {
    const yaml = `providers: { local: { base_url: "${vendor.baseUrl}", models: [{ id: acme/model }, { id: "acme/model:free" }] } }`;
    await withGateway({ yaml }, async (gateway) => {
      const response = await ask(gateway, "acme/model");
      expect(response.status).toBe(200);
      expect(response.headers.get("x-gateway-provider")).toBe("local");
      expect(vendor.last().headers.get("authorization")).toBeNull();
      expect(JSON.parse(vendor.last().text).model).toBe("model");
      expect(await idsOf(gateway)).toEqual(["gateway-auto/free", "acme/model", "acme/model:free"]);
    });
  });

  test("serves callers without a key only models whose id ends in :free, whatever their price", async () => {
    const yaml = `providers: { local: { base_url: "${vendor.baseUrl}", models: [{ id: acme/model }, { id: "acme/model:free" }] } }`;
    await withGateway({ yaml }, async (gateway) => {
      const ask = (model: string) =>
        postChat(gateway, { model, messages: [{ role: "user", content: "x" }] }, { authorization: "" });
      expect((await ask("acme/model")).status).toBe(401);
      expect((await ask("acme/model:free")).status).toBe(200);
    });
  });

  test("is charged at exactly the configured prices", async () => {
    const yaml = `
providers:
  local:
    base_url: ${vendor.baseUrl}
    models:
      - id: acme/model
        prices: { prompt: "0.0000001", completion: "0.000000000333333333" }
`;
    await withGateway({ yaml }, async (gateway) => {
      const { usage } = (await (await ask(gateway, "acme/model")).json()) as { usage: { cost: number } };
      // Three tokens at 100 nanodollars and two at a third of a nanodollar are 300.67, rounded.
      expect(usage.cost).toBe(0.000_000_301);
    });
  });

  test.each([
    ["no base_url", "providers: { local: { models: [{ id: acme/model }] } }"],
    ["no models", `providers: { local: { base_url: "http://127.0.0.1:1/v1" } }`],
    ["no settings", "providers: { local: {} }"],
  ])("is rejected at the start with %s", async (_name, yaml) => {
    expect(startTestGateway({ yaml })).rejects.toThrow(/providers\.local/);
  });

  test("can add models with their own prices to a provider of the catalog", async () => {
    const yaml = `
providers:
  openai:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-x-00000001]
    models:
      - id: openai/gpt-4o-mini
        name: tuned
        context_length: 1000
        prices: { prompt: "1", completion: "1" }
      - id: acme/extra
`;
    await withGateway({ yaml }, async (gateway) => {
      expect(await idsOf(gateway)).toContainValues(["acme/extra", "openai/gpt-4o", "openai/gpt-4o-mini"]);
      await ask(gateway, "openai/gpt-4o-mini");
      expect(JSON.parse(vendor.last().text).model).toBe("tuned");
      const record = await (await fetch(`${gateway.base}/models/openai/gpt-4o-mini`)).json();
      expect(record).toMatchObject({ context_length: 1000, pricing: { prompt: "1", completion: "1" } });
    });
  });
});
