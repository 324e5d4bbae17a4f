import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiAnswer,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";
import { documentOf, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let gateway: TestGateway;
let vendor: Vendor;
let create: AccountTools;

beforeAll(async () => {
  vendor = startVendor((call) =>
    call.body["model"] === "broken" ? call.respond(500, "{}") : call.respond(200, documentOf("Hello")),
  );
  gateway = await startTestGateway({
    yaml: `
named_routes:
  from-file: {kind: alias, target: acme/one}
tiers:
  - id: gateway-auto/fixed
    name: Fixed
    rule: {by: balance, paid: {models: [acme/two]}, else: {models: [acme/two]}}
providers:
  acme:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-acme-0123456789]
    models: [{id: acme/one}, {id: acme/two}, {id: acme/broken}]
  cheap:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-cheap-0123456789]
    models: [{id: twice/model, prices: {prompt: "0.000001", completion: "0.000001"}}, {id: twice/other, prices: {prompt: "0.000001", completion: "0.000001"}}]
  dear:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-dear-01234567890]
    models: [{id: twice/model, prices: {prompt: "0.000002", completion: "0.000002"}}, {id: twice/other, prices: {prompt: "0.000002", completion: "0.000002"}}]
  mistral: {base_url: "${vendor.baseUrl}", api_keys: [sk-code-0123456789], models: [{id: mistralai/code}]}
`,
  });
  create = createAccountTools(gateway);
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));
afterEach(async () => {
  for (const { name, source } of (await admin("GET", "/named-routes")).rows)
    if (source === "database") await admin("DELETE", `/named-routes/${encodeURIComponent(String(name))}`);
});

function admin(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  return callAdmin(gateway, gateway.adminKey, method, path, body);
}

const putAlias = (name: string, target: string, more: Record<string, unknown> = {}): Promise<ApiAnswer> =>
  admin("PUT", `/named-routes/${encodeURIComponent(name)}`, { kind: "alias", target, ...more });

const messages = [{ role: "user", content: "Hi" }];

async function ask(model: string, key = gateway.key, more: Record<string, unknown> = {}) {
  const response = await postChat({ ...gateway, key }, { model, messages, ...more });
  const body = (await response.json()) as { model?: string; error?: { message: string } };
  return {
    status: response.status,
    answered: body.model,
    message: body.error?.message ?? "",
    generation: response.headers.get("x-gateway-generation-id"),
  };
}

async function listIds(key?: string): Promise<Map<string, Record<string, unknown>>> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.base}/models`, { headers });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return new Map(data.map((model) => [model.id, model]));
}

async function explain(model: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const response = await fetch(`${gateway.base}/route/explain`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model, messages, ...more }),
  });
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

/** Returns the providers that a request would try, in any order. */
async function providersOf(model: string): Promise<readonly string[]> {
  const { candidates: plan } = (await explain(model)) as {
    candidates: readonly { readonly provider: string }[];
  };
  return [...new Set(plan.map(({ provider }) => provider))].sort();
}

describe("a name with a *", () => {
  test("stands for all names that match it, and the * of its target for the rest", async () => {
    await putAlias("one-*", "acme/one");
    await putAlias("acme-*", "acme/*");
    expect((await ask("one-of-many")).answered).toBe("acme/one");
    expect((await ask("ACME-TWO")).answered).toBe("acme/two");
    const { status, message } = await ask("acme-three");
    expect([status, message]).toEqual([400, expect.stringContaining("acme/three")]);
    expect([...(await listIds()).keys()].filter((id) => id.includes("*"))).toEqual([]);
  });

  test("gives way to a name without one, to a longer one, and to a model that it does not replace", async () => {
    await putAlias("*", "acme/one");
    await putAlias("gpt-*", "acme/two");
    await putAlias("gpt-4o", "twice/model");
    expect((await ask("gpt-4o")).answered).toBe("twice/model");
    expect((await ask("gpt-5")).answered).toBe("acme/two");
    expect((await ask("anything")).answered).toBe("acme/one");
    expect((await ask("twice/other")).answered).toBe("twice/other");
    await putAlias("twice/*", "acme/*", { replaces_model: true, provider: "acme" });
    expect((await ask("twice/one")).answered).toBe("acme/one");
    expect((await ask("twice/other")).status).toBe(400);
  });

  test("keeps the sorting suffix of the requested name apart from the rest", async () => {
    await putAlias("t-*", "twice/*");
    expect((await ask("t-model:floor")).answered).toBe("twice/model");
  });

  test("that leads to itself ends there, with an error that names the model", async () => {
    await putAlias("gpt-*", "gpt-*");
    const { status, message } = await ask("gpt-9");
    expect([status, message]).toEqual([400, expect.stringContaining('"gpt-9"')]);
  });

  test("is opened by a list of allowed models that has it, and by no other pattern", async () => {
    await putAlias("one-*", "acme/one");
    const key = await create.key(await create.user("Ada"), { models: ["one-*"] });
    expect((await ask("one-a", key)).answered).toBe("acme/one");
    expect((await ask("acme/one", key)).status).toBe(403);
  });

  test("has at most one *", async () => {
    expect((await putAlias("a-*-b-*", "acme/one")).status).toBe(400);
  });
});

describe("an alias", () => {
  test("is answered by its model at once, is listed as a model, explained, recorded and audited", async () => {
    const { status, data } = await putAlias("GPT-4o", "acme/one");
    expect(status).toBe(200);
    expect(data).toMatchObject({
      name: "gpt-4o",
      account_id: null,
      definition: { kind: "alias", target: "acme/one" },
      source: "database",
      version: expect.any(Number),
      is_used: true,
      resolves_to: ["acme/one"],
      unknown_models: [],
    });
    const { answered, generation } = await ask("gpt-4o");
    expect(answered).toBe("acme/one");
    expect((await ask("GPT-4O")).answered).toBe("acme/one");
    const step = {
      name: "gpt-4o",
      kind: "alias",
      version: expect.any(Number),
      scope: "gateway",
      to: "acme/one",
    };
    expect(await explain("gpt-4o")).toMatchObject({ requested_model: "gpt-4o", named_routes: [step] });
    const record = await eventually("the record is saved", async () => {
      const answer = await admin("GET", `/generations/${generation}`);
      return answer.status === 200 ? answer.data : null;
    });
    expect(record).toMatchObject({ requested_model: "gpt-4o", model: "acme/one", named_routes: [step] });
    const models = await listIds();
    expect(models.get("gpt-4o")).toMatchObject({ alias_of: "acme/one", object: "model" });
    const one = await fetch(`${gateway.base}/models/gpt-4o`);
    expect(await one.json()).toMatchObject({ id: "gpt-4o", alias_of: "acme/one" });
    const { rows } = await admin("GET", "/audit?limit=1");
    expect(rows[0]).toMatchObject({
      action: "PUT /api/admin/named-routes/:name",
      target: "gpt-4o",
      changes: { before: null, after: { target: "acme/one" } },
    });
  });

  test("of an alias of a tier is answered by the tier's model, and both steps are explained", async () => {
    await putAlias("b", "gateway-auto/fixed");
    await putAlias("a", "b");
    expect((await ask("a")).answered).toBe("acme/two");
    expect((await explain("a"))["named_routes"]).toMatchObject([
      { name: "a", to: "b" },
      { name: "b", to: "gateway-auto/fixed" },
    ]);
    expect((await listIds()).get("a")).toMatchObject({ alias_of: "gateway-auto/fixed" });
  });

  test("with a provider is answered by that provider only, also under its own name of the model", async () => {
    await putAlias("at-dear", "twice/model", { provider: "dear" });
    await putAlias("by-name", "model", { provider: "dear" });
    expect(await providersOf("twice/model")).toEqual(["cheap", "dear"]);
    expect(await providersOf("at-dear")).toEqual(["dear"]);
    expect(await providersOf("by-name")).toEqual(["dear"]);
    expect((await ask("at-dear")).answered).toBe("twice/model");
    expect((await listIds()).get("at-dear")).toMatchObject({
      alias_of: "twice/model",
      pricing: { prompt: "0.000002" },
    });
    await putAlias("elsewhere", "twice/model", { provider: "acme" });
    const { status, message } = await ask("elsewhere");
    expect([status, message]).toEqual([400, expect.stringContaining('"acme" only')]);
  });

  test("of the configuration file is in force and can only be changed there", async () => {
    expect((await ask("from-file")).answered).toBe("acme/one");
    const { status, body } = await putAlias("from-file", "acme/two");
    expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining("gateway.yaml:3")]);
    expect((await admin("GET", "/named-routes/from-file")).data).toMatchObject({ source: "file", line: 3 });
  });

  test("with the id of a model is used only if it is to replace the model", async () => {
    expect((await putAlias("acme/one", "acme/two")).data).toMatchObject({ is_used: false });
    expect((await ask("acme/one")).answered).toBe("acme/one");
    expect((await listIds()).get("acme/one")).not.toHaveProperty("alias_of");
    expect((await putAlias("acme/one", "acme/two", { replaces_model: true })).data).toMatchObject({
      is_used: true,
    });
    expect((await ask("acme/one")).answered).toBe("acme/two");
    const response = await fetch(`${gateway.base}/models`);
    const { data } = (await response.json()) as { data: { id: string; alias_of?: string }[] };
    const listed = data.filter(({ id }) => id === "acme/one");
    expect(listed.map(({ alias_of }) => alias_of)).toEqual(["acme/two"]);
  });

  test("is used for fallback models, in Responses, Messages, fill in the middle and embeddings", async () => {
    await putAlias("one", "acme/one");
    await putAlias("code", "mistralai/code");
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return [response.headers.get("x-gateway-model"), await response.text()];
    };
    expect(await post("/api/gateway/responses", { model: "one", input: "Hi" })).toEqual([
      "acme/one",
      expect.stringContaining("acme/one"),
    ]);
    const { [0]: byMessages } = await post("/api/gateway/messages", {
      model: "one",
      max_tokens: 9,
      messages,
    });
    expect(byMessages).toBe("acme/one");
    const { [0]: byFim } = await post("/api/fim/completions", { model: "code", prompt: "a" });
    expect(byFim).toBe("mistralai/code");
    expect(await post("/api/fim/completions", { model: "one", prompt: "a" })).toEqual([
      null,
      expect.stringContaining('begin with \\"mistralai/\\"'),
    ]);
    expect(await post("/api/gateway/embeddings", { model: "one", input: "a" })).toEqual([
      null,
      expect.stringContaining('\\"acme/one\\" is a model for conversations'),
    ]);
    expect((await explain("one"))["candidates"]).toHaveLength(1);
    const counted = await post("/api/gateway/messages/count_tokens", { model: "one", messages });
    expect(counted[1]).toContain("input_tokens");
  });

  test("that leads nowhere is a 400 that names what is missing, and its view lists it", async () => {
    const { data } = await putAlias("lost", "acme/none");
    expect(data).toMatchObject({ resolves_to: [], unknown_models: ["acme/none"] });
    expect(await ask("lost")).toMatchObject({
      status: 400,
      message: expect.stringContaining('There is no model "acme/none"'),
    });
    expect((await listIds()).has("lost")).toBe(false);
  });

  test("has versions, of which an earlier one can be restored", async () => {
    await putAlias("a", "acme/one");
    await putAlias("a", "acme/two");
    expect((await ask("a")).answered).toBe("acme/two");
    const { rows } = await admin("GET", "/named-routes/a/versions");
    expect(rows.slice(0, 2)).toMatchObject([
      { definition: { target: "acme/two" } },
      { definition: { target: "acme/one" } },
    ]);
    const [second, first] = rows.map((row) => Number(row["version"])) as [number, number];
    expect(second).toBe(first + 1);
    expect((await admin("POST", "/named-routes/a/restore", { version: first })).data).toMatchObject({
      version: second + 1,
      definition: { target: "acme/one" },
    });
    expect((await ask("a")).answered).toBe("acme/one");
    expect((await admin("POST", "/named-routes/a/restore", { version: 999 })).status).toBe(404);
  });

  test("is gone as soon as it is deleted", async () => {
    await putAlias("a", "acme/one");
    expect((await admin("DELETE", "/named-routes/a")).data).toMatchObject({ name: "a", deleted: true });
    expect((await ask("a")).status).toBe(400);
    expect((await admin("DELETE", "/named-routes/a")).status).toBe(404);
  });

  test.each([
    [
      "a name that a tier may have",
      "gateway-auto/x",
      { kind: "alias", target: "acme/one" },
      "these are tiers",
    ],
    ["a name of a free model", "x:free", { kind: "alias", target: "acme/one" }, "these are free models"],
    ["a name with two spaces", "a  b", { kind: "alias", target: "acme/one" }, "two consecutive"],
    ["a name with a comma", "a,b", { kind: "alias", target: "acme/one" }, "must consist of"],
    ["an unknown kind", "x", { kind: "weather" }, "kind"],
    ["an alias without a target", "x", { kind: "alias" }, "target"],
    ["an unknown field", "x", { kind: "alias", target: "acme/one", colour: "red" }, "colour"],
    ["an alias of itself", "x", { kind: "alias", target: "X" }, "lead in a circle: x → X"],
  ])("rejects %s", async (_name, name, body, words) => {
    const answer = await admin("PUT", `/named-routes/${encodeURIComponent(name)}`, body);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining(words)]);
  });

  test("that would close a circle or make a chain too long is rejected, and what was before stays", async () => {
    await putAlias("a", "b");
    await putAlias("b", "c");
    expect(JSON.stringify((await putAlias("c", "a")).body)).toContain("lead in a circle: c → a → b → c");
    for (const [name, target] of [
      ["c", "d"],
      ["d", "e"],
      ["e", "acme/one"],
    ] as const)
      expect((await putAlias(name, target)).status).toBe(200);
    expect((await ask("a")).answered).toBe("acme/one");
    const { status, body } = await putAlias("e", "from-file");
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("more than 5 steps")]);
    expect((await ask("a")).answered).toBe("acme/one");
  });
});

describe("a suffix", () => {
  const reasonsOf = async (model: string, more: Record<string, unknown> = {}) => {
    const { candidates } = (await explain(model, more)) as {
      candidates: { model: string; provider: string; reason: string }[];
    };
    return candidates.map(({ model, provider, reason }) => `${model} ${provider} ${reason}`);
  };

  test.each([
    ["twice/model:nitro", "throughput"],
    ["twice/model:floor", "price"],
    ["Twice/Model:NITRO", "throughput"],
  ])("sorts the providers of a model: %s by %s", async (model, reason) => {
    expect(await reasonsOf(model)).toEqual([`twice/model cheap ${reason}`, `twice/model dear ${reason}`]);
    expect(await ask(model)).toMatchObject({ status: 200, answered: "twice/model" });
  });

  test("is kept in the requested model of the explanation", async () => {
    expect((await explain("twice/model:nitro"))["requested_model"]).toBe("twice/model:nitro");
  });

  test("applies to the model that it is written at, and gives way to provider.sort", async () => {
    const models = ["twice/other"];
    expect(await reasonsOf("twice/model:nitro", { models })).toEqual([
      "twice/model cheap throughput",
      "twice/model dear throughput",
      "twice/other cheap price",
      "twice/other dear price",
    ]);
    expect((await reasonsOf("twice/model:floor", { provider: { sort: "latency" } }))[0]).toBe(
      "twice/model cheap latency",
    );
  });

  test("of an alias's target applies, unless the request has one", async () => {
    await putAlias("fast", "twice/model:nitro");
    expect((await reasonsOf("fast"))[0]).toBe("twice/model cheap throughput");
    expect((await reasonsOf("fast:floor"))[0]).toBe("twice/model cheap price");
    expect((await ask("gateway-auto/fixed:nitro")).answered).toBe("acme/two");
  });

  test("that is unknown is a part of the id", async () => {
    expect((await ask("acme/one:turbo")).message).toContain('There is no model "acme/one:turbo"');
    expect((await ask("acme/none:nitro")).message).toContain('There is no model "acme/none"');
    expect(JSON.stringify((await putAlias("x:nitro", "acme/one")).body)).toContain("must not end in :nitro");
  });
});

describe("a group", () => {
  test("may have one model at several providers, each with its share", async () => {
    const targets = [
      { model: "twice/model", provider: "cheap", weight: 1 },
      { model: "twice/model", provider: "dear", weight: 3 },
    ];
    await admin("PUT", "/named-routes/both", { kind: "group", sticky: "request", targets });
    const first = { cheap: 0, dear: 0 };
    for (let at = 0; at < 200; at++) {
      const { candidates: plan } = (await explain("both")) as {
        candidates: readonly { readonly provider: "cheap" | "dear" }[];
      };
      expect(plan.map(({ provider }) => provider).sort()).toEqual(["cheap", "dear"]);
      first[plan[0]?.provider ?? "cheap"]++;
    }
    // The probability of a share outside these bounds is below one in a million.
    expect(first.dear).toBeWithin(115, 185);
    expect(first.cheap).toBe(200 - first.dear);
    expect((await listIds()).get("both")).toMatchObject({
      resolves_to: [
        { when: "weight 3 of 4", models: ["twice/model"] },
        { when: "weight 1 of 4", models: ["twice/model"] },
      ],
    });
  });

  const putGroup = (weights: Record<string, number>, more: Record<string, unknown> = {}) =>
    admin("PUT", "/named-routes/mix", {
      kind: "group",
      targets: Object.entries(weights).map(([model, weight]) => ({ model, weight })),
      ...more,
    });
  /** The targets that each of some sessions gets. */
  const drawMany = async (count: number, more: (at: number) => object) => {
    const drawn: string[] = [];
    for (let at = 0; at < count; at++) {
      const { named_routes } = (await explain("mix", { ...more(at) })) as { named_routes: { to: string }[] };
      drawn.push(named_routes[0]?.to as string);
    }
    return drawn;
  };

  test("is answered by the target that its session draws, is explained, recorded and listed", async () => {
    await putGroup({ "acme/one": 3, "acme/two": 1 });
    const draw = { by: "session", order: expect.any(Array) };
    const explained = await explain("mix", { session_id: "s" });
    expect(explained).toMatchObject({
      requested_model: "mix",
      named_routes: [{ name: "mix", kind: "group", version: expect.any(Number), draw }],
      candidates: [{}, {}],
    });
    const { to } = (explained["named_routes"] as { to: string }[])[0] as { to: string };
    const { answered, generation } = await ask("mix", gateway.key, { session_id: "s" });
    expect(answered).toBe(to);
    const record = await eventually("the record is saved", async () => {
      const answer = await admin("GET", `/generations/${generation}`);
      return answer.status === 200 ? answer.data : null;
    });
    expect(record["named_routes"]).toEqual([
      { name: "mix", kind: "group", version: expect.any(Number), scope: "gateway", to },
    ]);
    expect((await listIds()).get("mix")).toMatchObject({
      name: "mix",
      resolves_to: [
        { when: "weight 3 of 4", models: ["acme/one"] },
        { when: "weight 1 of 4", models: ["acme/two"] },
      ],
    });
  });

  test("gives a session one target, different sessions different ones, and follows its weights at once", async () => {
    await putGroup({ "acme/one": 1, "acme/two": 1 });
    expect(new Set(await drawMany(5, () => ({ session_id: "one session" }))).size).toBe(1);
    expect(new Set(await drawMany(40, (at) => ({ session_id: `s${at}` }))).size).toBe(2);
    await putGroup({ "acme/one": 0, "acme/two": 1 });
    expect(new Set(await drawMany(10, (at) => ({ session_id: `s${at}` })))).toEqual(new Set(["acme/two"]));
  });

  test("draws for each request if it is not sticky", async () => {
    await putGroup({ "acme/one": 1, "acme/two": 1 }, { sticky: "request" });
    expect(new Set(await drawMany(40, () => ({ session_id: "one session" }))).size).toBe(2);
  });

  test("falls over to the other targets if one fails, is not served, or is not allowed", async () => {
    await putGroup({ "acme/broken": 1, "acme/one": 0 });
    expect(await ask("mix")).toMatchObject({ status: 200, answered: "acme/one" });
    await putGroup({ "acme/none": 1, "acme/one": 0 });
    expect(await ask("mix")).toMatchObject({ status: 200, answered: "acme/one" });
    await putGroup({ "acme/none": 1 });
    expect(await ask("mix")).toMatchObject({ status: 400, message: expect.stringContaining("acme/none") });
  });

  test("may replace a model and lead to it, as for a trial of another one", async () => {
    await putGroup({ "acme/one": 1 });
    const path = "/named-routes/acme%2Fone";
    const targets = [
      { model: "acme/one", weight: 0 },
      { model: "acme/two", weight: 1 },
    ];
    expect((await admin("PUT", path, { kind: "group", targets, replaces_model: true })).status).toBe(200);
    expect((await ask("acme/one")).answered).toBe("acme/two");
    expect((await ask("mix")).answered).toBe("acme/two");
  });

  test.each([
    ["no targets", [], "targets"],
    ["no weight above 0", [{ model: "acme/one", weight: 0 }], "must have a weight above 0"],
    [
      "a model twice",
      [
        { model: "a", weight: 1 },
        { model: "A", weight: 1 },
      ],
      "must not list a model twice",
    ],
    ["a negative weight", [{ model: "a", weight: -1 }], "weight"],
    [
      "itself as a target",
      [
        { model: "acme/one", weight: 1 },
        { model: "mix", weight: 1 },
      ],
      "lead in a circle",
    ],
  ])("is rejected with %s", async (_name, targets, words) => {
    const answer = await admin("PUT", "/named-routes/mix", { kind: "group", targets });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining(words)]);
  });
});

describe("an alias of an account", () => {
  test("is used by its keys only, precedes the operator's, and is managed by its owners", async () => {
    const user = await create.user("Ada");
    const organization = await create.organization(user);
    const key = await create.key(organization);
    const managing = await create.key(organization, { kind: "management" });
    await admin("POST", `/accounts/${organization}/credits`, { amount: 1 });
    await putAlias("a", "acme/one");
    const own = (method: string, path: string, body?: unknown) =>
      callAdmin(gateway, managing, method, path, body);
    const { status, data } = await own("PUT", "/named-routes/a", { kind: "alias", target: "acme/two" });
    expect([status, data]).toMatchObject([200, { account_id: organization, resolves_to: ["acme/two"] }]);
    expect((await ask("a", key)).answered).toBe("acme/two");
    expect((await ask("a")).answered).toBe("acme/one");
    expect((await listIds(key)).get("a")).toMatchObject({ alias_of: "acme/two" });
    expect((await listIds(gateway.key)).get("a")).toMatchObject({ alias_of: "acme/one" });
    expect((await own("GET", "/named-routes")).rows).toHaveLength(1);
    const ofOperator = await admin("GET", `/named-routes?account_id=${organization}`);
    expect(ofOperator.rows).toMatchObject([{ name: "a", account_id: organization }]);
    expect((await own("GET", `/named-routes?account_id=${user}`)).status).toBe(404);
    // It may lead on to the operator's route with its name, and back is no circle.
    expect((await own("PUT", "/named-routes/a", { kind: "alias", target: "a" })).status).toBe(200);
    expect((await ask("a", key)).answered).toBe("acme/one");
    await own("DELETE", "/named-routes/a");
    expect((await ask("a", key)).answered).toBe("acme/one");
  });

  test("cannot replace a model", async () => {
    const user = await create.user("Eve");
    const key = await create.key(user);
    await admin("POST", `/accounts/${user}/credits`, { amount: 1 });
    const put = (more: object) =>
      admin("PUT", `/named-routes/acme%2Fone?account_id=${user}`, {
        kind: "alias",
        target: "acme/two",
        ...more,
      });
    expect((await put({ replaces_model: true })).status).toBe(400);
    expect((await put({})).data).toMatchObject({ is_used: false });
    expect((await ask("acme/one", key)).answered).toBe("acme/one");
  });
});

describe("a preset", () => {
  let user: string;
  let key: string;
  beforeAll(async () => {
    user = await create.user("Pat");
    key = await create.key(user);
    await admin("POST", `/accounts/${user}/credits`, { amount: 1 });
  });
  const putPreset = (name: string, preset: object) =>
    admin("PUT", `/named-routes/${encodeURIComponent(name)}?account_id=${user}`, {
      kind: "preset",
      ...preset,
    });
  const lastBody = () => vendor.calls.at(-1)?.body;

  test.each(["@review", "@preset/review", "@PRESET/Review"])(
    "named as model, %s, gives its settings",
    async (model) => {
      await putPreset("@review", {
        model: "acme/one",
        system: "Be brief.",
        parameters: { temperature: 0.2, max_tokens: 50 },
      });
      const { answered, generation } = await ask(model, key, { max_tokens: 7 });
      expect(answered).toBe("acme/one");
      expect(lastBody()).toMatchObject({
        model: "one",
        temperature: 0.2,
        max_tokens: 7,
        messages: [{ role: "system", content: "Be brief." }, ...messages],
      });
      expect(lastBody()).not.toHaveProperty("preset");
      const record = await eventually("the record is saved", async () => {
        const answer = await admin("GET", `/generations/${generation}`);
        return answer.status === 200 ? answer.data : null;
      });
      expect(record).toMatchObject({
        requested_model: "@review",
        named_routes: [{ name: "@review", kind: "preset", scope: "account", to: "acme/one" }],
      });
    },
  );

  test("beside a model gives the other settings, in `preset` and behind the model", async () => {
    await putPreset("@review", { model: "acme/one", parameters: { seed: 5 } });
    for (const name of ["review", "@review"]) {
      expect((await ask("acme/two", key, { preset: name })).answered).toBe("acme/two");
      expect(lastBody()).toMatchObject({ model: "two", seed: 5 });
      expect(lastBody()).not.toHaveProperty("preset");
    }
    expect((await ask("acme/two@preset/review", key)).answered).toBe("acme/two");
    expect(lastBody()).toMatchObject({ model: "two", seed: 5 });
  });

  test.each([{ model: "@review" }, { model: "acme/one", preset: "review" }])(
    "is applied once to a response that is kept and continued: %p",
    async (named) => {
      await putPreset("@review", {
        model: "acme/one",
        system: "Be brief.",
        parameters: { temperature: 0.5 },
      });
      const respond = async (body: object) => {
        const response = await fetch(`${gateway.base}/responses`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ ...named, store: true, ...body }),
        });
        return ((await response.json()) as { readonly id: string }).id;
      };
      const first = await respond({ input: "One" });
      const second = await respond({ input: "Two", previous_response_id: first });
      const sent = lastBody()?.["messages"] as { readonly role: string; readonly content: unknown }[];
      expect(sent.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
      expect([sent[0]?.content, lastBody()?.["temperature"]]).toEqual(["Be brief.", 0.5]);
      const record = await eventually("the record is saved", async () => {
        const answer = await admin("GET", `/generations/${second}`);
        return answer.status === 200 ? answer.data : null;
      });
      expect(record).toMatchObject({ named_routes: [{ name: "@review", kind: "preset", to: "acme/one" }] });
    },
  );

  test("may lead to other named routes and is explained with all steps", async () => {
    await putAlias("a", "acme/two");
    await putPreset("@review", { model: "a", provider: { sort: "latency" } });
    const response = await fetch(`${gateway.base}/route/explain`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "@review", messages }),
    });
    const { data } = (await response.json()) as { data: unknown };
    expect(data).toMatchObject({
      requested_model: "@review",
      named_routes: [
        { name: "@review", to: "a" },
        { name: "a", to: "acme/two" },
      ],
    });
  });

  test("is applied in Responses, Messages and token counts", async () => {
    await putPreset("@review", { model: "acme/one", system: "Be brief.", parameters: { top_p: 0.5 } });
    const post = async (path: string, body: object) => {
      const response = await fetch(`${gateway.base}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "@review", ...body }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const system = { role: "system", content: "Be brief." };
    expect((await post("responses", { input: "Hi" })).status).toBe(200);
    expect(lastBody()).toMatchObject({ top_p: 0.5, messages: [system, {}] });
    expect((await post("messages", { max_tokens: 9, messages })).status).toBe(200);
    expect(lastBody()).toMatchObject({ top_p: 0.5, messages: [system, {}] });
    const counted = await post("messages/count_tokens", { messages });
    const without = await post("messages/count_tokens", { model: "acme/one", messages });
    expect(Number(counted.body["input_tokens"])).toBeGreaterThan(Number(without.body["input_tokens"]));
  });

  test("can only be used by keys of its account, and names in errors are those of the request", async () => {
    await putPreset("@review", { model: "acme/one" });
    expect(await ask("@review")).toMatchObject({
      status: 400,
      message: expect.stringContaining('has no preset "@review"'),
    });
    expect((await ask("@none", key)).status).toBe(400);
    await putPreset("@bare", { parameters: { seed: 1 } });
    expect((await ask("@bare", key)).message).toContain("must name a model beside the preset");
    expect((await ask("@review", key, { preset: "bare" })).message).toContain("must not stand beside");
    expect((await ask("acme/one", key, { preset: 5 })).message).toContain("preset must be the name");
    expect((await ask("acme/one", key, { models: ["@review"] })).message).toContain('no model "@review"');
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "@review", messages }),
    });
    expect(response.status).toBe(401);
    expect((await listIds(key)).has("@review")).toBe(false);
  });

  test("is denied by a policy that denies its model", async () => {
    await putPreset("@review", { model: "acme/one" });
    await admin("PATCH", `/users/${user}`, { policy: { denied_models: ["acme/one"] } });
    expect((await ask("@review", key)).status).toBe(403);
    await admin("PATCH", `/users/${user}`, { policy: {} });
  });

  test.each([
    ["a name without @", "review", { model: "acme/one" }, "must be @ and a name"],
    ["a parameter out of range", "@r", { parameters: { temperature: 3 } }, "temperature"],
    ["an unknown member of provider", "@r", { provider: { colour: "red" } }, "colour"],
    ["a preset as its model", "@r", { model: "@other" }, "must not be a preset"],
  ])("is rejected with %s", async (_name, name, preset, words) => {
    const answer = await putPreset(name, preset);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining(words)]);
  });

  test("of the operator for all accounts is rejected", async () => {
    const { status, body } = await admin("PUT", "/named-routes/%40r", { kind: "preset", model: "acme/one" });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("belongs to an account")]);
  });
});

describe("POST /api/admin/route/explain with a route that is not stored", () => {
  const explainTried = (named_route: object, more: object = {}, key = gateway.adminKey) =>
    callAdmin(gateway, key, "POST", "/route/explain", { named_route, request: { messages }, ...more });

  test("explains an alias, group or preset as if it were stored, and stores nothing", async () => {
    const alias = { name: "tried", definition: { kind: "alias", target: "acme/two" } };
    expect((await explainTried(alias)).data).toMatchObject({
      requested_model: "tried",
      named_routes: [{ name: "tried", version: null, scope: "gateway", to: "acme/two" }],
      candidates: [{ model: "acme/two" }],
    });
    const preset = { name: "@tried", definition: { kind: "preset", model: "acme/one" } };
    expect((await explainTried(preset)).data).toMatchObject({
      requested_model: "@tried",
      named_routes: [{ name: "@tried", scope: "account", to: "acme/one" }],
    });
    expect((await ask("tried")).status).toBe(400);
    expect((await explainTried({ ...alias, name: "@x" })).status).toBe(400);
  });

  test("explains it as a route of the account to those who manage an account", async () => {
    const owner = await create.user("Uma");
    const organization = await create.organization(owner);
    const managing = await create.key(organization, { kind: "management", user_id: owner });
    const tried = { name: "tried", definition: { kind: "alias", target: "acme/two" } };
    expect((await explainTried(tried, {}, managing)).data).toMatchObject({
      named_routes: [{ name: "tried", scope: "account" }],
    });
  });
});

describe("a policy", () => {
  test("applies its allowed models to the target, and its denied models to the alias and the target", async () => {
    await putAlias("a", "acme/one");
    const user = await create.user("Bob");
    await admin("POST", `/accounts/${user}/credits`, { amount: 1 });
    const key = await create.key(user);
    const restrict = (policy: object) => admin("PATCH", `/users/${user}`, { policy });
    await restrict({ allowed_models: ["acme/one"] });
    expect((await ask("a", key)).answered).toBe("acme/one");
    await restrict({ allowed_models: ["acme/two"] });
    expect(await ask("a", key)).toMatchObject({
      status: 403,
      message: expect.stringContaining('"a" resolves to'),
    });
    expect((await listIds(key)).has("a")).toBe(false);
    await restrict({ allowed_models: null, denied_models: ["a"] });
    expect(await ask("a", key)).toMatchObject({
      status: 403,
      message: expect.stringContaining('allow \\"a\\"'.replaceAll("\\", "")),
    });
    expect((await ask("acme/one", key)).status).toBe(200);
    expect((await listIds(key)).has("a")).toBe(false);
    expect((await ask("a", key, { models: ["acme/two"] })).answered).toBe("acme/two");
    await restrict({ denied_models: ["acme/one"] });
    expect((await ask("a", key)).status).toBe(403);
  });
});

test("an answer that is given again to equal requests ends with the version of the alias and preset behind it", async () => {
  const user = await create.user("Kim");
  await admin("POST", `/accounts/${user}/credits`, { amount: 1 });
  const key = await create.key(user, { cache: 600 });
  const put = (name: string, definition: object) =>
    admin("PUT", `/named-routes/${encodeURIComponent(name)}?account_id=${user}`, definition);
  await put("mine", { kind: "alias", target: "acme/one" });
  await put("@mine", { kind: "preset", model: "acme/one" });
  for (const model of ["mine", "@mine"]) {
    const first = await ask(model, key);
    const calls = vendor.calls.length;
    expect((await ask(model, key)).answered).toBe("acme/one");
    expect([first.answered, vendor.calls.length]).toEqual(["acme/one", calls]);
  }
  await put("mine", { kind: "alias", target: "acme/two" });
  await put("@mine", { kind: "preset", model: "acme/two" });
  expect([(await ask("mine", key)).answered, (await ask("@mine", key)).answered]).toEqual([
    "acme/two",
    "acme/two",
  ]);
});

test("a request without a key may use an alias of a free model, and not one of a paid model", async () => {
  const free = await startTestGateway({
    yaml: `
sandbox: "on"
named_routes:
  free-echo: {kind: alias, target: "sandbox/echo:free"}
  paid-echo: {kind: alias, target: sandbox/echo}`,
  });
  const post = async (model: string) =>
    (
      await fetch(`${free.base}/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model, messages }),
      })
    ).status;
  expect(await post("free-echo")).toBe(200);
  expect(await post("paid-echo")).toBe(401);
  await free.stop();
});

test("stored routes are in force after a restart", async () => {
  const first = await startTestGateway({ yaml: "" });
  const body = { kind: "alias", target: "sandbox/echo" };
  await callAdmin(first, first.adminKey, "PUT", "/named-routes/ours", body);
  await first.stop({ keepData: true });
  const second = await startTestGateway({ dataDir: first.dataDir, key: first.key });
  expect((await postChat(second, { model: "ours", messages })).status).toBe(200);
  await second.stop();
});
