import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type AskableApi, CLIENT_APIS } from "../../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createAccountTools } from "../../support/gateway/management.ts";
import { addAccountWithKey, manage } from "../../support/money.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import {
  answerHello,
  type RecordingVendor,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";

const [CHAT, RESPONSES, MESSAGES, EMBEDDINGS, FIM] = CLIENT_APIS as readonly [
  AskableApi,
  AskableApi,
  AskableApi,
  AskableApi,
  AskableApi,
];
const APIS = [CHAT, RESPONSES, MESSAGES];

const OPUS = "anthropic/claude-opus-4.8";
const SONNET = "anthropic/claude-sonnet-5";
const FREE_SMALL = "openai/gpt-oss-20b:free";
const FREE = [FREE_SMALL, "acme/one:free", "acme/two:free", "acme/three:free"];

let vendor: RecordingVendor;
/** A gateway with keys of the vendors in the shipped tiers, and a host of free models. */
let gateway: TestGateway;
let unpaid: string;
let paid: string;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    environment: keysOf("ANTHROPIC", "OPENAI", "DASHSCOPE"),
    yaml: `
server: { header_aliases: { x-other-mode: x-gateway-mode } }
tiers:
  - id: gateway-auto/mine
    name: Mine
    rule:
      by: header
      header: x-team
      cases: [{ values: [Search], pick: { models: [acme/nowhere, openai/gpt-5.1], reasoning: low, verbosity: high } }]
      else: { models: [acme/plain, openai/gpt-5.1], reasoning: high, verbosity: low }
providers:
  gifts:
    base_url: ${vendor.baseUrl}
    models: [${["acme/plain", ...FREE].map((id) => `{ id: "${id}", prices: { prompt: "0", completion: "0" } }`).join(", ")}]
`,
  });
  unpaid = await addAccountWithKey(gateway, { id: "user_unpaid" });
  paid = await addAccountWithKey(gateway, { id: "user_paid" });
  await manage(gateway, "/accounts/user_paid/credits", { amount: "5" });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));
beforeEach(() => vendor.reset(answerAnyFormat));

/** Returns variables that give the gateway keys of vendors, all of which are the simulated vendor. */
function keysOf(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`${name}_API_KEY`, `sk-test-${name.toLowerCase()}-0001`],
      [`${name}_BASE_URL`, vendor.baseUrl],
    ]),
  );
}

interface Asking {
  readonly api?: AskableApi;
  readonly headers?: Readonly<Record<string, string>>;
  readonly more?: Readonly<Record<string, unknown>>;
  /** `null` sends no key. */
  readonly key?: string | null;
  readonly at?: TestGateway;
}

function ask(model: string, { api = CHAT, headers = {}, more, key, at = gateway }: Asking = {}) {
  const base = api === FIM ? `${at.url}/api` : at.base;
  const secret = key === undefined ? at.key : key;
  return fetch(`${base}${api.path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...headers,
    },
    body: JSON.stringify(api.body(model, more)),
  });
}

const modelOf = (response: Response) => response.headers.get("x-gateway-model");
const sent = (): Record<string, unknown> => JSON.parse(vendor.last().text);

async function errorOf(response: Response) {
  const { error } = (await response.json()) as {
    error: { type: string; message: string; metadata?: Record<string, unknown> };
  };
  return { status: response.status, type: error.type, message: error.message, metadata: error.metadata };
}

describe("the tier frontier, which picks by the client's mode,", () => {
  const TOP = ["plan", "general", "architect", "orchestrator", "ask", "debug", "PLAN", " Debug "];
  const MID = ["build", "explore", "code", "", "something-else"];
  const rows = APIS.flatMap((api) => [
    ...TOP.map((mode) => ({ api, name: api.name, mode, model: OPUS, upstream: "claude-opus-4-8" })),
    ...MID.map((mode) => ({ api, name: api.name, mode, model: SONNET, upstream: "claude-sonnet-5" })),
  ]);

  test.each(rows)(
    "resolves in $name with the mode '$mode' to $model",
    async ({ api, mode, model, upstream }) => {
      const headers: Record<string, string> = mode === "" ? {} : { "x-gateway-mode": mode };
      const response = await ask("gateway-auto/frontier", { api, headers });
      expect(response.status).toBe(200);
      expect(modelOf(response)).toBe(model);
      expect(((await response.json()) as { model: string }).model).toBe(model);
      expect(sent()).toMatchObject({
        model: upstream,
        thinking: { type: "adaptive" },
        output_config: { effort: "medium" },
      });
    },
  );

  test("ignores the letter case of its id, and reads the mode from a header alias", async () => {
    const headers = { "x-other-mode": "plan" };
    expect(modelOf(await ask("Gateway-Auto/FRONTIER", { headers }))).toBe(OPUS);
  });
});

describe("the tier balanced, which picks by client API,", () => {
  test("resolves in chat completions to a general reasoning model", async () => {
    const response = await ask("gateway-auto/balanced", { headers: { "x-gateway-mode": "plan" } });
    expect([response.status, modelOf(response)]).toEqual([200, "qwen/qwen3.7-plus"]);
  });

  test("resolves in Responses to a model of OpenAI with low effort", async () => {
    const response = await ask("gateway-auto/balanced", { api: RESPONSES });
    expect([response.status, modelOf(response)]).toEqual([200, "openai/gpt-5.4"]);
    expect(sent()).toMatchObject({ model: "gpt-5.4", reasoning: { effort: "low" } });
  });

  test("resolves in Messages to a model of Anthropic with low effort", async () => {
    const response = await ask("gateway-auto/balanced", { api: MESSAGES });
    expect([response.status, modelOf(response)]).toEqual([200, SONNET]);
    expect(sent()).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "low" } });
  });
});

describe("the tier small, which picks by balance,", () => {
  test.each(APIS)(
    "resolves in $name to a paid model if the account has credits, and to a free model otherwise",
    async (api) => {
      const small = async (key: string | null) => modelOf(await ask("gateway-auto/small", { api, key }));
      expect(await small(paid)).toBe("openai/gpt-5.4-nano");
      // The operator account has no limit.
      expect(await small(gateway.key)).toBe("openai/gpt-5.4-nano");
      expect(await small(unpaid)).toBe(FREE_SMALL);
      expect(await small(null)).toBe(FREE_SMALL);
    },
  );

  test("does not set reasoning", async () => {
    await ask("gateway-auto/small", { api: RESPONSES });
    expect(sent()).not.toHaveProperty("reasoning");
  });

  test("resolves to a paid model as soon as credits are added", async () => {
    const key = await addAccountWithKey(gateway, { id: "user_comes" });
    expect(modelOf(await ask("gateway-auto/small", { key }))).toBe(FREE_SMALL);
    await manage(gateway, "/accounts/user_comes/credits", { amount: "1" });
    expect(modelOf(await ask("gateway-auto/small", { key }))).toBe("openai/gpt-5.4-nano");
  });
});

describe("the tier free, which picks by session,", () => {
  const pick = async (session: string, more: Asking = {}) =>
    modelOf(await ask("gateway-auto/free", { ...more, headers: { "x-session-id": session } })) as string;

  test.each(APIS)(
    "resolves in $name to the same free model for each turn, and to different models for different sessions",
    async (api) => {
      const sessions = Array.from({ length: 12 }, (_, index) => `session-${index}`);
      const picks = await Promise.all(sessions.map((session) => pick(session, { api })));
      expect(await Promise.all(sessions.map((session) => pick(session, { api })))).toEqual(picks);
      for (const model of picks) expect(FREE).toContain(model);
      expect(new Set(picks).size).toBeGreaterThan(1);
    },
  );

  test("resolves to the same model in every client API", async () => {
    const picks = await Promise.all(APIS.map((api) => pick("one", { api })));
    expect(new Set(picks).size).toBe(1);
  });

  test("costs nothing, even for an account without credits", async () => {
    const response = await ask("gateway-auto/free", { key: unpaid });
    expect(await response.json()).toMatchObject({ usage: { cost: 0 } });
  });

  test("needs no key, and counts towards the rate limit of the client address", async () => {
    const response = await ask("gateway-auto/free", { key: null });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ratelimit-limit-requests")).toBe("200");
  });

  test("fails over to the next free model if the pick fails before its first token", async () => {
    const first = await pick("failing");
    const upstream = first.slice(first.indexOf("/") + 1).replace(":free", "");
    vendor.reset((request) =>
      request.text.includes(`"${upstream}"`) ? new Response("", { status: 503 }) : answerHello(request),
    );
    const second = await ask("gateway-auto/free", { headers: { "x-session-id": "failing" } });
    expect([second.status, second.headers.get("x-gateway-attempts")]).toEqual([200, "2"]);
    expect(FREE.filter((id) => id !== first)).toContain(modelOf(second) as string);
  });

  test("is rejected if the request denies data collection and no free provider is known not to train", async () => {
    const refused = await ask("gateway-auto/free", { more: { provider: { data_collection: "deny" } } });
    expect(await errorOf(refused)).toMatchObject({
      status: 400,
      type: "invalid_request",
      metadata: { field: "provider.data_collection" },
    });
  });
});

describe("a tier with paid models, requested without a key,", () => {
  test.each(["gateway-auto/frontier", "gateway-auto/balanced"])(
    "is rejected with 401 like a paid model: %s",
    async (id) => {
      const error = await errorOf(await ask(id, { key: null }));
      expect(error).toMatchObject({ status: 401, type: "authentication" });
      expect(error.message).toContain(`"${id}"`);
    },
  );
});

describe("an id that is not a served model", () => {
  test.each([EMBEDDINGS, FIM])("is rejected with invalid_model if it is a tier in $name", async (api) => {
    const error = api.readError(await (await ask("gateway-auto/frontier", { api })).json());
    expect(error.type).toBe("invalid_model");
  });

  test("is rejected like an unknown model if it is an unknown tier", async () => {
    expect(await errorOf(await ask("gateway-auto/none"))).toMatchObject({
      status: 400,
      type: "invalid_model",
    });
  });
});

describe("a tier that the operator configured", () => {
  test("picks by its own header, and overrides the client's reasoning effort and verbosity", async () => {
    const more = {
      reasoning_effort: "high",
      reasoning: { effort: "high" },
      verbosity: "low",
      seed: 7,
    };
    const response = await ask("gateway-auto/mine", { headers: { "x-team": "search" }, more });
    expect(modelOf(response)).toBe("openai/gpt-5.1");
    expect(sent()).toMatchObject({ reasoning_effort: "low", verbosity: "high", seed: 7 });
    expect(sent()).not.toHaveProperty("reasoning");
  });

  test.each(APIS)(
    "drops its overrides in $name for a model that supports neither, without a warning if the client asked for none",
    async (api) => {
      const response = await ask("gateway-auto/mine", { api });
      expect(modelOf(response)).toBe("acme/plain");
      const body = sent();
      for (const field of ["reasoning_effort", "reasoning", "verbosity"])
        expect(body).not.toHaveProperty(field);
      expect(await response.text()).not.toContain("verbosity");
    },
  );

  test.each([
    [CHAT, { verbosity: "high" }],
    [RESPONSES, { text: { verbosity: "high" } }],
  ])("warns in $name that a verbosity is not sent, if the client asked for one", async (api, more) => {
    const response = await ask("gateway-auto/mine", { api, more });
    expect(sent()).not.toHaveProperty("verbosity");
    expect(await response.json()).toMatchObject({
      gateway_metadata: { warnings: [{ field: "verbosity", message: expect.stringContaining('"low"') }] },
    });
  });
});

describe("a tier and fallback models", () => {
  test("are tried in this order if the tier is a fallback", async () => {
    vendor.reset((request) =>
      request.text.includes('"plain"') ? new Response("", { status: 503 }) : answerAnyFormat(request),
    );
    const response = await ask("acme/plain", { more: { models: ["gateway-auto/balanced"] } });
    expect([response.status, modelOf(response)]).toEqual([200, "qwen/qwen3.7-plus"]);
  });

  test("are tried in this order if the tier is the requested model, after the tier's own models", async () => {
    vendor.reset((request) =>
      request.path.endsWith("/messages") ? new Response("", { status: 503 }) : answerAnyFormat(request),
    );
    const response = await ask("gateway-auto/frontier", { more: { models: ["acme/plain"] } });
    expect([response.status, modelOf(response)]).toEqual([200, "openai/gpt-5.4"]);
    expect(sent()).toMatchObject({ reasoning_effort: "medium", verbosity: "medium" });
  });
});

test("a generation record has the tier as the requested model, and the model that answered", async () => {
  const response = await ask("gateway-auto/frontier");
  const id = response.headers.get("x-gateway-generation-id");
  const headers = { authorization: `Bearer ${gateway.key}` };
  const { data } = (await (await fetch(`${gateway.base}/generation?id=${id}`, { headers })).json()) as {
    data: Record<string, unknown>;
  };
  expect(data).toMatchObject({ requested_model: "gateway-auto/frontier", model: SONNET });
  expect(data["total_cost"]).toBeGreaterThan(0);
});

test("tokens are counted by the model that the tier resolves to", async () => {
  const response = await fetch(`${gateway.base}/messages/count_tokens`, {
    method: "POST",
    headers: { "x-api-key": gateway.key, "content-type": "application/json", "x-gateway-mode": "plan" },
    body: JSON.stringify({ model: "gateway-auto/frontier", messages: [{ role: "user", content: "Hello!" }] }),
  });
  expect(await response.json()).toEqual({ input_tokens: 7 });
  expect(sent()["model"]).toBe("claude-opus-4-8");
});

describe("parameter overrides of a tier", () => {
  test("replace `thinking` in Messages, and keep other parameters", async () => {
    const more = {
      thinking: { type: "enabled", budget_tokens: 9_000 },
      output_config: { effort: "max" },
      max_tokens: 20_000,
      top_k: 5,
    };
    await ask("gateway-auto/balanced", { api: MESSAGES, more });
    expect(sent()).toMatchObject({
      max_tokens: 20_000,
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
    });
  });

  test("do not turn on thinking if a tool call is forced", async () => {
    const tools = [{ name: "f", input_schema: { type: "object" } }];
    const more = { tools, tool_choice: { type: "tool", name: "f" } };
    expect((await ask("gateway-auto/frontier", { api: MESSAGES, more })).status).toBe(200);
    expect(sent()["thinking"]).not.toMatchObject({ type: "adaptive" });
  });

  test("replace the reasoning effort in Responses, and keep other parameters", async () => {
    const more = {
      reasoning: { effort: "high", summary: "detailed" },
      text: { verbosity: "low", format: { type: "json_object" } },
    };
    await ask("gateway-auto/balanced", { api: RESPONSES, more });
    expect(sent()).toMatchObject({
      reasoning: { effort: "low", summary: "detailed" },
      text: { verbosity: "low", format: { type: "json_object" } },
    });
  });
});

describe("a parameter that the resolved model does not support", () => {
  test.each([
    [RESPONSES, "gateway-auto/balanced", "openai/gpt-5.4"],
    [MESSAGES, "gateway-auto/balanced", SONNET],
  ])("is dropped with a warning in $name", async (api, tier, model) => {
    const response = await ask(tier, { api, more: { temperature: 0.2, top_p: 0.9 } });
    expect([response.status, modelOf(response)]).toEqual([200, model]);
    expect(sent()).not.toContainAnyKeys(["temperature", "top_p"]);
    expect(await response.text()).toContain("it was left out");
  });

  test("is kept if the resolved model supports it", async () => {
    expect(modelOf(await ask("gateway-auto/balanced", { more: { temperature: 0.2 } }))).toBe(
      "qwen/qwen3.7-plus",
    );
    expect(sent()).toMatchObject({ temperature: 0.2 });
    // It takes a temperature while it does not reason, as by default.
    expect(modelOf(await ask("gateway-auto/small", { more: { temperature: 0.2 } }))).toBe(
      "openai/gpt-5.4-nano",
    );
    expect(sent()).toMatchObject({ temperature: 0.2 });
  });
});

describe("a tier at a gateway with other provider keys", () => {
  let other: TestGateway | null = null;
  afterEach(async () => {
    await other?.stop();
    other = null;
  });
  const start = async (environment: Record<string, string>, yaml = "") =>
    (other = await startTestGateway({ environment, yaml }));

  test("resolves to Gemini models, with Gemini's parameters", async () => {
    const at = await start(keysOf("GEMINI"));
    const asking = { at, headers: { "x-gateway-mode": "ask" }, more: { verbosity: "high" } };
    const response = await ask("gateway-auto/frontier", asking);
    expect(modelOf(response)).toBe("google/gemini-3.1-pro-preview");
    expect(sent()).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: "MEDIUM" } } });
    expect(await response.json()).toMatchObject({ gateway_metadata: { warnings: [{ field: "verbosity" }] } });
    expect(modelOf(await ask("gateway-auto/balanced", { at }))).toBe("google/gemini-3.5-flash");
    expect(sent()).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: "MEDIUM" } },
    });
  });

  test("resolves to OpenAI models, with effort and verbosity also next to tools", async () => {
    const at = await start(keysOf("OPENAI"));
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const response = await ask("gateway-auto/frontier", { at, more: { tools } });
    expect(modelOf(response)).toBe("openai/gpt-5.4");
    expect(vendor.last().path).toEndWith("/responses");
    expect(sent()).toMatchObject({ reasoning: { effort: "medium" }, text: { verbosity: "medium" } });
    // A model that may answer without reasoning gets an effort. Without tools the client's own format is used.
    await ask("gateway-auto/balanced", { at });
    expect(vendor.last().path).toEndWith("/chat/completions");
    expect(sent()).toMatchObject({ model: "gpt-5.4-mini", reasoning_effort: "medium" });
  });

  test("is rejected by name, with 503 if no free model is available and with 400 if none of its models is served", async () => {
    const at = await start(keysOf("OPENAI"));
    for (const tier of ["gateway-auto/free", "gateway-auto/small"]) {
      const none = await ask(tier, { at, key: null });
      expect(none.headers.get("retry-after")).toBe("60");
      expect(await errorOf(none)).toMatchObject({
        status: 503,
        type: "unavailable",
        message: expect.stringContaining(JSON.stringify(tier)),
      });
    }
    const cellar = `providers: { cellar: { base_url: "${vendor.baseUrl}", models: [{ id: acme/model }] } }`;
    await at.stop();
    expect(await errorOf(await ask("gateway-auto/frontier", { at: await start({}, cellar) }))).toMatchObject({
      status: 400,
      type: "invalid_model",
      message: expect.stringContaining('"gateway-auto/frontier"'),
    });
  });

  test("resolves to the next allowed model under a policy, and is rejected with 403 if there is none", async () => {
    const at = await start(keysOf("ANTHROPIC", "OPENAI"), "policy: { denied_models: [anthropic/*] }");
    const response = await ask("gateway-auto/frontier", { at });
    expect([response.status, modelOf(response)]).toEqual([200, "openai/gpt-5.4"]);
    await at.stop();
    const strict = await start(keysOf("ANTHROPIC", "OPENAI"), "policy: { allowed_models: [google/*] }");
    expect(await errorOf(await ask("gateway-auto/frontier", { at: strict }))).toMatchObject({
      status: 403,
      type: "model_not_allowed",
    });
  });

  test.each<[string, string, string]>([
    ["for models", "{ allowed_models: [google/*] }", "gateway.allowed_models"],
    ["for providers", "{ denied_providers: [anthropic, openai] }", "gateway.denied_providers"],
    ["for data", "{ zero_retention: true }", "gateway.zero_retention"],
  ])(
    "is rejected with 403 by name under a policy %s that allows none of its models",
    async (_what, policy, rule) => {
      const at = await start(keysOf("ANTHROPIC", "OPENAI"), `policy: ${policy}`);
      for (const model of ["gateway-auto/frontier", "gateway-auto/balanced"]) {
        expect(await errorOf(await ask(model, { at }))).toMatchObject({
          status: 403,
          type: "model_not_allowed",
          message: expect.stringContaining(`"${model}"`),
          metadata: { rule, model },
        });
      }
    },
  );

  test("is rejected with 403 by name for an account that uses only its BYOK keys and has none for the tier", async () => {
    const at = await start(keysOf("ANTHROPIC", "OPENAI"));
    const user = await createAccountTools(at).user("Ada", {
      overdraft: null,
      policy: { own_keys_only: true },
    });
    const key = await createAccountTools(at).key(user);
    expect(await errorOf(await ask("gateway-auto/frontier", { at, key }))).toMatchObject({
      status: 403,
      type: "model_not_allowed",
      message: expect.stringContaining('none of them serves "gateway-auto/frontier"'),
    });
    const wanted = await ask("gateway-auto/frontier", { at, more: { provider: { own_keys_only: true } } });
    expect(await errorOf(wanted)).toMatchObject({
      status: 400,
      metadata: { field: "provider.own_keys_only", model: "gateway-auto/frontier" },
    });
  });

  test("that is itself denied by a policy is rejected and not listed", async () => {
    const at = await start(keysOf("ANTHROPIC"), "policy: { denied_models: [gateway-auto/frontier] }");
    expect(await errorOf(await ask("gateway-auto/frontier", { at }))).toMatchObject({
      status: 403,
      metadata: { rule: "gateway.denied_models", model: "gateway-auto/frontier" },
    });
    expect((await ask("gateway-auto/balanced", { at })).status).toBe(200);
    expect((await listTiers(at)).map(({ id }) => id)).not.toContain("gateway-auto/frontier");
  });

  test("counts towards the rate limit of the model that it resolves to", async () => {
    const at = await start(keysOf("ANTHROPIC"), "limits: { per_model: { requests_per_minute: 1 } }");
    expect((await ask(SONNET, { at })).status).toBe(200);
    const refused = await errorOf(await ask("gateway-auto/frontier", { at }));
    expect(refused).toMatchObject({ status: 429, message: expect.stringContaining(`"${SONNET}"`) });
    expect((await ask("gateway-auto/frontier", { at, headers: { "x-gateway-mode": "plan" } })).status).toBe(
      200,
    );
  });

  test("resolves to sandbox models if only the sandbox is configured", async () => {
    const at = await start({});
    const answers = async (key: string | null) => {
      const ids = ["frontier", "balanced", "small", "free"];
      return Promise.all(ids.map(async (id) => modelOf(await ask(`gateway-auto/${id}`, { at, key }))));
    };
    const [echo, free] = ["sandbox/echo", "sandbox/echo:free"];
    expect(await answers(at.key)).toEqual([echo, echo, echo, free]);
    expect(await answers(null)).toEqual([null, null, free, free]);
  });

  test("prefers every other free model to the sandbox's", async () => {
    const cellar = `
sandbox: on
providers: { cellar: { base_url: "${vendor.baseUrl}", models: [{ id: "acme/one:free" }] } }`;
    const at = await start({}, cellar);
    for (const session of ["a", "b", "c", "d", "e", "f"])
      expect(modelOf(await ask("gateway-auto/free", { at, headers: { "x-session-id": session } }))).toBe(
        "acme/one:free",
      );
  });
});

interface ListedTier {
  readonly id: string;
  readonly owned_by: string;
  readonly context_length: number;
  readonly isFree: boolean;
  readonly pricing: { readonly prompt: string; readonly completion: string };
  readonly resolves_to: readonly { readonly when: string; readonly models: readonly string[] }[];
}

async function listTiers(at: TestGateway, query = ""): Promise<ListedTier[]> {
  const { data } = (await (await fetch(`${at.base}/models${query}`)).json()) as { data: ListedTier[] };
  const tiers = data.filter(({ id }) => id.startsWith("gateway-auto/"));
  expect(data.slice(0, tiers.length)).toEqual(tiers);
  return tiers;
}

describe("GET models", () => {
  test("lists tiers first, with the context window and prices of the models they resolve to", async () => {
    const tiers = await listTiers(gateway);
    expect(tiers.map(({ id, isFree }) => [id, isFree])).toEqual([
      ["gateway-auto/frontier", false],
      ["gateway-auto/balanced", false],
      ["gateway-auto/free", true],
      ["gateway-auto/small", false],
      ["gateway-auto/mine", false],
    ]);
    const [frontier, , free, small] = tiers as [ListedTier, ListedTier, ListedTier, ListedTier];
    expect(frontier).toMatchObject({ owned_by: "gateway", context_length: 1_000_000 });
    expect(frontier.pricing).toMatchObject({ prompt: "0.000002", completion: "0.00001" });
    expect(frontier.resolves_to.map(({ models }) => models[0])).toEqual([SONNET, OPUS]);
    expect(free.pricing).toMatchObject({ prompt: "0", completion: "0" });
    expect([...(free.resolves_to[0]?.models ?? [])].sort()).toEqual([...FREE].sort());
    expect(Number(small.pricing.prompt)).toBeGreaterThan(0);
  });

  test("returns a single tier as it is listed, and the model endpoints of its models", async () => {
    const [frontier] = await listTiers(gateway);
    for (const path of ["/models/gateway-auto/frontier", "/models/gateway-auto%2Ffrontier"])
      expect(await (await fetch(gateway.base + path)).json()).toEqual(frontier);
    const { data } = (await (
      await fetch(`${gateway.base}/models/gateway-auto/frontier/endpoints`)
    ).json()) as {
      data: { id: string; endpoints: { model_id: string; tag: string; configured: boolean }[] };
    };
    expect(data.id).toBe("gateway-auto/frontier");
    expect(data.endpoints).toContainEqual(
      expect.objectContaining({ model_id: OPUS, tag: "anthropic", configured: true }),
    );
  });

  test("lists tiers without a served model only with ?all=true", async () => {
    const bare = await startTestGateway({
      yaml: `providers: { cellar: { base_url: "${vendor.baseUrl}", models: [{ id: acme/model }] } }`,
    });
    expect(await listTiers(bare)).toEqual([]);
    expect((await listTiers(bare, "?all=true")).map(({ id }) => id)).toEqual([
      "gateway-auto/frontier",
      "gateway-auto/balanced",
      "gateway-auto/free",
      "gateway-auto/small",
    ]);
    expect((await fetch(`${bare.base}/models/gateway-auto/frontier`)).status).toBe(200);
    await bare.stop();
  });
});
