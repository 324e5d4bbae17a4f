import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, findLedgerProblems, manage } from "../../support/money.ts";
import { scrape } from "../../support/servers/scrape.ts";
import { createTestClock } from "../../support/test-clock.ts";
import {
  chunkOf,
  documentOf,
  healthy,
  opening,
  type Play,
  startVendor,
  type Vendor,
} from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let other: Vendor;
let gateway: TestGateway;
const clock = createTestClock();
let accounts = 0;
let account: string;
let key: string;

beforeAll(async () => {
  vendor = startVendor();
  other = startVendor();
  const model = (id: string) =>
    `{id: ${id}, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}`;
  gateway = await startTestGateway({
    clock,
    yaml: `
limits: {repeats: 0}
providers:
  two-keys: {base_url: "${vendor.baseUrl}", api_keys: [key-a, key-b], zero_retention: true, models: [${["acme/first", "acme/blocked", "acme/masked", "acme/answer"].map(model).join(", ")}]}
  other: {base_url: "${other.baseUrl}", api_keys: [key-c], models: [${model("acme/second")}]}
named_routes:
  quick: {kind: alias, target: acme/first}
guardrails:
  - {name: no-tulips, kind: regex, on: request, action: block, patterns: [tulip], models: [acme/blocked]}
  - {name: hide-roses, kind: regex, on: request, action: mask, patterns: [rose], models: [acme/masked]}
  - {name: no-alpha, kind: regex, on: answer, action: block, patterns: [Alpha], models: [acme/answer]}`,
  });
});
beforeEach(async () => {
  // What the tests before have taught about the providers is forgotten.
  clock.leap(3_600_000);
  account = `user_${++accounts}`;
  key = await addAccountWithKey(gateway, { id: account }, { cache: 600 });
  await manage(gateway, `/accounts/${account}/credits`, { amount: 1 });
  vendor.perform(healthy("Alpha"));
  other.perform(healthy("Beta"));
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
  other.stop();
});

interface Asked {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

function ask(model: string, { body = {}, headers = {}, signal }: Asked = {}): Promise<Response> {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

type Details = Readonly<Record<string, unknown>> & {
  readonly explanation: readonly string[];
  readonly plan: readonly Readonly<Record<string, unknown>>[];
  readonly attempts: readonly Readonly<Record<string, unknown>>[];
};

const idOf = (response: Response) => response.headers.get("x-gateway-generation-id") as string;

async function detailsOf(id: string): Promise<Details> {
  const { body } = await manage(gateway, `/generations/${id}`);
  return body["data"] as Details;
}

/** Asks, reads the whole answer, and returns the details of the generation. */
async function askFor(...request: Parameters<typeof ask>): Promise<Details> {
  const response = await ask(...request);
  await response.text();
  return detailsOf(idOf(response));
}

/** A vendor that rejects the first call with a status. */
const failingOnce = (status: number): Play => {
  const then = healthy("Alpha");
  return (call) =>
    vendor.calls.length === 1
      ? call.respond(status, { error: { message: "Come back later.", code: "busy" } })
      : then(call);
};

const messages = (content: string) => ({ messages: [{ role: "user", content }] });

describe("the details of a generation", () => {
  test("name the key that failed and the key that answered", async () => {
    vendor.perform(failingOnce(503));
    const details = await askFor("acme/first");
    expect(details["outcome"]).toBe("completed");
    // Either key may come first.
    const [failed, answered] = vendor.calls.map(({ head }) => (head.includes("key-a") ? 1 : 2));
    expect(details.attempts).toMatchObject([
      {
        provider_name: "two-keys",
        model: "acme/first",
        key: `two-keys#${(failed ?? 0) - 1}`,
        key_number: failed,
        result: "failed",
        upstream_status: 503,
        upstream_code: "busy",
      },
      { key: `two-keys#${(answered ?? 0) - 1}`, key_number: answered, result: "answered", error_type: null },
    ]);
    expect(details.plan).toMatchObject([
      { provider_name: "two-keys", key_number: failed, result: "failed" },
      { provider_name: "two-keys", key_number: answered, result: "answered" },
    ]);
    expect(details.explanation).toEqual([
      `Key ${failed} of two-keys failed with 503: "Come back later."`,
      `Key ${answered} of two-keys answered.`,
      "The answer is complete.",
    ]);
  });

  test("do not name the keys of the operator to the caller", async () => {
    vendor.perform(failingOnce(503));
    const response = await ask("acme/first");
    await response.text();
    const found = await fetch(`${gateway.base}/generation?id=${idOf(response)}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { data } = (await found.json()) as { data: Details };
    expect(data.attempts).toMatchObject([
      { key: null, key_number: expect.any(Number), result: "failed" },
      { key: null, key_number: expect.any(Number), result: "answered" },
    ]);
    expect(JSON.stringify(data)).not.toContain("two-keys#");
  });

  test("say which models the client listed, and why the first did not answer", async () => {
    vendor.perform((call) => call.respond(500, { error: { message: "Out of order." } }));
    const details = await askFor("acme/first", { body: { models: ["acme/second"] } });
    expect(details).toMatchObject({
      requested_model: "acme/first",
      fallback_models: ["acme/second"],
      model: "acme/second",
      provider_name: "other",
    });
    expect(details.plan.map(({ model, result }) => [model, result])).toEqual([
      ["acme/first", "failed"],
      ["acme/first", "not_called"],
      ["acme/second", "answered"],
    ]);
    expect(details.explanation).toEqual([
      "The client asked for acme/first, or else acme/second.",
      expect.stringMatching(/^Key [12] of two-keys \(acme\/first\) failed with 500: "Out of order\."$/),
      "other (acme/second) answered.",
      "The answer is complete.",
    ]);
  });

  test("say why a model that the client listed was not called", async () => {
    const body = { models: ["acme/first"], provider: { zdr: true } };
    const details = await askFor("acme/second", { body });
    expect(details["model"]).toBe("acme/first");
    expect(details.explanation).toContain(
      "acme/second was not called (other: not known to have zero data retention).",
    );
  });

  test("name the route that led to a model", async () => {
    const details = await askFor("quick");
    expect(details.explanation[0]).toBe("The named route quick led to acme/first.");
  });

  test("link a cached answer to the generation that produced it, with what it saved", async () => {
    const first = await askFor("acme/first");
    const second = await askFor("acme/first");
    expect(second).toMatchObject({
      outcome: "cached",
      replay_of: first["id"],
      replay_by: "answer_cache",
      replay_saved_nanodollars: first["total_cost_nanodollars"],
      total_cost: 0,
      attempts: [],
    });
    expect(second.explanation).toEqual([
      `The answer cache returned the answer of ${first["id"]} without calling a provider, which saved $0.00006.`,
    ]);
  });

  test("link the repetition of an Idempotency-Key to the generation that produced its answer", async () => {
    const headers = { "idempotency-key": "once", "cache-control": "no-store" };
    const first = await askFor("acme/first", { headers });
    const second = await askFor("acme/first", { headers });
    expect(second).toMatchObject({
      outcome: "cached",
      replay_of: first["id"],
      replay_by: "idempotency_key",
      replay_saved_nanodollars: first["total_cost_nanodollars"],
    });
    expect(second.explanation[0]).toStartWith(
      `The request repeats an Idempotency-Key and got the answer of ${first["id"]}`,
    );
  });

  test("say which guardrail blocked a request, and the message that its client got", async () => {
    const response = await ask("acme/blocked", { body: messages("A tulip.") });
    const { error } = (await response.json()) as { error: { message: string } };
    const details = await detailsOf(idOf(response));
    expect(details).toMatchObject({
      outcome: "failed",
      status: 403,
      error_type: "content_blocked",
      error_message: error.message,
      guardrails: [{ name: "no-tulips", action: "block", on: "request" }],
      attempts: [],
    });
    expect(details.explanation).toEqual([
      'The guardrail "no-tulips" blocked the request.',
      `The request failed with 403 content_blocked, before a provider was called: ${error.message}`,
    ]);
  });

  test("say which guardrail masked a request or blocked its answer, also in a stream", async () => {
    const masked = await askFor("acme/masked", { body: messages("A rose.") });
    expect(masked).toMatchObject({
      outcome: "completed",
      guardrails: [{ name: "hide-roses", action: "mask", on: "request" }],
    });
    for (const stream of [false, true]) {
      const blocked = await askFor("acme/answer", { body: { stream } });
      expect(blocked).toMatchObject({
        outcome: "failed",
        error_type: "content_blocked",
        guardrails: [{ name: "no-alpha", action: "block", on: "answer" }],
      });
      expect(blocked.explanation).toContain('The guardrail "no-alpha" blocked the answer.');
    }
  });

  test("say nothing that quotes a request under zero data retention", async () => {
    const body = { ...messages("A tulip."), provider: { zdr: true } };
    const details = await askFor("acme/blocked", { body });
    expect(details).toMatchObject({
      error_type: "content_blocked",
      error_message: null,
      guardrails: [{ name: "no-tulips", action: "block", on: "request" }],
    });
    expect(details.explanation.at(-1)).toBe(
      "The request failed with 403 content_blocked, before a provider was called.",
    );
  });

  test("say what the client was told when every provider failed", async () => {
    vendor.perform((call) => call.respond(500, { error: { message: "Out of order." } }));
    const response = await ask("acme/first");
    const { error } = (await response.json()) as { error: { message: string } };
    const details = await detailsOf(idOf(response));
    expect(details).toMatchObject({ outcome: "failed", error_message: error.message });
    expect(details.explanation).toEqual([
      expect.stringMatching(/^Key [12] of two-keys failed with 500: "Out of order\."$/),
      expect.stringMatching(/^Key [12] of two-keys failed with 500: "Out of order\."$/),
      `The request failed with ${response.status} ${details["error_type"]}: ${error.message}`,
    ]);
  });

  test("say that an answer broke off", async () => {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      call.connection.end();
    });
    const details = await askFor("acme/first", { body: { stream: true } });
    expect(details.attempts).toMatchObject([{ result: "failed", upstream_status: 200 }]);
    expect(details.explanation[0]).toMatch(/^Key [12] of two-keys broke off its answer/);
    expect(details.explanation.at(-1)).toStartWith("The answer failed with upstream_error: ");
  });

  test("say when the client left", async () => {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
    });
    const controller = new AbortController();
    const response = await ask("acme/first", { body: { stream: true }, signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    const details = await eventually("the end of the generation", async () => {
      const found = await detailsOf(idOf(response));
      return found["outcome"] === "open" ? null : found;
    });
    expect(details["outcome"]).toBe("cancelled");
    expect(details.explanation).toEqual([
      expect.stringMatching(/^Key [12] of two-keys answered\.$/),
      "The client left 0 ms after the request.",
    ]);
  });

  test("say that the answer had no content where another candidate was asked", async () => {
    vendor.perform((call) => call.respond(200, documentOf("")));
    const details = await askFor("acme/first", { body: { models: ["acme/second"] } });
    expect(details.attempts.map(({ result }) => result)).toContain("empty");
    expect(details.explanation.join(" ")).toContain("(acme/first) answered without content.");
  });
});

describe("repeated answers and clients", () => {
  test("are filters of the list, dimensions of usage, and a metric", async () => {
    const headers = { "user-agent": "claude-cli/2.0.14 (external, cli)" };
    const first = await askFor("acme/first", { headers });
    await askFor("acme/first", { headers });
    await askFor("acme/second", { headers: { "user-agent": "curl/8.5.0" } });
    const list = async (filter: string) => {
      const { body } = await manage(gateway, `/generations?account_id=${account}&${filter}`);
      return (body["data"] as Record<string, unknown>[]).map(
        ({ requested_model, outcome, client, client_version }) =>
          [requested_model, outcome, client, client_version].join(" "),
      );
    };
    expect(await list("outcome=cached")).toEqual(["acme/first cached claude-code 2.0.14"]);
    expect(await list("outcome=completed")).toHaveLength(2);
    expect(await list("client=curl")).toEqual(["acme/second completed curl 8.5.0"]);
    expect(await list("client=claude-code&client_version=2.0.14")).toHaveLength(2);
    expect(await list("client=claude-code&client_version=2.0.13")).toEqual([]);
    const { status } = await manage(gateway, "/generations?client=unheard-of");
    expect(status).toBe(400);
    const usage = async (query: string) => {
      const { body } = await manage(gateway, `/usage?account_id=${account}&${query}`);
      return body["data"] as Record<string, unknown>[];
    };
    const byClient = await usage("group_by=client");
    expect(byClient.map(({ client, requests }) => [client, requests]).sort()).toEqual([
      ["claude-code", 2],
      ["curl", 1],
    ]);
    const saved = first["total_cost_nanodollars"];
    expect(await usage("group_by=outcome&client=claude-code")).toMatchObject([
      { outcome: "completed", requests: 1, answers_saved_nanodollars: 0 },
      { outcome: "cached", requests: 1, cost: 0, answers_saved_nanodollars: saved },
    ]);
    const rejected = await manage(gateway, "/usage?group_by=client&tag=a");
    expect(rejected.status).toBe(400);
    expect(rejected.body["error"]).toMatchObject({ metadata: { field: "group_by" } });
    const metrics = await scrape(gateway);
    expect(metrics.value("gateway_requests_total", { outcome: "cached" })).toBeGreaterThan(0);
    expect(
      metrics.value("gateway_answers_saved_usd_total", { api: "chat.completions", feature: "answer_cache" }),
    ).toBeGreaterThan(0);
  });

  test("keep the message of a failed request with its warnings", async () => {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"), chunkOf({}, "stop"));
      await call.end();
    });
    const details = await askFor("acme/first", { body: { stream: true } });
    expect(details).toMatchObject({ outcome: "completed", error_message: null, error_field: null });
  });
});
