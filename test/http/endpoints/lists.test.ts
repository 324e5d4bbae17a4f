import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    environment: { OPENAI_API_KEY: "sk-test-openai-0001", GROQ_API_KEY: "gsk-test-groq-0001" },
    yaml: "sandbox: on",
  });
});
afterAll(() => gateway.stop());

interface List {
  readonly object: string;
  readonly data: Record<string, unknown>[];
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.base + path, { headers });
}

async function list(path: string): Promise<List> {
  const response = await get(path);
  expect(response.status).toBe(200);
  return (await response.json()) as List;
}

const DECIMAL = /^\d+(\.\d+)?$/;
const isNullOr = (check: (value: unknown) => boolean) => (value: unknown) => value === null || check(value);
const unlessNull = (value: unknown, expected: unknown) => (value === null ? null : expected);
const isString = (value: unknown) => typeof value === "string";

/** Checks every documented field, and that there is no other. */
function expectModelRecord(record: Record<string, unknown>): void {
  const id = record["id"] as string;
  const isTier = id.startsWith("gateway-auto/");
  const top = record["top_provider"] as Record<string, unknown>;
  expect(id).toMatch(/^[^/\s]+\/\S+$/);
  expect(record).toEqual({
    id,
    object: "model",
    created: expect.any(Number),
    owned_by: isTier ? "gateway" : id.slice(0, id.indexOf("/")),
    name: expect.stringMatching(/\S/),
    description: expect.any(String),
    canonical_slug: expect.stringMatching(/\S/),
    context_length: expect.any(Number),
    architecture: {
      input_modalities: expect.any(Array),
      output_modalities: expect.any(Array),
      tokenizer: expect.any(String),
      modality: expect.stringMatching(/->/),
    },
    top_provider: {
      context_length: expect.any(Number),
      max_completion_tokens: unlessNull(top["max_completion_tokens"], expect.any(Number)),
      is_moderated: expect.any(Boolean),
    },
    supported_parameters: expect.any(Array),
    pricing: expect.any(Object),
    isFree: id.endsWith(":free") || id === "gateway-auto/free",
    expiration_date: unlessNull(record["expiration_date"], expect.stringMatching(/^\d{4}-\d\d-\d\d/)),
    links: { details: `/api/gateway/models/${id}/endpoints` },
    default_parameters: null,
    per_request_limits: null,
    supported_voices: null,
    ...(isTier ? { resolves_to: expect.any(Array) } : {}),
  });
}

function expectNumbersAndPrices(record: Record<string, unknown>): void {
  expect(record["created"]).toBeInteger();
  // Clients sort by it and show 0 as the year 1970.
  expect(record["created"] as number).toBeGreaterThan(Date.UTC(2020, 0) / 1000);
  expect(record["context_length"]).toBeInteger();
  expect(record["context_length"] as number).toBeGreaterThan(0);
  const top = record["top_provider"] as Record<string, unknown>;
  expect(top["context_length"] as number).toBeGreaterThanOrEqual(record["context_length"] as number);
  const { overrides, ...prices } = record["pricing"] as Record<string, unknown>;
  expect(prices).toContainKeys(["prompt", "completion"]);
  for (const price of Object.values(prices)) expect(price).toMatch(DECIMAL);
  for (const override of (overrides ?? []) as Record<string, unknown>[]) {
    const { min_prompt_tokens, ...others } = override;
    expect(min_prompt_tokens).toBeInteger();
    for (const price of Object.values(others)) expect(price).toMatch(DECIMAL);
  }
}

describe("GET models", () => {
  test("returns records in which each field has its type", async () => {
    const { object, data } = await list("/models");
    expect(object).toBe("list");
    expect(data.length).toBeGreaterThan(20);
    for (const record of data) {
      expectModelRecord(record);
      expectNumbersAndPrices(record);
    }
  });

  test("has the records that `limit` and `offset` name, and none after the last", async () => {
    const all = (await list("/models")).data;
    const part = await list("/models?limit=2&offset=1");
    expect(part.data).toEqual(all.slice(1, 3));
    expect(part).toMatchObject({ total_count: all.length, links: { next: null } });
    expect((await list(`/models?offset=${all.length}`)).data).toEqual([]);
  });

  test("has the records that `models/user` and `models/count` are about", async () => {
    const { data } = await list("/models");
    expect((await list("/models/user")).data).toEqual(data);
    expect(await (await get("/models/count")).json()).toEqual({ data: { count: data.length } });
    const one = await (await get("/model/sandbox/echo")).json();
    expect(one).toEqual({ data: data.find(({ id }) => id === "sandbox/echo") });
  });

  test("contains each model once", async () => {
    const ids = (await list("/models")).data.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("contains the models of configured providers, and the whole catalog with ?all=true", async () => {
    const served = new Set((await list("/models")).data.map(({ id }) => id));
    const all = (await list("/models?all=true")).data;
    expect(served).toContain("sandbox/echo");
    expect(served).toContain("openai/gpt-4o-mini");
    expect([...served].some((id) => String(id).startsWith("anthropic/"))).toBe(false);
    expect(all.some(({ id }) => String(id).startsWith("anthropic/"))).toBe(true);
    expect(all.length).toBeGreaterThan(served.size);
    const allIds = new Set(all.map(({ id }) => id));
    expect([...served].filter((id) => !allIds.has(id))).toEqual([]);
    for (const record of all) expectNumbersAndPrices(record);
  });

  test("ignores every value of `all` except true", async () => {
    const served = (await list("/models")).data.length;
    for (const query of ["?all=false", "?all", "?all=1", "?other=true", "?limit=1000"]) {
      expect((await list(`/models${query}`)).data.length).toBe(served);
    }
  });

  test("lists `tools` as a parameter of models that support tools", async () => {
    const { data } = await list("/models");
    const echo = data.find(({ id }) => id === "sandbox/echo");
    expect(echo?.["supported_parameters"]).toContain("tools");
  });

  test("lists sampling parameters only for the models that support them", async () => {
    const { data } = await list("/models?all=true");
    const sampling = [
      "frequency_penalty",
      "logprobs",
      "n",
      "presence_penalty",
      "seed",
      "stop",
      "top_logprobs",
    ];
    const supportedBy = (id: string) => {
      const listed = data.find((model) => model.id === id)?.["supported_parameters"] as string[];
      return sampling.filter((parameter) => listed.includes(parameter));
    };
    expect(supportedBy("openai/gpt-4o")).toEqual(sampling);
    expect(supportedBy("openai/gpt-5.1")).not.toContain("temperature");
    expect(supportedBy("openai/gpt-5.1")).not.toContain("frequency_penalty");
    expect(supportedBy("openai/gpt-5.1")).toContain("seed");
    expect(supportedBy("anthropic/claude-sonnet-4.5")).toContain("stop");
    expect(supportedBy("mistralai/mistral-medium-latest")).toEqual([
      "frequency_penalty",
      "n",
      "presence_penalty",
      "seed",
      "stop",
    ]);
    expect(supportedBy("openai/text-embedding-3-small")).toEqual([]);
    expect(supportedBy("sandbox/echo")).toEqual(["n", "seed", "stop"]);
  });

  test("lists the supported parameters of each model endpoint separately", async () => {
    const response = await get("/models/anthropic/claude-sonnet-4.5/endpoints");
    const { data } = (await response.json()) as {
      data: { endpoints: { tag: string; supported_parameters: string[] }[] };
    };
    const anthropic = data.endpoints.find(({ tag }) => tag === "anthropic")?.supported_parameters;
    expect(anthropic).toContain("stop");
    expect(anthropic).not.toContain("seed");
  });
});

describe("a list that the client has cached", () => {
  test.each(["/models", "/models?all=true", "/providers", "/providers?all=true"])(
    "is answered with 304 and no body: %s",
    async (path) => {
      const first = await get(path);
      const etag = first.headers.get("etag") as string;
      expect(etag).toMatch(/^"[^"]+"$/);
      expect(first.headers.get("cache-control")).toBe("no-cache");
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const again = await get(path, { "if-none-match": known });
        expect([again.status, await again.text()]).toEqual([304, ""]);
        expect(again.headers.get("etag")).toBe(etag);
        expect(again.headers.get("x-request-id")).toStartWith("req_");
      }
      const other = await get(path, { "if-none-match": '"other"' });
      expect(other.status).toBe(200);
      expect(await other.text()).toBe(await first.text());
    },
  );

  test("has its own entity tag for each list", async () => {
    const tags = await Promise.all(
      ["/models", "/models?all=true", "/providers", "/providers?all=true"].map(async (path) =>
        (await get(path)).headers.get("etag"),
      ),
    );
    expect(new Set(tags).size).toBe(tags.length);
  });
});

describe("GET models/{author}/{model}", () => {
  test.each([
    ["/models/sandbox/echo", "sandbox/echo"],
    ["/models/sandbox/echo:free", "sandbox/echo:free"],
    ["/models/sandbox/echo%3Afree", "sandbox/echo:free"],
    ["/models/sandbox%2Fecho:free", "sandbox/echo:free"],
    ["/models/Sandbox/ECHO", "sandbox/echo"],
    ["/models/openai/gpt-4o-mini", "openai/gpt-4o-mini"],
  ])("%s returns the record of %s as in the list", async (path, id) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    const record = (await list("/models")).data.find((listed) => listed["id"] === id);
    expect(await response.json()).toEqual(record);
  });

  test("returns models of the catalog that are not served", async () => {
    const record = (await list("/models?all=true")).data.find(({ id }) =>
      String(id).startsWith("anthropic/"),
    );
    const response = await get(`/models/${record?.["id"]}`);
    expect(await response.json()).toEqual(record);
  });

  test.each([
    "/models/sandbox/none",
    "/models/none",
    "/models/a/b/endpoints",
    "/models/sandbox/%F0%9F%A6%89",
  ])("%s returns 404", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { type: "not_found", code: 404 } });
  });
});

describe("GET models/{author}/{model}/endpoints", () => {
  test("returns the provider, name, prices and capabilities of each model endpoint", async () => {
    const response = await get("/models/sandbox/echo:free/endpoints");
    expect(await response.json()).toEqual({
      data: {
        id: "sandbox/echo:free",
        name: "Sandbox echo (free)",
        created: expect.any(Number),
        description: expect.any(String),
        architecture: {
          input_modalities: expect.arrayContaining(["text"]),
          output_modalities: ["text"],
          tokenizer: expect.any(String),
          modality: expect.stringMatching(/^text.*->text$/),
          instruct_type: null,
        },
        endpoints: [
          {
            name: "Sandbox (built-in, for tests) | sandbox/echo:free",
            provider_name: "Sandbox (built-in, for tests)",
            tag: "sandbox",
            model_id: "sandbox/echo:free",
            model_name: "echo",
            context_length: 131_072,
            max_completion_tokens: 32_768,
            max_prompt_tokens: null,
            quantization: null,
            pricing: { prompt: "0", completion: "0" },
            supported_parameters: expect.arrayContaining(["tools"]),
            supports_tool_choice: { auto: true, none: true, required: true, function: true },
            supports_implicit_caching: false,
            configured: true,
            expiration_date: null,
            uptime_last_5m: null,
            uptime_last_30m: null,
            uptime_last_1d: null,
            latency_last_30m: null,
            throughput_last_30m: null,
            health: "unknown",
            uptime: null,
            latency_ms: null,
            throughput: null,
            requests: 0,
          },
        ],
      },
    });
  });

  test("marks the model endpoints whose provider is configured", async () => {
    const { data } = (await (await get("/models/openai/gpt-4o-mini/endpoints")).json()) as {
      data: { endpoints: { tag: string; configured: boolean }[] };
    };
    expect(data.endpoints.find(({ tag }) => tag === "openai")?.configured).toBe(true);
    expect(data.endpoints.filter(({ configured }) => configured).map(({ tag }) => tag)).toEqual(["openai"]);
  });
});

describe("GET providers", () => {
  test.each(["/providers", "/providers?all=true"])("%s returns complete records", async (path) => {
    const { object, data } = await list(path);
    expect(object).toBe("list");
    for (const record of data) {
      expect(Object.keys(record).sort()).toEqual(
        [
          "slug",
          "name",
          "displayName",
          "privacy_policy_url",
          "terms_of_service_url",
          "status_page_url",
          "headquarters",
          "datacenters",
          "byokEnabled",
          "models",
        ].sort(),
      );
      for (const field of ["slug", "name", "displayName"]) expect(record[field]).toBeString();
      for (const field of ["privacy_policy_url", "terms_of_service_url", "status_page_url", "headquarters"]) {
        expect(record[field]).toSatisfy(isNullOr(isString));
      }
      expect(record["datacenters"]).toSatisfy(isNullOr(Array.isArray));
      expect(record["byokEnabled"]).toBeBoolean();
      expect(record["models"]).toBeInteger();
    }
  });

  test("contains the configured providers, and all of the catalog with ?all=true", async () => {
    const slugs = (await list("/providers")).data.map(({ slug }) => slug);
    expect(slugs.sort()).toEqual(["groq", "openai", "sandbox"]);
    const all = (await list("/providers?all=true")).data.map(({ slug }) => slug);
    expect(all).toContain("anthropic");
    expect(slugs.filter((slug) => !all.includes(slug))).toEqual([]);
  });

  test("contains the number of models that a provider serves", async () => {
    const sandbox = (await list("/providers")).data.find(({ slug }) => slug === "sandbox");
    // Echo, agent, embed, moderate, rank, draw, speak and transcribe, each also free, and one that fills in the middle.
    expect(sandbox?.["models"]).toBe(17);
  });
});
