import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type AskableApi, CLIENT_APIS, yamlForAllApis } from "../../support/clients/client-apis.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type PreparedAccount, prepareData } from "../../support/gateway/prepared-data.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

const [CHAT] = CLIENT_APIS as readonly [AskableApi];
const PRICED = '{prompt: "0.000002", completion: "0.000002"}';

let first: RecordingVendor;
let second: RecordingVendor;
let gateway: TestGateway;

beforeEach(() => {
  first = startRecordingVendor();
  second = startRecordingVendor();
});
afterEach(() => Promise.all([gateway.stop(), first.stop(), second.stop()]));

interface Setup {
  readonly account?: PreparedAccount;
  /** The operator's policy. */
  readonly policy?: string;
  /** Further configuration of the providers alpha and beta. */
  readonly alpha?: string;
  readonly beta?: string;
}

/** Serves `acme/model` at alpha, which is cheaper, and at beta; `other/model` only at beta. */
async function start({ account = {}, policy = "{}", alpha = "", beta = "" }: Setup): Promise<void> {
  const { dataDir, keys } = await prepareData([account]);
  gateway = await startTestGateway({
    dataDir,
    key: keys[0]?.[0] ?? "",
    yaml: `
policy: ${policy}
providers:
  alpha:
    base_url: ${first.baseUrl}
    ${alpha}
    models: [{id: acme/model, name: up}, {id: "acme/gift:free", name: up}]
  beta:
    base_url: ${second.baseUrl}
    ${beta}
    models: [{id: acme/model, name: up, prices: ${PRICED}}, {id: other/model, name: up, prices: ${PRICED}}]
`,
  });
}

interface Asking {
  readonly model?: string;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly key?: string | null;
}

function ask({ model = "acme/model", more, key = gateway.key }: Asking = {}, api = CHAT): Promise<Response> {
  const base = api.path.startsWith("/fim") ? `${gateway.url}/api` : gateway.base;
  return fetch(`${base}${api.path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(api.body(model, more)),
  });
}

interface RejectionBody {
  readonly type: string;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

async function readRejection(response: Response): Promise<[number, string, unknown]> {
  const { error } = (await response.json()) as { error: RejectionBody };
  return [response.status, error.type, error.metadata["rule"] ?? error.metadata["field"]];
}

const providerOf = (response: Response) => response.headers.get("x-gateway-provider");

describe("a model that a policy denies", () => {
  test.each(CLIENT_APIS.map((api) => [api.name, api] as const))(
    "is rejected in the error format of %s, and no upstream is called",
    async (_name, api) => {
      const { dataDir, keys } = await prepareData([{ policy: { deniedModels: ["acme/*", "mistralai/*"] } }]);
      const key = keys[0]?.[0] ?? "";
      gateway = await startTestGateway({ dataDir, key, yaml: yamlForAllApis(first.baseUrl) });
      const response = await ask({ model: api.model }, api);
      expect(response.status).toBe(403);
      const text = await response.text();
      expect(text).toContain("The account's policy (denied_models) does not allow");
      expect(text).toContain('"rule":"account.denied_models"');
      expect(text).not.toMatch(/rate limit|try again later|overloaded/i);
      expect(first.requests).toHaveLength(0);
    },
  );

  test.each<[string, Setup, string]>([
    ["the gateway's denied models", { policy: '{denied_models: ["acme/*"]}' }, "gateway.denied_models"],
    ["the gateway's allowed models", { policy: "{allowed_models: [other/model]}" }, "gateway.allowed_models"],
    [
      "the account's allowed models",
      { account: { policy: { allowedModels: ["other/*"] } } },
      "account.allowed_models",
    ],
    ["the key's allowed models", { account: { keyModels: ["other/*"] } }, "key.allowed_models"],
    ["the gateway's denied providers", { policy: '{denied_providers: ["*"]}' }, "gateway.denied_providers"],
    ["the gateway's data rules", { policy: "{zero_retention: true}" }, "gateway.zero_retention"],
  ])("is rejected with the name of the rule: %s", async (_whose, setup, rule) => {
    await start(setup);
    expect(await readRejection(await ask())).toEqual([403, "model_not_allowed", rule]);
    expect([...first.requests, ...second.requests]).toHaveLength(0);
  });

  test("is not used as a fallback, and a denied provider is not a candidate", async () => {
    await start({ account: { policy: { deniedModels: ["other/*"] } }, policy: "{denied_providers: [beta]}" });
    first.reset(() => Response.json({}, { status: 500 }));
    const response = await ask({ more: { models: ["other/model"] } });
    expect(response.status).toBe(502);
    expect(first.requests.length).toBeGreaterThan(0);
    expect(second.requests).toHaveLength(0);
  });

  test("is replaced by an allowed fallback model", async () => {
    await start({ account: { policy: { deniedModels: ["acme/*"] } } });
    const response = await ask({ more: { models: ["other/model"] } });
    expect([response.status, response.headers.get("x-gateway-model")]).toEqual([200, "other/model"]);
  });

  test("is rejected by the gateway's policy without a key too, and does not count towards the rate limit", async () => {
    await start({ policy: '{denied_models: ["*:free"]}' });
    const response = await ask({ model: "acme/gift:free", key: null });
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("200");
    expect(await readRejection(response)).toEqual([403, "model_not_allowed", "gateway.denied_models"]);
  });

  test("is rejected by the count_tokens endpoint", async () => {
    await start({ policy: '{denied_models: ["acme/*"]}' });
    const response = await fetch(`${gateway.base}/messages/count_tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/model", messages: [{ role: "user", content: "Hello!" }] }),
    });
    expect(response.status).toBe(403);
  });
});

describe("a request with data rules", () => {
  const FACTS = { alpha: "trains_on_data: false", beta: "zero_retention: true\n    trains_on_data: false" };

  test.each<[string, Setup, Asking["more"], string | null]>([
    ["goes to the cheapest provider if no rule applies", FACTS, {}, "alpha"],
    ["goes to a provider with zero retention if it demands zdr", FACTS, { provider: { zdr: true } }, "beta"],
    [
      "may go to a provider that stores data and does not train on it if it denies data collection",
      FACTS,
      { provider: { data_collection: "deny" } },
      "alpha",
    ],
    [
      "goes to no provider whose training is unknown if it denies data collection",
      { beta: FACTS.beta },
      { provider: { data_collection: "deny" } },
      "beta",
    ],
    [
      "follows the zero retention of its account's policy",
      { ...FACTS, account: { policy: { zeroRetention: true } } },
      {},
      "beta",
    ],
    [
      "cannot relax the gateway's policy",
      { ...FACTS, policy: "{zero_retention: true}" },
      { provider: { zdr: false, data_collection: "allow", order: ["alpha"] } },
      "beta",
    ],
  ])("%s", async (_what, setup, more, provider) => {
    await start(setup);
    const response = await ask(more === undefined ? {} : { more });
    expect([response.status, providerOf(response)]).toEqual([200, provider]);
  });

  test("falls back to no provider without known zero retention", async () => {
    await start(FACTS);
    second.reset(() => Response.json({}, { status: 500 }));
    expect((await ask({ more: { provider: { zdr: true } } })).status).toBe(502);
    expect(first.requests).toHaveLength(0);
  });

  test.each([
    [{ zdr: true }, "provider.zdr"],
    [{ data_collection: "deny" }, "provider.data_collection"],
  ])(
    "is rejected with the name of its rule if no provider is known to meet it: %j",
    async (provider, field) => {
      await start({});
      for (const api of CLIENT_APIS.slice(0, 3)) {
        const response = await ask({ more: { provider } }, api);
        expect(response.status).toBe(400);
        expect(await response.text()).toContain(field);
      }
      expect([...first.requests, ...second.requests]).toHaveLength(0);
    },
  );
});

describe("the provider rules of a request", () => {
  test("limit the price in dollars per million tokens", async () => {
    await start({ alpha: "enabled: true" });
    const capped = (prompt: number | string) =>
      ask({ model: "other/model", more: { provider: { max_price: { prompt } } } });
    expect((await capped(2)).status).toBe(200);
    expect((await capped("2.5")).status).toBe(200);
    expect(await readRejection(await capped(1.99))).toEqual([400, "invalid_request", "provider.max_price"]);
  });

  test("order by price, latency or throughput, and the route header says which", async () => {
    await start({});
    for (const sort of ["price", "latency", "throughput"]) {
      const response = await ask({ more: { provider: { sort } } });
      expect(response.headers.get("x-gateway-route")).toContain(`;why=${sort}`);
    }
  });

  test("with require_parameters filter out providers that lack a parameter of the request", async () => {
    await start({});
    const required = { provider: { require_parameters: true } };
    expect((await ask({ more: { ...required, temperature: 1 } })).status).toBe(200);
    expect(await readRejection(await ask({ more: { ...required, reasoning: { effort: "low" } } }))).toEqual([
      400,
      "invalid_request",
      "provider.require_parameters",
    ]);
    // A custom host supports `seed`, and is not known to support log probabilities.
    expect((await ask({ more: { ...required, seed: 7, stop: ["END"] } })).status).toBe(200);
    expect(await readRejection(await ask({ more: { ...required, logprobs: true } }))).toEqual([
      400,
      "invalid_request",
      "provider.require_parameters",
    ]);
  });

  test("with require_parameters filter out providers whose format has no field for a parameter", async () => {
    await start({ alpha: "format: anthropic-messages" });
    const required = { provider: { require_parameters: true, order: ["alpha"] } };
    expect(providerOf(await ask({ more: { ...required, seed: 7 } }))).toBe("beta");
  });
});

describe("the list of models", () => {
  const idsFor = async (key: string | null, query = "") => {
    const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.base}/models${query}`, { headers });
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id).sort();
  };
  const EVERYTHING = ["acme/gift:free", "acme/model", "gateway-auto/free", "other/model"];

  test("contains the models that the key may call, and all served models without a key or with an invalid one", async () => {
    await start({ account: { policy: { deniedProviders: ["beta"] }, keyModels: ["*/model"] } });
    expect(await idsFor(gateway.key)).toEqual(["acme/model"]);
    expect(await idsFor(null)).toEqual(EVERYTHING);
    for (const key of ["gw_wrong", gateway.adminKey, "x".repeat(60)])
      expect(await idsFor(key)).toEqual(EVERYTHING);
    expect((await idsFor(gateway.key, "?all=true")).length).toBeGreaterThan(100);
  });

  test("omits models that the gateway's policy denies for every caller", async () => {
    await start({ policy: '{denied_models: ["other/*"]}' });
    expect(await idsFor(null)).toEqual(["acme/gift:free", "acme/model", "gateway-auto/free"]);
    expect(await idsFor(gateway.key)).toEqual(["acme/gift:free", "acme/model", "gateway-auto/free"]);
  });

  test("has the prices of the providers that the policy allows", async () => {
    await start({ account: { policy: { allowedProviders: ["alpha"] } } });
    const priceFor = async (key: string | null) => {
      const headers: Record<string, string> = key === null ? {} : { "x-api-key": key };
      const response = await fetch(`${gateway.base}/models`, { headers });
      const { data } = (await response.json()) as { data: { id: string; pricing: { prompt: string } }[] };
      return data.find(({ id }) => id === "acme/model")?.pricing.prompt;
    };
    expect([await priceFor(null), await priceFor(gateway.key)]).toEqual(["0.000002", "0"]);
  });
});

test("a turn under zero retention is neither stored in the conversation store nor completed from it", async () => {
  await start({ alpha: "zero_retention: true\n    format: anthropic-messages" });
  first.reset(() =>
    Response.json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "up",
      content: [
        { type: "thinking", thinking: "secret thought", signature: "c2lnbmF0dXJl" },
        { type: "tool_use", id: "call_1", name: "f", input: {} },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  );
  const question = { role: "user", content: "Go." };
  const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
  const answered = [
    question,
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "done" },
  ];
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const turn = (messages: unknown[], zdr: boolean) =>
    ask({ more: { messages, tools, reasoning: { effort: "low" }, provider: { zdr } } });
  /**
   * Returns whether the second turn gets the reasoning of the first, with and without zero retention of each
   * turn.
   */
  const isRestored = async (before: boolean, after: boolean) => {
    await turn([question], before);
    await turn(answered, after);
    return first.last().text.includes("secret thought");
  };
  expect(await isRestored(true, true)).toBe(false);
  expect(await isRestored(true, false)).toBe(false);
  expect(await isRestored(false, true)).toBe(false);
  // A Redis that is slow for a moment may lose a turn.
  await eventually("the reasoning is restored without zero retention", () => isRestored(false, false));
});
