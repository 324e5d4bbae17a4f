import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey } from "../../support/money.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

let first: RecordingVendor;
let second: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  first = startRecordingVendor();
  second = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  alpha:
    base_url: ${first.baseUrl}
    api_keys: [sk-alpha-0123456789]
    models:
      - {id: acme/guard, name: up-guard, output: moderation, prices: {prompt: "0.000001", completion: "0"}}
      - {id: openai/omni-moderation-latest, name: up-omni, output: moderation}
      - {id: acme/rank, name: up-rank, output: rerank, prices: {prompt: "0", completion: "0", search: "0.002"}}
      - {id: acme/rank-tokens, name: up-tokens, output: rerank, prices: {prompt: "0.00000002", completion: "0"}}
      - {id: acme/chat, name: up-chat}
  beta:
    base_url: ${second.baseUrl}
    api_keys: [sk-beta-0123456789]
    models:
      - {id: acme/rank, name: up-beta, output: rerank, prices: {prompt: "0", completion: "0", search: "0.004"}}
`,
    environment: {
      COHERE_API_KEY: "cohere-0123456789",
      COHERE_BASE_URL: first.baseUrl.replace("/v1", ""),
    },
  });
});
beforeEach(() => {
  first.reset(() => Response.json(MODERATION));
  second.reset(() => Response.json(RANKED));
});
afterAll(() => Promise.all([gateway.stop(), first.stop(), second.stop()]));

const MODERATION = {
  id: "modr-vendor",
  model: "up-guard",
  results: [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.98 } }],
};

/** An answer of Cohere's, shortened. */
const RANKED = {
  id: "07734bd2-2473-4f07-94e1-0d9f0e6843cf",
  results: [{ index: 1, relevance_score: 0.999071 }],
  meta: { api_version: { version: "2" }, billed_units: { search_units: 3 } },
};

function post(path: string, body: unknown, key: string | null = gateway.key): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

interface Message {
  readonly error: { readonly message: string };
}

async function messageOf(response: Response): Promise<string> {
  return ((await response.json()) as Message).error.message;
}

/** Returns the generation record of a response, as its caller sees it. */
async function generationOf(response: Response): Promise<Record<string, unknown>> {
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return ((await found.json()) as { data: Record<string, unknown> }).data;
}

describe("POST moderations", () => {
  test.each(["/api/gateway/moderations", "/v1/moderations"])("is served at %s", async (path) => {
    const response = await post(path, { model: "acme/guard", input: "I will hurt you." });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({
      ...MODERATION,
      id: response.headers.get("x-gateway-generation-id"),
      model: "acme/guard",
      // Four tokens by the 16 bytes of the text, because the vendor counts none.
      usage: {
        cost: 0.000004,
        cost_details: {
          upstream_inference_cost: 0.000004,
          upstream_inference_prompt_cost: 0.000004,
          upstream_inference_completions_cost: 0,
        },
        is_byok: false,
        estimated: true,
      },
    });
    expect(first.last().path).toBe("/v1/moderations");
  });

  test("sends the client's bytes with the vendor's name of the model and without fields for the gateway", async () => {
    await post(
      "/v1/moderations",
      '{"input":[ "a" ],"novelty":1.50,"tags":["t"],"model":"acme/guard","user":"ann"}',
    );
    expect(first.last().text).toMatch(
      /^\{"input":\[ "a" \],"novelty":1\.50,"model":"up-guard","user":"[^"]+"\}$/,
    );
    expect(first.last().text).not.toContain("ann");
  });

  test("a request without a model is for OpenAI's default model, which costs nothing", async () => {
    const response = await post("/v1/moderations", { input: [{ type: "text", text: "Hi" }] });
    expect(response.status).toBe(200);
    expect(JSON.parse(first.last().text)).toEqual({
      input: [{ type: "text", text: "Hi" }],
      model: "up-omni",
    });
    expect(await generationOf(response)).toMatchObject({
      model: "openai/omni-moderation-latest",
      total_cost: 0,
    });
  });

  test("the vendor's usage is charged and passed on", async () => {
    first.reset(() => Response.json({ ...MODERATION, usage: { prompt_tokens: 9, total_tokens: 9 } }));
    const response = await post("/v1/moderations", { model: "acme/guard", input: "Hi" });
    const { usage } = (await response.json()) as { usage: unknown };
    expect(usage).toMatchObject({ prompt_tokens: 9, total_tokens: 9, cost: 0.000009 });
    expect(await generationOf(response)).toMatchObject({
      api: "moderations",
      outcome: "completed",
      tokens_prompt: 9,
      estimated: false,
      total_cost: 0.000009,
    });
  });

  test.each([
    [
      { model: "acme/guard" },
      "input is required: a text, a list of texts, or a list of parts of text and images.",
    ],
    [{ model: 7, input: "Hi" }, 'model is required: a string such as "openai/omni-moderation-latest".'],
  ])("rejects %p", async (body, message) => {
    const response = await post("/v1/moderations", body);
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toBe(message);
    expect(first.requests).toHaveLength(0);
  });

  test("a model of another endpoint is rejected with the endpoint that it is for", async () => {
    const response = await post("/v1/moderations", { model: "acme/chat", input: "Hi" });
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toContain(
      '"acme/chat" is a model for conversations. Send it to POST /api/gateway/chat/completions',
    );
  });
});

const ASK = { model: "acme/rank", query: "What is bread?", documents: ["a", "b"] };

describe("POST rerank", () => {
  test("charges the searches that the vendor counts", async () => {
    first.reset(() => Response.json(RANKED));
    const response = await post("/v1/rerank", ASK);
    expect(response.status).toBe(200);
    const { usage, results, meta } = (await response.json()) as Record<string, unknown>;
    expect({ results, meta }).toEqual({ results: RANKED.results, meta: RANKED.meta });
    expect(usage).toMatchObject({ cost: 0.006 });
    expect(first.last().path).toBe("/v1/rerank");
    expect(await generationOf(response)).toMatchObject({
      api: "rerank",
      web_searches: 3,
      total_cost: 0.006,
      estimated: false,
      pricing: [{ kind: "search", count: 3, price: "0.002", cost_nanodollars: "6000000" }],
    });
  });

  test("charges the tokens of a vendor that counts tokens", async () => {
    first.reset(() =>
      Response.json({ object: "list", model: "up", usage: { total_tokens: 815 }, results: RANKED.results }),
    );
    const response = await post("/v1/rerank", { ...ASK, model: "acme/rank-tokens" });
    expect(await response.json()).toMatchObject({ model: "acme/rank-tokens", usage: { cost: 0.0000163 } });
  });

  test("estimates the searches of a vendor that counts nothing: one for each hundred documents", async () => {
    first.reset(() => Response.json({ results: RANKED.results }));
    const documents = Array.from({ length: 101 }, (_, at) => `document ${at}`);
    const response = await post("/v1/rerank", { ...ASK, documents });
    expect(await response.json()).toMatchObject({ usage: { cost: 0.004, estimated: true } });
  });

  test("an answer without results has failed, and the next provider is asked", async () => {
    first.reset(() => Response.json({ id: "x", meta: {} }));
    const response = await post("/v1/rerank", ASK);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-gateway-provider")).toBe("beta");
    expect(JSON.parse(second.last().text)).toEqual({ ...ASK, model: "up-beta" });
    expect(await response.json()).toMatchObject({ usage: { cost: 0.012 } });
  });

  test("Cohere is called at its own path", async () => {
    first.reset(() => Response.json(RANKED));
    const response = await post("/v1/rerank", { ...ASK, model: "cohere/rerank-v3.5" });
    expect(response.status).toBe(200);
    expect(first.last().path).toBe("/v2/rerank");
    expect(JSON.parse(first.last().text)).toEqual({ ...ASK, model: "rerank-v3.5" });
  });

  test.each([
    [
      { model: "acme/rank", documents: ["a"] },
      "query is required: the text that the documents are compared with.",
    ],
    [{ ...ASK, documents: [] }, "documents is required: a list of texts."],
    [{ ...ASK, documents: ["a", 7] }, "documents[1] must be a text, or an object with its text."],
    [
      { ...ASK, documents: Array.from({ length: 10_001 }, () => "a") },
      "documents has 10001 documents; at most 10000 are accepted. Send several requests.",
    ],
  ])("rejects an invalid request (%#)", async (body, message) => {
    const response = await post("/v1/rerank", body);
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toBe(message);
  });

  test("an account without money for the searches that a request may have is rejected before a provider is asked", async () => {
    const key = await addAccountWithKey(gateway, { id: "user_poor" });
    const response = await post("/v1/rerank", ASK, key);
    expect(response.status).toBe(402);
    expect(first.requests).toHaveLength(0);
  });
});
