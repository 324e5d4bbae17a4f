import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { ConfigError, checkConfig } from "../../src/app/config/load-config.ts";
import { buildServing } from "../../src/app/serving/build-serving.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { createFetchTransport } from "../../src/providers/fetch/transport.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";
import {
  answerHello,
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
} from "../support/vendors/recording-vendor.ts";
import { makeServiceAccount } from "../support/vendors/service-account.ts";

const ACCOUNT = makeServiceAccount();
const folder = makeTempFolder("addresses-");
const keyFile = join(folder, "key.json");
writeFileSync(keyFile, ACCOUNT.json);

let vendor: RecordingVendor;

beforeAll(() => {
  vendor = startRecordingVendor();
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  await vendor.stop();
  rmSync(folder, { recursive: true });
});

type Options = Parameters<typeof startTestGateway>[0];

async function withGateway(options: Options, use: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startTestGateway(options);
  try {
    await use(gateway);
  } finally {
    await gateway.stop();
  }
}

function ask(gateway: TestGateway, model: string, rest: Readonly<Record<string, unknown>> = {}) {
  return postChat(gateway, { model, messages: [{ role: "user", content: "x" }], ...rest });
}

describe("Azure", () => {
  test.each([
    ["an endpoint", {}, "/v1/openai/v1/chat/completions"],
    [
      "an API version",
      { OPENAI_API_VERSION: "2024-10-21" },
      "/v1/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21",
    ],
  ])("is called at the URL of the variables of its own client: with %s", async (_name, more, path) => {
    const environment = {
      AZURE_OPENAI_API_KEY: "azure-key-0001",
      AZURE_OPENAI_ENDPOINT: `${vendor.baseUrl}/`,
      ...more,
    };
    await withGateway({ environment }, async (gateway) => {
      const response = await ask(gateway, "openai/gpt-4o-mini");
      expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "azure"]);
      expect(vendor.last().path + vendor.last().search).toBe(path);
      expect(vendor.last().headers.get("api-key")).toBe("azure-key-0001");
      expect(vendor.last().headers.get("authorization")).toBeNull();
      expect(JSON.parse(vendor.last().text).model).toBe("gpt-4o-mini");
    });
  });
});

describe("a self-hosted provider", () => {
  test("gets its key in the configured header", async () => {
    const yaml = `providers: { cellar: { base_url: "${vendor.baseUrl}", api_keys: [cellar-key-1], auth: x-api-key, models: [{ id: acme/model }] } }`;
    await withGateway({ yaml }, async (gateway) => {
      expect((await ask(gateway, "acme/model")).status).toBe(200);
      expect(vendor.last().headers.get("x-api-key")).toBe("cellar-key-1");
      expect(vendor.last().headers.get("authorization")).toBeNull();
    });
  });
});

describe("Vertex", () => {
  const yaml = (more = "") => `
timers: { total_ms: 1000 }
providers:
  google-vertex-openai:
    base_url: ${new URL(vendor.baseUrl).origin}
    parts: { project: my-project }
    token_url: ${vendor.baseUrl}/token
    models: [{ id: acme/model }]
${more}`;
  const environment = { GOOGLE_APPLICATION_CREDENTIALS: keyFile, GOOGLE_CLOUD_LOCATION: "us-east5" };
  const isToken = (request: RecordedRequest) => request.path.endsWith("/token");

  test("is called with an access token of its service account, which is fetched once", async () => {
    vendor.reset((request) =>
      isToken(request)
        ? Response.json({ access_token: "ya29.token", expires_in: 3600 })
        : answerHello(request),
    );
    await withGateway({ yaml: yaml(), environment }, async (gateway) => {
      for (const stream of [false, true])
        expect((await ask(gateway, "acme/model", { stream })).status).toBe(200);
      const path = "/v1/projects/my-project/locations/us-east5/endpoints/openapi/chat/completions";
      expect(vendor.requests.map((request) => request.path)).toEqual(["/v1/token", path, path]);
      expect(vendor.last().headers.get("authorization")).toBe("Bearer ya29.token");
    });
  });

  test.each([
    [
      "rejects the key",
      () => Response.json({ error: "invalid_grant" }, { status: 400 }),
      "upstream_error",
      502,
    ],
    ["fails", () => new Response("", { status: 500 }), "unavailable", 503],
    ["does not answer", () => new Promise<Response>(() => {}), "unavailable", 503],
  ])(
    "is not called if its token endpoint %s, and no secret appears in the answer",
    async (_name, respond, type, status) => {
      vendor.reset(respond);
      await withGateway({ yaml: yaml(), environment }, async (gateway) => {
        const response = await ask(gateway, "acme/model");
        const text = await response.text();
        expect(response.status).toBe(status);
        expect(JSON.parse(text)).toMatchObject({
          error: { type, metadata: { provider: "google-vertex-openai", upstream_status: null } },
        });
        expect(vendor.requests.every(isToken)).toBe(true);
        for (const told of [text, JSON.stringify(gateway.log)]) {
          expect(told).not.toMatch(/PRIVATE KEY|robot@|assertion/);
        }
      });
    },
  );

  test("is no longer waited for once the total time of a request is over, although its token endpoint may take longer", async () => {
    const asked = Promise.withResolvers<void>();
    vendor.reset(() => {
      asked.resolve();
      return new Promise<Response>(() => {});
    });
    const clock = createTestClock();
    await withGateway({ yaml: yaml(), environment, clock }, async (gateway) => {
      const answer = ask(gateway, "acme/model");
      await asked.promise;
      await turnEventLoop();
      clock.advance(1_000);
      expect((await answer).status).toBe(503);
    });
  });

  test("is replaced by the next provider if there is no access token", async () => {
    vendor.reset((request) =>
      isToken(request) ? Response.json({ error: "invalid_grant" }, { status: 400 }) : answerHello(request),
    );
    const dear = `{ id: acme/model, prices: { prompt: "1", completion: "1" } }`;
    const more = `  cellar: { base_url: "${vendor.baseUrl}", models: [${dear}] }`;
    await withGateway({ yaml: yaml(more), environment }, async (gateway) => {
      const response = await ask(gateway, "acme/model");
      expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "cellar"]);
    });
  });
});

describe("a notice at the start", () => {
  test("names the models of configured tiers that the catalog does not have", () => {
    const yaml = `
tiers:
  - id: gateway-auto/mine
    name: Mine
    rule: { by: balance, paid: { models: [acme/gone, openai/gpt-4o] }, else: { models: [acme/gone] } }`;
    expect(noticesFor({}, yaml)).toEqual([
      "tiers: gateway-auto/mine names models that the catalog does not have; they are skipped: acme/gone",
    ]);
  });

  const data = loadShippedCatalog();

  function noticesFor(environment: Readonly<Record<string, string>>, yaml = ""): readonly string[] {
    const transport = createFetchTransport();
    const { notices, providerProblems } = buildServing(data, {
      config: checkConfig(yaml, "gateway.yaml", {}),
      environment,
      clock: systemClock,
      transport,
      sandboxTransport: transport,
    });
    if (providerProblems.length > 0) throw new ConfigError(providerProblems);
    return notices;
  }

  test.each([
    [
      "a missing part of a base URL",
      { AZURE_OPENAI_API_KEY: "x" },
      "Azure OpenAI has a key but no resource: set AZURE_RESOURCE_NAME or providers.azure.parts.resource or AZURE_BASE_URL",
    ],
    [
      "a missing part of a path",
      { GOOGLE_APPLICATION_CREDENTIALS: keyFile, GOOGLE_VERTEX_LOCATION: "us-east5" },
      "Google Vertex AI (open models) has a key but no project: set GOOGLE_VERTEX_PROJECT or GOOGLE_CLOUD_PROJECT or providers.google-vertex-openai.parts.project",
    ],
    [
      "a key file that other programs use too",
      { GOOGLE_APPLICATION_CREDENTIALS: keyFile, GOOGLE_CLOUD_PROJECT: "shared" },
      "Google Vertex AI (open models) is not served with GOOGLE_APPLICATION_CREDENTIALS, which other programs use too: set GOOGLE_VERTEX_PROJECT or GOOGLE_VERTEX_LOCATION or GOOGLE_VERTEX_OPENAI_BASE_URL, or name google-vertex-openai under providers in the configuration",
    ],
    [
      "a key that other programs use too",
      { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE00000", AWS_SECRET_ACCESS_KEY: "hidden", AWS_REGION: "eu-central-1" },
      "Amazon Bedrock is not served with AWS_ACCESS_KEY_ID, which other programs use too: set AWS_BEDROCK_REGION or AWS_BEDROCK_BASE_URL, or name amazon-bedrock under providers in the configuration",
    ],
    [
      "a key file that cannot be read",
      { GOOGLE_APPLICATION_CREDENTIALS: "/nowhere/key.json", GOOGLE_VERTEX_PROJECT: "p" },
      "Google Vertex AI (open models) has no key: GOOGLE_APPLICATION_CREDENTIALS names /nowhere/key.json: ENOENT",
    ],
    ["none without any variable", {}, null],
    ["none with all variables", { AZURE_API_KEY: "x", AZURE_RESOURCE_NAME: "mine" }, null],
  ] satisfies (readonly [string, Record<string, string>, string | null])[])(
    "describes the problem: %s",
    (_name, environment, words) => {
      const notices = noticesFor(environment).filter((notice) => !notice.includes("is not spoken"));
      if (words === null) expect(notices.filter((notice) => notice.startsWith("Azure OpenAI"))).toEqual([]);
      else expect(notices).toContainEqual(expect.stringContaining(words));
      expect(notices.join()).not.toContain("hidden");
    },
  );

  test("reports a key of the wrong kind without the key", () => {
    const yaml = "providers: { google-vertex-openai: { parts: { project: p }, api_keys: [hidden-api-key] } }";
    expect(noticesFor({}, yaml)).toEqual([
      "Google Vertex AI (open models) has a key, but cannot be called: it does not accept API keys; use the JSON key file of a service account",
    ]);
  });

  test("does not repeat what the catalog says", () => {
    const yaml = "providers: { openai: { format: gemini } }";
    expect(() => noticesFor({}, yaml)).toThrow("providers.openai.format");
  });

  test("reports a base URL that ends in a query", () => {
    const environment = { OPENAI_API_KEY: "x", OPENAI_BASE_URL: "https://x.example/v1?key=1" };
    expect(() => noticesFor(environment)).toThrow("OPENAI_BASE_URL");
  });
});
